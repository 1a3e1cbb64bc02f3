"""How an attempt ends: recorded on its job, with what the caller goes on with."""
from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from sessionstore.compaction.claiming import settle
from sessionstore.compaction.deciding import CompactionRequest, Situation
from sessionstore.compaction.drafts import Draft
from sessionstore.compaction.outcome import CompactionOutcome
from sessionstore.domain.closed_sets import Outcome
from sessionstore.domain.messages import Message, decode_body
from sessionstore.domain.records import CompactionRecord, SystemPrompt
from sessionstore.domain.session_ids import session_id
from sessionstore.operations.environment import Environment
from sessionstore.operations.prompting import prompt_of
from sessionstore.operations.reading import lineage_of, session_of
from sessionstore.operations.steps import Steps, call, read, write
from sessionstore.storage.lineage_rows import change_lineage
from sessionstore.storage.locks import lock_lineage
from sessionstore.storage.memory_rows import Memory, store_memories
from sessionstore.storage.message_rows import context_bodies


def end_attempt(
    environment: Environment,
    request: CompactionRequest,
    situation: Situation,
    job: CompactionRecord,
    status: Outcome,
    reason: str,
    *,
    failure: str | None = None,
    vetoed: bool = False,
    retry_at: float | None = None,
    memories: Sequence[Memory] = (),
    is_strike: bool = False,
) -> Steps[CompactionOutcome]:
    """Record an end without a continuation: the context is as it was. A strike is for an attempt that saved too little."""

    def work(connection: Connection) -> None:
        lock_lineage(connection, request.lineage_id)
        session_of(connection, request.lineage_id, request.generation)  # raises for one that was deleted meanwhile
        store_memories(connection, request.lineage_id, memories)
        if is_strike:
            strikes = lineage_of(connection, request.lineage_id).strikes + 1
            change_lineage(
                connection, request.lineage_id, strikes=strikes, strike_seq=situation.snapshot.session.next_seq
            )
        settle(
            connection,
            job,
            status=status,
            reason=reason,
            error=failure,
            tokens_after=situation.plan.tokens_before,
            messages_after=situation.plan.messages_before,
            warnings=situation.warnings,
            now=environment.shared_time(connection),
        )

    yield from write(work)
    return (
        yield from outcome_of(
            request, situation, status, reason, job=job, failure=failure, vetoed=vetoed, retry_at=retry_at
        )
    )


def dry_outcome_of(request: CompactionRequest, situation: Situation) -> Steps[CompactionOutcome]:
    """Say what would be done, when nothing may be."""
    plan = situation.plan
    would = f"dry run: {plan.reason}; a summary could have {plan.summary_budget:,} tokens" if plan.middle else plan.reason
    return (yield from outcome_of(request, situation, "stuck" if plan.outcome == "stuck" else "noop", would))


def outcome_of(
    request: CompactionRequest,
    situation: Situation,
    status: Outcome,
    reason: str,
    *,
    job: CompactionRecord | None = None,
    draft: Draft | None = None,
    opened: int | None = None,
    failure: str | None = None,
    vetoed: bool = False,
    retry_at: float | None = None,
) -> Steps[CompactionOutcome]:
    """Read what the caller goes on with, and say how it ended."""
    generation = opened or request.generation
    bodies, prompt = yield from read(lambda c: _context_and_prompt(c, request.lineage_id, generation))
    messages: list[Message] = yield from call(lambda: [decode_body(body) for body in bodies])
    plan = situation.plan
    return CompactionOutcome(
        status=status,
        reason=reason,
        session_id=session_id(request.lineage_id, request.generation),
        opened_generation=opened,
        continuation_id=None if opened is None else session_id(request.lineage_id, opened),
        job_id=None if job is None else job.job_id,
        messages=messages,
        system_prompt=None if prompt is None else prompt.text,
        tokens_before=plan.tokens_before,
        tokens_after=plan.tokens_before if draft is None else draft.tokens_after,
        messages_before=plan.messages_before,
        messages_after=plan.messages_before if draft is None else len(draft.layout),
        plan=plan,
        summary=None if draft is None else draft.summary,
        ledger=None if draft is None else draft.ledger,
        summarizer=None if draft is None else draft.summarizer,
        degraded=draft is not None and draft.degraded,
        warnings=situation.warnings,
        retry_at=retry_at,
        failure=failure,
        vetoed=vetoed,
    )


def _context_and_prompt(connection: Connection, lineage_id: str, generation: int) -> tuple[list[str], SystemPrompt | None]:
    session = session_of(connection, lineage_id, generation)
    return context_bodies(connection, lineage_id, generation), prompt_of(connection, session)
