"""The decision of a compaction: what stays, what goes, what the summary may cost, or why nothing is done."""
from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from sessionstore.domain.boundaries import Partition, partition
from sessionstore.domain.closed_sets import Trigger
from sessionstore.domain.policy import CompactionPolicy
from sessionstore.domain.spans import Span, count_of, spans_of
from sessionstore.domain.transcript import Entry

PlanOutcome = Literal["compact", "shorten", "noop", "stuck"]
"""``compact`` writes a summary; ``shorten`` writes none, because cutting oversized results saves enough and leaves no middle
that is worth one."""

LARGEST_NAMED = 3
"""How many irreducible parts a stuck session names."""


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """What a compaction would do, as a value: nothing in it has been carried out.

    Spans are of the log. ``middle`` is what the summary replaces. Token figures are of the whole context, system prompt and
    tool schemas included; ``kept_tokens`` is what stays whatever the summary says.
    """

    outcome: PlanOutcome
    reason: str
    head: tuple[Span, ...]
    pins: tuple[Span, ...]
    middle: tuple[Span, ...]
    apart: tuple[Span, ...]
    tail: tuple[Span, ...]
    summary_budget: int
    messages_before: int
    tokens_before: int
    kept_tokens: int
    window: int
    threshold: int

    @property
    def middle_messages(self) -> int:
        """How many messages the summary replaces."""
        return count_of(self.middle)


@dataclass(frozen=True, slots=True)
class PlanInput:
    """What a plan is made from.

    ``fixed_tokens`` is the system prompt with the tool schemas, ``fixed_growth`` what a rebuild adds to it. ``work_after`` is
    the seq above which a message counts as new work (None: everything does). ``summary_floor`` is what a summary costs that
    says nothing. ``window`` is the model's in tokens, or what stands in for it. ``cut_tokens`` is what the entries have lost
    already, because results too large for the tail stand there in their cut form.
    """

    entries: Sequence[Entry]
    policy: CompactionPolicy
    window: int
    fixed_tokens: int
    fixed_growth: int
    pins: Collection[int]
    work_after: int | None
    summary_floor: int
    trigger: Trigger
    force: bool = False
    cut_tokens: int = 0

    @property
    def tokens(self) -> int:
        """Tokens of the whole context with oversized results cut."""
        return self.fixed_tokens + sum(entry.tokens for entry in self.entries)

    @property
    def tokens_uncut(self) -> int:
        """Tokens of the whole context as it is."""
        return self.tokens + self.cut_tokens


def make_plan(given: PlanInput) -> CompactionPlan:
    """Decide what a compaction of this context does.

    ``noop`` when there is no new work since the last one, or no middle whose going makes room for a summary; ``shorten`` where
    cutting oversized results does without one; ``stuck`` when the context is over its threshold and what must stay is the
    reason.
    """
    parts = partition(given.entries, policy=given.policy, window=given.window, pins=given.pins)
    middle_tokens = sum(given.entries[index].tokens for index in parts.middle)
    total = given.tokens
    kept = total - middle_tokens
    budget = summary_budget(
        given.policy,
        middle=middle_tokens - given.fixed_growth,
        total=total,
        room=given.policy.threshold(given.window) - kept - given.fixed_growth,
    )
    outcome, reason = _outcome(given, parts, kept=kept, budget=budget)
    return CompactionPlan(
        outcome=outcome,
        reason=reason,
        head=_spans(given.entries, parts.head),
        pins=_spans(given.entries, parts.pins),
        middle=_spans(given.entries, parts.middle),
        apart=_spans(given.entries, parts.apart),
        tail=_spans(given.entries, parts.tail),
        summary_budget=max(budget, 0),
        messages_before=len(given.entries),
        tokens_before=total,
        kept_tokens=kept,
        window=given.window,
        threshold=given.policy.threshold(given.window),
    )


def summary_budget(policy: CompactionPolicy, *, middle: int, total: int, room: int) -> int:
    """Tokens that a summary may have: a share of the middle within its limits, and never more than still saves
    ``min_saving``.

    ``room`` is what the threshold leaves beside all that stays. A small window's context is to be small again afterwards, so
    no summary is larger than that and the least one.
    """
    wanted = min(max(int(policy.summary_ratio * middle), policy.summary_min_tokens), policy.summary_max_tokens)
    wanted = min(wanted, max(room, policy.summary_min_tokens))
    return min(wanted, middle - math.ceil(policy.min_saving * total))


def _outcome(given: PlanInput, parts: Partition, *, kept: int, budget: int) -> tuple[PlanOutcome, str]:
    threshold = given.policy.threshold(given.window)
    over = given.tokens >= threshold
    if not _has_new_work(given):
        return "noop", "there is no new message since the last compaction"
    if over and kept > threshold and kept > given.policy.stuck_ratio * given.tokens_uncut:
        return "stuck", f"what must stay is {kept:,} of {given.tokens:,} tokens: {_irreducible(given, parts)}"
    if budget >= given.summary_floor and any(given.entries[index].kind != "summary" for index in parts.middle):
        return "compact", f"{len(parts.middle)} of {len(given.entries)} messages give way to a summary"
    if given.cut_tokens - given.fixed_growth >= given.policy.min_saving * given.tokens_uncut and given.cut_tokens:
        return "shorten", f"results too large for the tail are cut, which saves {given.cut_tokens:,} tokens"
    if over:
        return "stuck", f"nothing between head and tail is worth a summary; what must stay: {_irreducible(given, parts)}"
    if not parts.middle:
        return "noop", f"there is nothing between head and tail in {len(given.entries)} messages"
    return "noop", f"the {len(parts.middle)} messages between head and tail are too small to make room for a summary"


def _has_new_work(given: PlanInput) -> bool:
    after = given.work_after
    return after is None or any(entry.kind == "message" and entry.seq > after for entry in given.entries)


def _irreducible(given: PlanInput, parts: Partition) -> str:
    """The largest parts that must stay, by name."""
    named = [(given.fixed_tokens, "system prompt and tool schemas")]
    for name, indexes in (("head", parts.head), ("pinned", parts.pins), ("last request", parts.apart), ("tail", parts.tail)):
        for index in indexes:
            entry = given.entries[index]
            named.append((entry.tokens, f"#{entry.seq} ({entry.view.role}, {name})"))
    named.sort(key=lambda pair: -pair[0])
    return ", ".join(f"{name} with {tokens:,} tokens" for tokens, name in named[:LARGEST_NAMED] if tokens)


def _spans(entries: Sequence[Entry], indexes: Iterable[int]) -> tuple[Span, ...]:
    return spans_of(entries[index].seq for index in indexes)
