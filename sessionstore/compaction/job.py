"""The compaction job, told once: claim, load, decide, prune, flush memories, summarise, assemble, check, commit."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection

from sessionstore.compaction.assembling import Assembly, draft_of_renditions, draft_with_summary, shorten
from sessionstore.compaction.cautions import cautions_of
from sessionstore.compaction.claiming import claim, hold, settle
from sessionstore.compaction.committing import commit_draft
from sessionstore.compaction.deferring import deferral
from sessionstore.compaction.drafts import Draft
from sessionstore.compaction.outcome import CompactionOutcome
from sessionstore.compaction.snapshot import Metering, Snapshot, load_snapshot, meter_snapshot
from sessionstore.compaction.summarising import Summarised, SummaryFailure, summarise
from sessionstore.domain.closed_sets import Outcome, Trigger
from sessionstore.domain.messages import Message, decode_body
from sessionstore.domain.plan import CompactionPlan, PlanInput, make_plan
from sessionstore.domain.policy import UNKNOWN_WINDOW, CompactionPolicy
from sessionstore.domain.pruning import Rendition, prune
from sessionstore.domain.records import CompactionRecord, SystemPrompt
from sessionstore.domain.session_ids import session_id
from sessionstore.domain.spans import holds
from sessionstore.domain.summarizing import Summarizer
from sessionstore.domain.summary import frame_tokens
from sessionstore.domain.system_prompt import prompt_from_text, rebuilt_prompt
from sessionstore.errors import CompactionVetoedError, SessionEndedError
from sessionstore.operations.environment import Environment, PromptContext, meter_method
from sessionstore.operations.prompting import prompt_of
from sessionstore.operations.reading import lineage_of, session_of
from sessionstore.operations.steps import Steps, call, read, write
from sessionstore.storage.lineage_rows import change_lineage
from sessionstore.storage.memory_rows import Memory, store_memories
from sessionstore.storage.message_rows import context_bodies
from sessionstore.storage.token_rows import store_tokens

ROOM_RATIO = 0.95
"""Part of the window below which a failed summary is put off rather than replaced: there is still room to go on."""

ECHO = "echo"
"""A failure that asking again does not mend: the model gave its input back."""

LEAST_CONTENT = 40
"""Tokens that a summary says at least, beside its headings: the latest request and one fact."""

AUTOMATIC = frozenset({"auto", "preflight", "hygiene"})
"""Triggers that nobody asked for by hand."""


@dataclass(frozen=True, slots=True)
class CompactionRequest:
    """What somebody asks of a compaction; see ``Session.compact``."""

    lineage_id: str
    generation: int
    trigger: Trigger
    policy: CompactionPolicy
    focus: str | None = None
    summarizer: Summarizer | None = None
    force: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Situation:
    """What the job knows once it has read and decided."""

    snapshot: Snapshot
    metering: Metering
    plan: CompactionPlan
    oversized: Sequence[Rendition]
    window_known: bool
    warnings: tuple[str, ...]


def compact_session(environment: Environment, request: CompactionRequest) -> Steps[CompactionOutcome]:
    """Compact a session, or say why not. An exception from any step settles the job at once and goes on to the caller."""
    yield from read(lambda c: _must_be_open(c, request))
    if request.dry_run:
        situation = yield from _decide(environment, request)
        return (yield from _outcome(request, situation, _dry_status(situation.plan), _dry_reason(situation.plan)))
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
            now=environment.now(),
        )
    )
    try:
        return (yield from _run(environment, request, job))
    except BaseException as error:
        described = f"{type(error).__name__}"
        yield from write(
            lambda c: settle(
                c, job, status="aborted", reason="an exception ended the attempt", error=described, now=environment.now()
            )
        )
        raise


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


def _decide(environment: Environment, request: CompactionRequest) -> Steps[Situation]:
    """Read the session and make the plan; nothing is written but token counts."""
    policy, counter = request.policy, environment.counter
    method = yield from call(lambda: meter_method(counter, policy))
    snapshot = yield from read(lambda c: load_snapshot(c, request.lineage_id, request.generation, method=method))
    metering = yield from call(lambda: meter_snapshot(snapshot, policy=policy, counter=counter, method=method))
    if metering.fresh and not request.dry_run:
        yield from write(lambda c: store_tokens(c, request.lineage_id, method, metering.fresh))
    return (yield from call(lambda: _situation(environment, request, snapshot, metering)))


def _situation(
    environment: Environment, request: CompactionRequest, snapshot: Snapshot, metering: Metering
) -> Situation:
    policy = request.policy
    known = snapshot.session.context_window
    window = known or UNKNOWN_WINDOW
    pins = frozenset(snapshot.lineage.pins)
    ceiling = int(policy.tail_ceiling * policy.tail_budget(window))
    oversized = [
        rendition
        for rendition in prune(
            metering.entries, start=0, stop=0, policy=policy, oversized_tokens=ceiling, counter=environment.counter
        )
        if rendition.origin_seq not in pins
    ]
    shortened = shorten(oversized, environment.counter, policy)
    opened_by = snapshot.opened_by
    plan = make_plan(
        PlanInput(
            entries=shortened.apply(metering.entries),
            policy=policy,
            window=window,
            fixed_tokens=metering.fixed_tokens,
            pins=pins,
            work_after=None if opened_by is None else opened_by.watermark,
            summary_floor=frame_tokens(((0, 1),), environment.counter) + LEAST_CONTENT,
            trigger=request.trigger,
            force=request.force,
        )
    )
    before = metering.fixed_tokens + metering.history_tokens
    return Situation(
        snapshot=snapshot,
        metering=metering,
        # The plan was made with the oversized results cut already; what is reported is the context as it is.
        plan=replace(plan, tokens_before=before),
        oversized=oversized,
        window_known=known is not None,
        warnings=cautions_of(metering.entries, window_known=known is not None, jobs=snapshot.jobs),
    )


def _run(environment: Environment, request: CompactionRequest, job: CompactionRecord) -> Steps[CompactionOutcome]:
    situation = yield from _decide(environment, request)
    snapshot, plan = situation.snapshot, situation.plan
    yield from write(lambda c: hold(c, job, now=environment.now(), **_planned(situation)))
    if request.trigger in AUTOMATIC and not request.force:
        put_off = deferral(snapshot, situation.metering, plan, request.policy, now=environment.now())
        if put_off is not None:
            return (
                yield from _end(
                    environment, request, situation, job, put_off.status, put_off.reason, retry_at=put_off.retry_at
                )
            )
    if plan.outcome != "compact" and request.policy.summarize:
        return (yield from _end(environment, request, situation, job, plan.outcome, plan.reason))
    hooks = environment.hooks
    memories: tuple[Memory, ...] = ()
    try:
        if hooks.before_compact is not None:
            before_compact = hooks.before_compact
            yield from call(lambda: before_compact(plan))
        memories = yield from _flush_memories(environment, situation)
    except CompactionVetoedError as veto:
        return (yield from _end(environment, request, situation, job, "aborted", veto.reason, vetoed=True))
    prompt = yield from call(lambda: _rebuild_prompt(environment, situation, memories))
    pruned = yield from call(lambda: _pruned_draft(environment, request, situation, prompt))
    if pruned is not None:
        return (yield from _conclude(environment, request, situation, job, pruned, memories))
    summarised = yield from summarise(
        environment,
        snapshot=snapshot,
        entries=situation.metering.entries,
        plan=plan,
        summarizer=request.summarizer,
        focus=request.focus,
    )
    if isinstance(summarised, SummaryFailure):
        recovered = yield from _after_failure(environment, request, situation, job, summarised, memories)
        if isinstance(recovered, CompactionOutcome):
            return recovered
        summarised = recovered
    found = summarised
    # Stored before the commit, so that the summary is there for whoever takes over from a dead worker.
    yield from write(
        lambda c: hold(
            c,
            job,
            now=environment.now(),
            summary=found.text,
            ledger=found.ledger.to_json(),
            summarizer=found.summarizer,
            prompt_version=found.prompt_version,
            usage=found.usage,
            degraded=found.degraded,
        )
    )
    draft = yield from call(lambda: _summary_draft(environment, request, situation, prompt, found))
    return (yield from _conclude(environment, request, situation, job, draft, memories))


def _planned(situation: Situation) -> dict[str, Any]:
    plan = situation.plan
    return {
        "watermark": situation.snapshot.watermark,
        "head": plan.head,
        "middle": plan.middle,
        "tail": plan.tail,
        "tokens_before": plan.tokens_before,
        "tokens_method": situation.metering.method,
        "messages_before": plan.messages_before,
    }


def _flush_memories(environment: Environment, situation: Situation) -> Steps[tuple[Memory, ...]]:
    """Ask the framework for facts to keep; they are staged here and written with the job's end."""
    flush = environment.hooks.flush_memories
    if flush is None:
        return ()
    messages = [row.message for row in situation.snapshot.rows]
    facts = yield from call(lambda: flush(messages))
    now = environment.now()
    seqs = tuple(row.seq for row in situation.snapshot.rows[-1:])
    return tuple(Memory(environment.ids(), fact, seqs, now) for fact in facts or ())


