"""What a compaction prepares before it is committed: memories, the system prompt, and drafts of the new context."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sessionstore.compaction.assembling import Assembly, draft_of_renditions, draft_with_summary, shorten
from sessionstore.compaction.deciding import AUTOMATIC, CompactionRequest, Situation
from sessionstore.compaction.drafts import Draft
from sessionstore.compaction.memory_flush import ModelMemoryFlush, checked_facts
from sessionstore.compaction.summarising import Summarised
from sessionstore.domain.hygiene import MOST_MESSAGES
from sessionstore.domain.memory_prompt import without_known
from sessionstore.domain.policy import CompactionPolicy
from sessionstore.domain.pruning import Rendition, prune
from sessionstore.domain.reasoning_items import without_reasoning_items
from sessionstore.domain.records import SystemPrompt
from sessionstore.domain.spans import holds
from sessionstore.domain.system_prompt import prompt_from_text, rebuilt_prompt
from sessionstore.errors import SummarizerError
from sessionstore.operations.environment import Environment, PromptContext
from sessionstore.operations.steps import Steps, call_stranger
from sessionstore.storage.memory_rows import Memory


@dataclass(frozen=True, slots=True)
class FlushedMemories:
    """Facts to keep that the lineage doesn't have yet, and what a person should know of the asking."""

    memories: tuple[Memory, ...] = ()
    warnings: tuple[str, ...] = ()


def flush_memories(environment: Environment, situation: Situation) -> Steps[FlushedMemories]:
    """Ask the framework, or the built-in model flush, for facts to keep; they are staged here and written with the job's end.

    A model that fails keeps nothing from being compacted. Raises ``TypeError`` for a hook that answers something else.
    """
    flush = environment.hooks.flush_memories
    if flush is None:
        return FlushedMemories()
    messages = [row.message for row in situation.snapshot.rows]
    known = situation.snapshot.memories
    try:
        if isinstance(flush, ModelMemoryFlush):
            built_in = flush
            facts: Sequence[str] | None = yield from call_stranger(lambda: built_in(messages, known))
        else:
            own = flush
            facts = yield from call_stranger(lambda: own(messages))
    except SummarizerError as error:
        return FlushedMemories(warnings=(f"no facts were kept: the memory flush failed ({error.kind})",))
    now = environment.now()
    seqs = tuple(row.seq for row in situation.snapshot.rows[-1:])
    new = without_known(checked_facts(facts), known)
    return FlushedMemories(tuple(Memory(environment.ids(), fact, seqs, now) for fact in new))


def rebuild_prompt(
    environment: Environment, situation: Situation, memories: Sequence[Memory]
) -> Steps[SystemPrompt | None]:
    """The continuation's system prompt: by the framework's own builder, else from the stored parts with the memories.

    Raises ``TypeError`` for a builder that answers no text.
    """
    snapshot = situation.snapshot
    facts = list(dict.fromkeys([*snapshot.memories, *(memory.fact for memory in memories)]))
    build = environment.hooks.build_system_prompt
    if build is None:
        return rebuilt_prompt(snapshot.prompt, facts)
    parts = {} if snapshot.prompt is None else snapshot.prompt.parts
    told = PromptContext(snapshot.session.session_id, snapshot.session.lineage_id, parts, facts)
    text = yield from call_stranger(lambda: build(told))
    if not isinstance(text, str):
        raise TypeError(f"build_system_prompt answered a {type(text).__name__}; it answers the text of the prompt")
    return prompt_from_text(text)


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


def pruned_draft(
    environment: Environment, request: CompactionRequest, situation: Situation, prompt: SystemPrompt | None
) -> Draft | None:
    """The context pruned and no more, where that was asked for, or is enough for an automatic compaction, or leaves no middle
    that is worth a summary; None where a summary is needed."""
    policy, plan = request.policy, situation.plan
    only_shortens = plan.outcome == "shorten"
    if not policy.summarize or request.trigger in AUTOMATIC:
        renditions = _prunable_renditions(environment, request, situation)
        reason = f"{len(renditions)} old outputs and arguments were shortened"
    elif only_shortens:
        renditions, reason = situation.oversized, plan.reason
    else:
        return None
    draft = draft_of_renditions(_assembly(environment, request, situation, prompt, renditions))
    draft = replace(draft, plan=replace(plan, reason=reason))
    if not policy.summarize or only_shortens:
        return draft
    enough = policy.tier(draft.tokens_after, plan.window) == "ok" and len(draft.layout) <= MOST_MESSAGES
    return draft if enough and saves_enough(draft, policy) else None


def _prunable_renditions(
    environment: Environment, request: CompactionRequest, situation: Situation
) -> Sequence[Rendition]:
    """Shorter forms of what stands between head and tail, and of results too large for the tail."""
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
    if request.policy.drop_reasoning:
        inside = frozenset(index for index in prunable if entries[index].written_seq not in pins)
        return without_reasoning_items(entries, renditions, inside=inside)
    return renditions


def summary_draft(
    environment: Environment,
    request: CompactionRequest,
    situation: Situation,
    prompt: SystemPrompt | None,
    found: Summarised,
) -> Draft:
    """The new context with a summary in it."""
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


def saves_enough(draft: Draft, policy: CompactionPolicy) -> bool:
    """Whether a draft saves ``min_saving`` of the whole context; exactly that much is enough."""
    return draft.tokens_after <= (1 - policy.min_saving) * draft.tokens_before
