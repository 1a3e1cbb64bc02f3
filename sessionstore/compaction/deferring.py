"""Why an automatic compaction waits: a cool-down, a context that was just undone, or attempts that saved too little."""
from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from sessionstore.compaction.snapshot import Metering, Snapshot
from sessionstore.domain.closed_sets import Outcome
from sessionstore.domain.plan import CompactionPlan
from sessionstore.domain.policy import CompactionPolicy


@dataclass(frozen=True, slots=True)
class PutOff:
    """An automatic compaction that is not tried now. ``retry_at`` is in seconds since 1970, None when only new work ends it."""

    status: Outcome
    reason: str
    retry_at: float | None = None


def deferral(
    snapshot: Snapshot, metering: Metering, plan: CompactionPlan, policy: CompactionPolicy, *, now: float
) -> PutOff | None:
    """Why it is put off, None when it isn't; what it goes by is in the database, so every process sees the same."""
    lineage, session = snapshot.lineage, snapshot.session
    if lineage.cooldown_until is not None and lineage.cooldown_until > now:
        until = datetime.fromtimestamp(lineage.cooldown_until, UTC).isoformat(timespec="seconds")
        return PutOff("deferred", f"a summariser failed; it is tried again at {until}", lineage.cooldown_until)
    if session.edge == "undo" and session.next_seq == session.start_seq:
        return PutOff("noop", "the last compaction was undone and there is no new message since")
    if lineage.strikes < policy.max_strikes or lineage.strike_seq is None:
        return None
    needed = policy.min_saving * plan.threshold
    strike_seq = lineage.strike_seq
    since = sum(entry.tokens for entry in metering.entries if entry.kind == "message" and entry.seq >= strike_seq)
    if since >= needed:
        return None
    return PutOff(
        "deferred",
        f"{lineage.strikes} attempts in a row saved too little; it is tried again after {needed - since:,.0f} more tokens of "
        "new work, a new session may serve better",
    )
