"""Claiming a session for a compaction: a job row with a lease, at most one that is live.

```
queued ──claim──▶ running ──▶ committed | noop | deferred | aborted | stuck
   ▲                 │ ╲
   └──── hand back ──┘  ╲──lease ran out──▶ interrupted
```
A claim is a compare-and-set on status and fencing token, and so is every later write of its holder, the commit included.
"""
from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from sessionstore.domain.closed_sets import Trigger
from sessionstore.domain.policy import CompactionPolicy
from sessionstore.domain.records import CompactionRecord, SessionRecord
from sessionstore.errors import CompactionInProgressError, LeaseLostError
from sessionstore.operations.reading import session_of
from sessionstore.storage.compaction_rows import change_compaction, holds_compaction, insert_compaction, live_compaction
from sessionstore.storage.job_rows import highest_fencing_token, last_attempt, start_queued
from sessionstore.storage.ledger_rows import forget_ledger
from sessionstore.storage.locks import lock_lineage

LEASE_SECONDS: Final = 120.0
"""How long a claim holds without a sign of life: a dead worker blocks its session for no longer."""

LONGEST_LEASE: Final = 3_600.0
"""How long a claim holds at most, whatever the signs of life: a worker that hangs gives its session back too."""

BROKE_OFF: Final = "an exception ended the attempt"
"""The reason of an attempt that was aborted by an exception rather than by a decision."""


def claim(
    connection: Connection,
    session: SessionRecord,
    *,
    job_id: str,
    trigger: Trigger,
    policy: CompactionPolicy,
    focus: str | None,
    owner: str,
    now: float,
    lease_seconds: float = LEASE_SECONDS,
) -> CompactionRecord:
    """Begin a job for a session. A queued one is taken over; a live one whose lease has run out is settled as ``interrupted``.

    Raises ``CompactionInProgressError`` while somebody else holds the session.
    """
    lock_lineage(connection, session.lineage_id)
    live = live_compaction(connection, session.lineage_id, session.generation)
    if live is not None and live.status == "queued":
        taken = take_queued(
            connection, live, owner=owner, now=now, lease_seconds=lease_seconds,
            trigger=trigger, policy=policy_json(policy), focus=focus, model=session.model,
        )  # fmt: skip
        if taken is None:
            raise CompactionInProgressError(session.session_id, job_id=live.job_id, lease_owner=None)
        return taken
    if live is not None:
        if live.lease_expires_at is not None and live.lease_expires_at > now:
            raise CompactionInProgressError(session.session_id, job_id=live.job_id, lease_owner=live.lease_owner)
        settle(connection, live, status="interrupted", reason="its lease ran out", now=now)
    record = CompactionRecord(
        lineage_id=session.lineage_id,
        job_id=job_id,
        generation=session.generation,
        trigger=trigger,
        status="running",
        created_at=now,
        started_at=now,
        focus=focus,
        policy=policy_json(policy),
        model=session.model,
        attempts=attempts_so_far(connection, session) + 1,
        lease_owner=owner,
        lease_expires_at=now + lease_seconds,
        fencing_token=highest_fencing_token(connection, session.lineage_id) + 1,
    )
    try:
        insert_compaction(connection, record)
    except IntegrityError as error:
        raise CompactionInProgressError(session.session_id, job_id=job_id, lease_owner=None) from error
    return record


def take_queued(
    connection: Connection,
    job: CompactionRecord,
    *,
    owner: str,
    now: float,
    lease_seconds: float = LEASE_SECONDS,
    **values: Any,
) -> CompactionRecord | None:
    """Claim a job that somebody peeked at in the queue; None when another one was first."""
    return start_queued(
        connection,
        job.lineage_id,
        job.job_id,
        fencing_token=job.fencing_token,
        lease_owner=owner,
        lease_expires_at=now + lease_seconds,
        started_at=now,
        **values,
    )


def hold(connection: Connection, job: CompactionRecord, *, now: float, **values: Any) -> float:
    """Set columns of a job that is still held, and give the time at which it was.

    Raises ``LeaseLostError`` when its lease ran out or another job took over, ``SessionNotFoundError`` when the session was
    deleted.
    """
    if not change_compaction(connection, job.lineage_id, job.job_id, fencing_token=job.fencing_token, held_at=now, **values):
        raise _lost(connection, job)
    return now


def check_held(connection: Connection, job: CompactionRecord, *, now: float) -> None:
    """See to it that a job stays held until the transaction ends. Raises what ``hold`` does."""
    if not holds_compaction(connection, job.lineage_id, job.job_id, fencing_token=job.fencing_token, held_at=now):
        raise _lost(connection, job)


def _lost(connection: Connection, job: CompactionRecord) -> LeaseLostError:
    session_of(connection, job.lineage_id, job.generation)  # raises for a session that is gone, its jobs with it
    return LeaseLostError(job.job_id)


def prolong(connection: Connection, job: CompactionRecord, *, now: float) -> bool:
    """Give a sign of life: the lease holds from now, never longer than ``LONGEST_LEASE`` in all. False when it is lost."""
    end = (job.created_at if job.started_at is None else job.started_at) + LONGEST_LEASE
    return change_compaction(
        connection,
        job.lineage_id,
        job.job_id,
        fencing_token=job.fencing_token,
        held_at=now,
        lease_expires_at=min(now + LEASE_SECONDS, end),
    )


def settle(connection: Connection, job: CompactionRecord, *, status: str, now: float, **values: Any) -> None:
    """Record how an attempt ended that opened nothing; a job that somebody settled already keeps that end.

    Its ledger goes: it can be extracted again, where a model was paid for the summary, which stays for the next attempt.
    """
    settled = change_compaction(
        connection,
        job.lineage_id,
        job.job_id,
        fencing_token=job.fencing_token,
        status=status,
        finished_at=now,
        lease_expires_at=None,
        **values,
    )
    if settled:
        forget_ledger(connection, job.lineage_id, job.job_id)


def attempts_so_far(connection: Connection, session: SessionRecord) -> int:
    """How many attempts in a row broke off before this one."""
    last = last_attempt(connection, session.lineage_id, session.generation, broke_off=BROKE_OFF)
    return last.attempts if last is not None and last.broke_off else 0


def policy_json(policy: CompactionPolicy) -> dict[str, Any]:
    """A policy as it is stored with a job."""
    return {
        name: sorted(value) if isinstance(value, frozenset) else value for name, value in asdict(policy).items()
    }
