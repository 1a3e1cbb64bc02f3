"""The commit of a compaction: one transaction, in which every precondition is checked before the first write."""
from __future__ import annotations

from sqlalchemy import Connection

from sessionstore.compaction.claiming import check_held, hold
from sessionstore.compaction.drafts import Draft
from sessionstore.compaction.snapshot import Snapshot
from sessionstore.domain.closed_sets import TIERS, Tier
from sessionstore.domain.policy import CompactionPolicy
from sessionstore.domain.records import CompactionRecord, SessionRecord
from sessionstore.errors import ConflictError, SessionEndedError
from sessionstore.operations.continuing import Metered, open_generation
from sessionstore.operations.reading import session_of
from sessionstore.storage.ledger_rows import forget_ledger
from sessionstore.storage.lineage_rows import change_lineage
from sessionstore.storage.locks import lock_tip
from sessionstore.storage.memory_rows import Memory, store_memories
from sessionstore.storage.prompt_rows import store_prompt
from sessionstore.storage.token_rows import store_tokens

_OF_A_SUMMARY = ("summary", "summarizer", "prompt_version", "usage")


def commit_draft(
    connection: Connection,
    job: CompactionRecord,
    snapshot: Snapshot,
    draft: Draft,
    *,
    policy: CompactionPolicy,
    memories: tuple[Memory, ...],
    now: float,
) -> SessionRecord:
    """Write the continuation and end its parent.

    Raises, with nothing written: ``LeaseLostError`` when the job is no longer held, ``SessionNotFoundError`` when the session
    was deleted, ``SessionEndedError`` when it ended meanwhile, ``ConflictError`` when pins or settings that the plan depends
    on were changed.
    """
    lock_tip(connection, job.lineage_id)
    check_held(connection, job, now=now)
    parent = session_of(connection, job.lineage_id, job.generation)
    if parent.end_reason is not None:
        raise SessionEndedError(parent.session_id, end_reason=parent.end_reason)
    if parent.plan_revision != snapshot.session.plan_revision:
        raise ConflictError(
            parent.session_id,
            expected=snapshot.session.flush_cursor,
            found=parent.flush_cursor,
            reason=f"pins or settings of session {parent.session_id!r} (its model, window or system prompt) changed while it "
            "was compacted; nothing was written. Compact it again, by what holds now",
        )
    if draft.prompt is not None:
        store_prompt(connection, job.lineage_id, draft.prompt)
    arrived = range(snapshot.session.next_seq, parent.next_seq)
    child = open_generation(
        connection,
        parent,
        edge="compaction",
        spans=draft.spans(first_derived=parent.next_seq, arrived=arrived),
        derived=draft.derived,
        prompt_digest=None if draft.prompt is None else draft.prompt.digest,
        now=now,
        # What arrived meanwhile is counted when somebody asks, so the sum is only stored where it is whole.
        metered=None if arrived else Metered(draft.history_tokens, draft.method),
        warned_tier=_warned_tier(parent, draft, policy),
    )
    store_tokens(
        connection,
        job.lineage_id,
        draft.method,
        {parent.next_seq + position: tokens for position, tokens in enumerate(draft.derived_tokens)},
    )
    store_memories(connection, job.lineage_id, memories)
    change_lineage(connection, job.lineage_id, strikes=0, strike_seq=None, cooldown_until=None)
    finish(connection, job, parent, child, draft, now=now)
    return child


def finish(
    connection: Connection,
    job: CompactionRecord,
    parent: SessionRecord,
    child: SessionRecord,
    draft: Draft,
    *,
    now: float,
) -> None:
    """Record on the job what was committed.

    Its summary was stored with the job before, and beside it the ledger, which grows with the history.
    """
    position = draft.summary_position
    # A job that was handed back with a summary may come to be one that only prunes.
    nothing_written = {} if draft.summary is not None else dict.fromkeys(_OF_A_SUMMARY)
    if draft.summary is None:
        forget_ledger(connection, job.lineage_id, job.job_id)
    hold(
        connection,
        job,
        now=now,
        status="committed",
        reason=draft.plan.reason,
        opened_generation=child.generation,
        tokens_before=draft.tokens_before,
        tokens_after=draft.tokens_after,
        tokens_method=draft.method,
        messages_before=draft.plan.messages_before,
        messages_after=len(draft.layout),
        summary_seq=None if position is None else parent.next_seq + position,
        degraded=draft.degraded,
        warnings=draft.warnings,
        finished_at=now,
        lease_expires_at=None,
        **nothing_written,
    )


def _warned_tier(parent: SessionRecord, draft: Draft, policy: CompactionPolicy) -> Tier:
    """A tier that was warned of stays so unless the new context is really below it."""
    reached = policy.tier(draft.tokens_after, draft.plan.window)
    return min(parent.warned_tier, reached, key=TIERS.index)
