"""Reading a session and deciding what a compaction of it does; nothing is written but token counts."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sessionstore.compaction.assembling import shorten
from sessionstore.compaction.cautions import cautions_of
from sessionstore.compaction.snapshot import Metering, Snapshot, load_snapshot, meter_snapshot
from sessionstore.domain.closed_sets import Trigger
from sessionstore.domain.metering import prompt_tokens
from sessionstore.domain.plan import CompactionPlan, PlanInput, make_plan
from sessionstore.domain.policy import UNKNOWN_WINDOW, CompactionPolicy
from sessionstore.domain.pruning import Rendition, prune
from sessionstore.domain.summarizing import Summarizer
from sessionstore.domain.summary_frame import smallest_frame
from sessionstore.domain.system_prompt import rebuilt_prompt
from sessionstore.operations.environment import Environment, meter_method
from sessionstore.operations.steps import Steps, call, read, write
from sessionstore.storage.token_rows import store_tokens

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
    context_window: int | None = None


@dataclass(frozen=True, slots=True)
class Situation:
    """What the job knows once it has read and decided."""

    snapshot: Snapshot
    metering: Metering
    plan: CompactionPlan
    oversized: Sequence[Rendition]
    window_known: bool
    warnings: tuple[str, ...]


def decide(environment: Environment, request: CompactionRequest) -> Steps[Situation]:
    """Read the session and make the plan; nothing is written but token counts."""
    policy, counter = request.policy, environment.counter
    method = yield from call(lambda: meter_method(counter, policy))
    snapshot = yield from read(lambda c: load_snapshot(c, request.lineage_id, request.generation, method=method))
    metering = yield from call(lambda: meter_snapshot(snapshot, policy=policy, counter=counter, method=method))
    if metering.fresh and not request.dry_run:
        yield from write(lambda c: store_tokens(c, request.lineage_id, method, metering.fresh), repeatable=True)
    return (yield from call(lambda: _situation(environment, request, snapshot, metering)))


def _situation(
    environment: Environment, request: CompactionRequest, snapshot: Snapshot, metering: Metering
) -> Situation:
    policy = request.policy
    known = request.context_window or snapshot.session.context_window
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
    entries = shorten(oversized, environment.counter, policy).apply(metering.entries)
    opened_by = snapshot.opened_by
    plan = make_plan(
        PlanInput(
            entries=entries,
            cut_tokens=metering.history_tokens - sum(entry.tokens for entry in entries),
            policy=policy,
            window=window,
            fixed_tokens=metering.fixed_tokens,
            fixed_growth=_prompt_growth(environment, snapshot),
            pins=pins,
            # For a model with less room, what was new work before is to be compacted again.
            work_after=None if opened_by is None or snapshot.has_smaller_window else opened_by.watermark,
            summary_floor=smallest_frame(policy.summary_max_tokens).tokens(((0, 1),), environment.counter, policy.headings)
            + LEAST_CONTENT,
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


def _prompt_growth(environment: Environment, snapshot: Snapshot) -> int:
    """Tokens that the rebuilt system prompt has more than the stored one; what a framework's builder adds is not known yet."""
    if environment.hooks.build_system_prompt is not None:
        return 0
    before = None if snapshot.prompt is None else snapshot.prompt.text
    after = rebuilt_prompt(snapshot.prompt, snapshot.memories).text
    return prompt_tokens(after, environment.counter) - prompt_tokens(before, environment.counter)


def planned_columns(situation: Situation) -> dict[str, Any]:
    """What the job's row says of the plan."""
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