def _rebuild_prompt(
    environment: Environment, situation: Situation, memories: Sequence[Memory]
) -> SystemPrompt | None:
    snapshot = situation.snapshot
    facts = list(dict.fromkeys([*snapshot.memories, *(memory.fact for memory in memories)]))
    build = environment.hooks.build_system_prompt
    if build is None:
        return rebuilt_prompt(snapshot.prompt, facts)
    parts = {} if snapshot.prompt is None else snapshot.prompt.parts
    told = PromptContext(snapshot.session.session_id, snapshot.session.lineage_id, parts, facts)
    return prompt_from_text(build(told))


def _assembly(
    environment: Environment,
    request: CompactionRequest,
    situation: Situation,
    prompt: SystemPrompt | None,
    renditions: Sequence[Rendition],
) -> Assembly:
    return Assembly(
        snapshot=situation.snapshot,
        metering=situation.metering,
        plan=situation.plan,
        policy=request.policy,
        prompt=prompt,
        shortened=shorten(renditions, environment.counter, request.policy),
        counter=environment.counter,
    )


def _pruned_draft(
    environment: Environment, request: CompactionRequest, situation: Situation, prompt: SystemPrompt | None
) -> Draft | None:
    """The context pruned and no more, where that was asked for or is enough for an automatic compaction; None where it
    isn't."""
    if request.policy.summarize and request.trigger not in AUTOMATIC:
        return None
    plan, entries = situation.plan, situation.metering.entries
    outside = (*plan.head, *plan.tail, *plan.pins, *plan.apart)
    prunable = [index for index, entry in enumerate(entries) if not holds(outside, entry.seq)]
    pins = situation.snapshot.lineage.pins
    renditions = [
        rendition
        for rendition in prune(
            entries,
            start=min(prunable, default=0),
            stop=max(prunable, default=-1) + 1,
            policy=request.policy,
            oversized_tokens=int(request.policy.tail_ceiling * request.policy.tail_budget(plan.window)),
            counter=environment.counter,
        )
        if rendition.origin_seq not in pins
    ]
    draft = draft_of_renditions(_assembly(environment, request, situation, prompt, renditions))
    draft = replace(draft, plan=replace(plan, reason=f"{len(renditions)} old outputs and arguments were shortened"))
    if not request.policy.summarize:
        return draft
    enough = request.policy.tier(draft.tokens_after, plan.window) == "ok"
    return draft if enough and _saves_enough(draft, request.policy) else None


