"""The compaction job, told once: claim, load, decide, prune, flush memories, summarise, assemble, check, commit."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection

from sessionstore.compaction.cautions import still_over
from sessionstore.compaction.claiming import BROKE_OFF, LEASE_SECONDS, LONGEST_LEASE, claim, hold, settle
from sessionstore.compaction.committing import commit_draft
from sessionstore.compaction.concluding import dry_outcome_of, end_attempt, outcome_of
from sessionstore.compaction.deciding import AUTOMATIC, CompactionRequest, Situation, decide, planned_columns
from sessionstore.compaction.deferring import deferral
from sessionstore.compaction.drafts import Draft
from sessionstore.compaction.heartbeat import Heartbeat
from sessionstore.compaction.inheriting import inherited_summary
from sessionstore.compaction.narrating import SummaryFailure
from sessionstore.compaction.outcome import CompactionOutcome
from sessionstore.compaction.preparing import flush_memories, pruned_draft, rebuild_prompt, saves_enough, summary_draft
from sessionstore.compaction.summarising import Summarised, degraded_by, facts_of_middle, summarise
from sessionstore.domain.ledger import Ledger
from sessionstore.domain.records import CompactionRecord
from sessionstore.errors import CompactionVetoedError, LittleSavedError, SessionEndedError
from sessionstore.operations.environment import Environment
from sessionstore.operations.reading import lineage_of, session_of
from sessionstore.operations.steps import Steps, call, call_stranger, read, write
from sessionstore.storage.ledger_rows import store_ledger
from sessionstore.storage.lineage_rows import change_lineage
from sessionstore.storage.memory_rows import Memory
from sessionstore.storage.values import to_json

ROOM_RATIO = 0.95
"""Part of the window below which a failed summary is put off rather than replaced: there is still room to go on."""

ECHO = "echo"
"""A failure that asking again does not mend: the model gave its input back."""


def compact_session(environment: Environment, request: CompactionRequest) -> Steps[CompactionOutcome]:
    """Compact a session, or say why not. An exception from any step settles the job at once and goes on to the caller."""
    yield from read(lambda c: _must_be_open(c, request))
    if request.dry_run:
        situation = yield from decide(environment, request)
        return (yield from dry_outcome_of(request, situation))
    job_id = environment.ids()
    job = yield from write(
        lambda c: claim(
            c,
            session_of(c, request.lineage_id, request.generation),
            job_id=job_id,
            trigger=request.trigger,
            policy=request.policy,
            focus=request.focus,
            owner=environment.owner,
            now=environment.shared_time(c),
            lease_seconds=lease_seconds(environment),
        )
    )
    return (yield from run_claimed(environment, request, job))


def run_claimed(
    environment: Environment, request: CompactionRequest, job: CompactionRecord
) -> Steps[CompactionOutcome]:
    """Carry out a job that was claimed, with signs of life; an exception from any step settles it and goes on to the caller."""
    heartbeat = Heartbeat(environment, job)
    heartbeat.start()
    try:
        outcome = yield from _run(environment, request, job)
    except BaseException as error:
        yield from call(heartbeat.stop)
        yield from break_off(environment, job, error)
        raise
    yield from call(heartbeat.stop)
    return outcome


def break_off(environment: Environment, job: CompactionRecord, error: BaseException) -> Steps[None]:
    """Record that an exception ended an attempt."""
    described = type(error).__name__
    return write(lambda c: settle(c, job, status="aborted", reason=BROKE_OFF, error=described, now=environment.shared_time(c)))


def lease_seconds(environment: Environment) -> float:
    """How long a claim holds: where nobody can give signs of life, as long as any may."""
    return LONGEST_LEASE if environment.database.is_in_memory else LEASE_SECONDS


def _must_be_open(connection: Connection, request: CompactionRequest) -> None:
    session = session_of(connection, request.lineage_id, request.generation)
    if session.end_reason is None:
        return
    lineage = lineage_of(connection, request.lineage_id)
    tip = session_of(connection, request.lineage_id, lineage.tip_generation)
    later = tip.generation != session.generation
    raise SessionEndedError(
        session.session_id,
        end_reason=session.end_reason,
        continuation_id=tip.session_id if later else None,
        flush_cursor=tip.flush_cursor if later else None,
    )


def _run(environment: Environment, request: CompactionRequest, job: CompactionRecord) -> Steps[CompactionOutcome]:
    situation = yield from decide(environment, request)
    snapshot, plan = situation.snapshot, situation.plan
    now = yield from write(lambda c: hold(c, job, now=environment.shared_time(c), **planned_columns(situation)))
    if request.trigger in AUTOMATIC and not request.force:
        put_off = deferral(snapshot, situation.metering, plan, request.policy, now=now)
        if put_off is not None:
            return (
                yield from end_attempt(
                    environment, request, situation, job, put_off.status, put_off.reason, retry_at=put_off.retry_at
                )
            )
    if plan.outcome in ("noop", "stuck") and request.policy.summarize:
        return (yield from end_attempt(environment, request, situation, job, plan.outcome, plan.reason))
    hooks = environment.hooks
    try:
        if hooks.before_compact is not None:
            before_compact = hooks.before_compact
            yield from call_stranger(lambda: before_compact(plan))
        flushed = yield from flush_memories(environment, situation)
    except CompactionVetoedError as veto:
        return (yield from end_attempt(environment, request, situation, job, "aborted", veto.reason, vetoed=True))
    memories = flushed.memories
    situation = replace(situation, warnings=(*situation.warnings, *flushed.warnings))
    prompt = yield from rebuild_prompt(environment, situation, memories)
    pruned = yield from call(lambda: pruned_draft(environment, request, situation, prompt))
    if pruned is not None:
        return (yield from _conclude(environment, request, situation, job, pruned, memories))
    ledger = yield from facts_of_middle(snapshot, situation.metering.entries, plan)
    inherited = yield from call(lambda: inherited_summary(snapshot.jobs, job, plan, ledger))
    summarised = inherited or (
        yield from summarise(
            environment,
            snapshot=snapshot,
            entries=situation.metering.entries,
            plan=plan,
            ledger=ledger,
            summarizer=request.summarizer,
            focus=request.focus,
            policy=request.policy,
        )
    )
    if isinstance(summarised, SummaryFailure):
        recovered = yield from _after_failure(environment, request, situation, job, summarised, memories, ledger)
        if isinstance(recovered, CompactionOutcome):
            return recovered
        summarised = recovered
    found = summarised
    situation = replace(situation, warnings=(*situation.warnings, *found.warnings))
    # Stored before the commit, so that the summary is there for whoever takes over from a dead worker.
    text = yield from call(lambda: to_json(found.ledger.to_json()))
    yield from write(lambda c: _keep_summary(c, environment, job, found, text))
    draft = yield from call(lambda: summary_draft(environment, request, situation, prompt, found))
    return (yield from _conclude(environment, request, situation, job, draft, memories))


def _keep_summary(
    connection: Connection, environment: Environment, job: CompactionRecord, found: Summarised, ledger: str
) -> None:
    hold(
        connection,
        job,
        now=environment.shared_time(connection),
        summary=found.text,
        summarizer=found.summarizer,
        prompt_version=found.prompt_version,
        usage=found.usage,
        degraded=found.degraded,
    )
    store_ledger(connection, job.lineage_id, job.job_id, ledger)


def _after_failure(
    environment: Environment,
    request: CompactionRequest,
    situation: Situation,
    job: CompactionRecord,
    failure: SummaryFailure,
    memories: Sequence[Memory],
    ledger: Ledger,
) -> Steps[CompactionOutcome | Summarised]:
    """Put it off while there is room, else go on with the summary that needs no model; abort where the policy says so."""
    policy = request.policy
    reason = f"the summary failed ({failure.kind}): {failure.reason}"
    if policy.on_failure == "abort":
        return (
            yield from end_attempt(
                environment, request, situation, job, "aborted", reason, failure=failure.kind, memories=memories
            )
        )
    if failure.kind != ECHO and situation.plan.tokens_before < ROOM_RATIO * situation.plan.window:
        retry_at = yield from write(lambda c: _begin_cooldown(c, environment, request))
        return (
            yield from end_attempt(
                environment,
                request,
                situation,
                job,
                "deferred",
                reason,
                failure=failure.kind,
                retry_at=retry_at,
                memories=memories,
            )
        )
    fallback = yield from summarise(
        environment,
        snapshot=situation.snapshot,
        entries=situation.metering.entries,
        plan=situation.plan,
        ledger=ledger,
        summarizer=None,
        focus=request.focus,
        policy=request.policy,
    )
    if isinstance(fallback, SummaryFailure):
        return (
            yield from end_attempt(
                environment, request, situation, job, "aborted", reason, failure=failure.kind, memories=memories
            )
        )
    return degraded_by(fallback, failure)


def _begin_cooldown(connection: Connection, environment: Environment, request: CompactionRequest) -> float:
    retry_at = environment.shared_time(connection) + request.policy.cooldown_seconds
    change_lineage(connection, request.lineage_id, cooldown_until=retry_at)
    return retry_at


def _conclude(
    environment: Environment,
    request: CompactionRequest,
    situation: Situation,
    job: CompactionRecord,
    draft: Draft,
    memories: tuple[Memory, ...],
) -> Steps[CompactionOutcome]:
    """Commit the draft if it saves enough, else write nothing but a strike."""
    if not draft.derived:
        reason = "there is nothing to prune"
        return (yield from end_attempt(environment, request, situation, job, "noop", reason, memories=memories))
    if not saves_enough(draft, request.policy):
        saved = draft.tokens_before - draft.tokens_after
        reason = f"it would save {saved:,} of {draft.tokens_before:,} tokens, less than {request.policy.min_saving:.0%}"
        ended = yield from end_attempt(
            environment, request, situation, job, "aborted", reason, memories=memories, is_strike=True
        )
        if request.policy.on_little_saving == "raise":
            raise LittleSavedError(ended.session_id, reason, job_id=job.job_id)
        return ended
    situation = replace(situation, warnings=(*situation.warnings, *still_over(draft)))
    final = replace(draft, warnings=situation.warnings)
    child = yield from write(
        lambda c: commit_draft(
            c, job, situation.snapshot, final, policy=request.policy, memories=memories, now=environment.shared_time(c)
        )
    )
    outcome = yield from outcome_of(
        request, situation, "committed", final.plan.reason, job=job, draft=final, opened=child.generation
    )
    after_commit = environment.hooks.after_commit
    if after_commit is not None:
        yield from call_stranger(lambda: after_commit(outcome.session_id, child.session_id))
    return outcome