def _summary_draft(
    environment: Environment,
    request: CompactionRequest,
    situation: Situation,
    prompt: SystemPrompt | None,
    found: Summarised,
) -> Draft:
    draft = draft_with_summary(_assembly(environment, request, situation, prompt, situation.oversized), found.text)
    return replace(
        draft,
        summary=found.text,
        ledger=found.ledger,
        summarizer=found.summarizer,
        prompt_version=found.prompt_version,
        usage=found.usage,
        degraded=found.degraded,
    )


def _after_failure(
    environment: Environment,
    request: CompactionRequest,
    situation: Situation,
    job: CompactionRecord,
    failure: SummaryFailure,
    memories: Sequence[Memory],
) -> Steps[CompactionOutcome | Summarised]:
    """Put it off while there is room, else go on with the summary that needs no model; abort where the policy says so."""
    policy = request.policy
    reason = f"the summary failed ({failure.kind}): {failure.reason}"
    if policy.on_failure == "abort":
        return (
            yield from _end(
                environment, request, situation, job, "aborted", reason, failure=failure.kind, memories=memories
            )
        )
    if failure.kind != ECHO and situation.plan.tokens_before < ROOM_RATIO * situation.plan.window:
        retry_at = environment.now() + policy.cooldown_seconds
        yield from write(lambda c: change_lineage(c, request.lineage_id, cooldown_until=retry_at))
        return (
            yield from _end(
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
        summarizer=None,
        focus=request.focus,
    )
    if isinstance(fallback, SummaryFailure):
        return (yield from _end(environment, request, situation, job, "aborted", reason, failure=failure.kind))
    return replace(fallback, degraded=True)


def _saves_enough(draft: Draft, policy: CompactionPolicy) -> bool:
    return draft.tokens_after <= (1 - policy.min_saving) * draft.tokens_before


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
        return (yield from _end(environment, request, situation, job, "noop", "there is nothing to prune", memories=memories))
    if not _saves_enough(draft, request.policy):
        saved = draft.tokens_before - draft.tokens_after
        reason = f"it would save {saved:,} of {draft.tokens_before:,} tokens, less than {request.policy.min_saving:.0%}"
        yield from write(lambda c: _strike(c, request.lineage_id, situation.snapshot.session.next_seq))
        return (yield from _end(environment, request, situation, job, "aborted", reason, memories=memories))
    final = replace(draft, warnings=situation.warnings)
    child = yield from write(
        lambda c: commit_draft(
            c, job, situation.snapshot, final, policy=request.policy, memories=memories, now=environment.now()
        )
    )
    outcome = yield from _outcome(
        request, situation, "committed", final.plan.reason, job=job, draft=final, opened=child.generation
    )
    after_commit = environment.hooks.after_commit
    if after_commit is not None:
        yield from call(lambda: after_commit(outcome.session_id, child.session_id))
    return outcome


def _strike(connection: Connection, lineage_id: str, seq: int) -> None:
    lineage = lineage_of(connection, lineage_id)
    change_lineage(connection, lineage_id, strikes=lineage.strikes + 1, strike_seq=seq)


def _end(
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
) -> Steps[CompactionOutcome]:
    """Record an end without a continuation: the context is as it was."""

    def work(connection: Connection) -> None:
        store_memories(connection, request.lineage_id, memories)
        settle(
            connection,
            job,
            status=status,
            reason=reason,
            error=failure,
            tokens_after=situation.plan.tokens_before,
            messages_after=situation.plan.messages_before,
            warnings=situation.warnings,
            now=environment.now(),
        )

    yield from write(work)
    return (
        yield from _outcome(
            request, situation, status, reason, job=job, failure=failure, vetoed=vetoed, retry_at=retry_at
        )
    )


def _outcome(
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


def _dry_status(plan: CompactionPlan) -> Outcome:
    return "stuck" if plan.outcome == "stuck" else "noop"


def _dry_reason(plan: CompactionPlan) -> str:
    return f"dry run: {plan.reason}; a summary could have {plan.summary_budget:,} tokens" if plan.middle else plan.reason
