"""Getting a summary: facts from the ledger, narrative from a summariser where there is one, checked and composed."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sessionstore.compaction.snapshot import Snapshot
from sessionstore.domain.history_text import HistoryChunk, chunk_history
from sessionstore.domain.ledger import Ledger, extract_ledger, render_facts
from sessionstore.domain.metering import MESSAGE_OVERHEAD
from sessionstore.domain.plan import CompactionPlan
from sessionstore.domain.policy import UNKNOWN_WINDOW
from sessionstore.domain.rules.last_request import last_requests
from sessionstore.domain.spans import seqs_of
from sessionstore.domain.summarizing import (
    Summarizer,
    SummaryAnswer,
    SummaryRequest,
    input_limit_of,
    name_of,
    window_of,
)
from sessionstore.domain.summary import compose_summary, facts_budget, frame_tokens, previous_body
from sessionstore.domain.summary_check import check_answer, clean_answer
from sessionstore.domain.summary_prompt import PROMPT_VERSION, InputRoom, build_request, plan_room
from sessionstore.domain.token_counter import TokenCounter
from sessionstore.domain.transcript import Entry
from sessionstore.errors import SummarizerError
from sessionstore.operations.environment import Environment
from sessionstore.operations.steps import Steps, call
from sessionstore.summarizers import ExtractiveSummarizer, ask


@dataclass(frozen=True, slots=True)
class Summarised:
    """A summary that may be stored: its text, the ledger beside it, and where it came from."""

    text: str
    ledger: Ledger
    summarizer: str
    prompt_version: str | None
    usage: Mapping[str, Any] | None
    degraded: bool = False


@dataclass(frozen=True, slots=True)
class SummaryFailure:
    """An answer that is no summary, or none at all. ``kind`` is one word, ``reason`` a sentence."""

    kind: str
    reason: str

EXTRACTIVE = "extractive"
"""What the records call the summariser that needs no model."""


def summarise(
    environment: Environment,
    *,
    snapshot: Snapshot,
    entries: Sequence[Entry],
    plan: CompactionPlan,
    summarizer: Summarizer | None,
    focus: str | None,
) -> Steps[Summarised | SummaryFailure]:
    """Make the summary of a plan's middle; without a summariser, or with the extractive one, from the ledger alone.

    The facts come from the whole middle and the ledger before it, so none depends on a model. A model's answers are checked,
    and the first that is no summary ends it with a ``SummaryFailure``.
    """
    middle = set(seqs_of(plan.middle))
    going = [entry for entry in entries if entry.seq in middle]
    ledger = yield from call(lambda: extract_ledger(going, previous=snapshot.previous_ledger))
    covers = snapshot.covered_with(plan.middle)
    content = plan.summary_budget - frame_tokens(covers, environment.counter) - MESSAGE_OVERHEAD
    task = _Task(
        environment=environment,
        ledger=ledger,
        active=next((entries[index] for index in last_requests(entries, 1)), None),
        content=content,
        focus=focus,
    )
    facts = yield from call(task.facts)
    narrative: str | None = None
    usage: Mapping[str, Any] | None = None
    if summarizer is not None and not isinstance(summarizer, ExtractiveSummarizer):
        pinned = set(seqs_of(plan.pins))
        told = [entry for entry in entries if entry.seq in middle or entry.seq in pinned]
        answered = yield from _narrate(environment, summarizer, told, facts, snapshot, plan, focus)
        if isinstance(answered, SummaryFailure):
            return answered
        narrative, usage = answered
        facts = yield from call(lambda: task.facts_beside(narrative or ""))
    text = yield from call(
        lambda: compose_summary(
            narrative=narrative, facts=facts, covers=covers, budget=content, counter=environment.counter
        )
    )
    model_free = narrative is None
    return Summarised(
        text=text,
        ledger=ledger,
        summarizer=EXTRACTIVE if model_free or summarizer is None else name_of(summarizer),
        prompt_version=None if model_free else PROMPT_VERSION,
        usage=usage,
    )


@dataclass(frozen=True, slots=True)
class _Task:
    """What facts are rendered from; ``content`` is the budget in tokens."""

    environment: Environment
    ledger: Ledger
    active: Entry | None
    content: int
    focus: str | None

    def facts(self) -> dict[str, str]:
        return self._render(self.content, "")

    def facts_beside(self, narrative: str) -> dict[str, str]:
        counter = self.environment.counter
        return self._render(facts_budget(narrative, budget=self.content, counter=counter), narrative)

    def _render(self, budget: int, omit: str) -> dict[str, str]:
        return render_facts(
            self.ledger,
            budget=budget,
            counter=self.environment.counter,
            active=self.active,
            focus=self.focus,
            omit=omit,
        )


def _narrate(
    environment: Environment,
    summarizer: Summarizer,
    entries: Sequence[Entry],
    facts: Mapping[str, str],
    snapshot: Snapshot,
    plan: CompactionPlan,
    focus: str | None,
) -> Steps[tuple[str, Mapping[str, Any] | None] | SummaryFailure]:
    """Ask the summariser for each piece of history, each time with what it said of the pieces before."""
    counter = environment.counter
    previous = None if snapshot.previous_summary is None else previous_body(snapshot.previous_summary)
    usages: list[Mapping[str, Any]] = []
    requests = tuple(entry.view.text for entry in entries if entry.is_request)
    # A summariser that doesn't say has a model of its own, which is not the small one of a small session.
    window = window_of(summarizer) or max(plan.window, UNKNOWN_WINDOW)
    try:
        room = yield from call(
            lambda: plan_room(
                window=window,
                budget_tokens=plan.summary_budget,
                counter=counter,
                previous=previous,
                focus=focus,
                input_tokens=input_limit_of(summarizer),
            )
        )
        chunks = yield from call(lambda: chunk_history(entries, max_tokens=room.history, counter=counter))
        for part, chunk in enumerate(chunks, start=1):
            answer = yield from call(
                _question(summarizer, chunk, room, facts, counter, previous, focus, part, len(chunks))
            )
            failure = check_answer(answer, history=chunk.text, requests=requests)
            if failure is not None:
                return SummaryFailure(failure, f"{name_of(summarizer)} gave no summary for part {part} of {len(chunks)}")
            previous = clean_answer(answer.text)
            if answer.usage is not None:
                usages.append(answer.usage)
    except SummarizerError as error:
        return SummaryFailure(error.kind, error.reason)
    return previous or "", _sum_of(usages)


def _question(
    summarizer: Summarizer,
    chunk: HistoryChunk,
    room: InputRoom,
    facts: Mapping[str, str],
    counter: TokenCounter,
    previous: str | None,
    focus: str | None,
    part: int,
    parts: int,
) -> Callable[[], SummaryAnswer]:
    request: SummaryRequest = build_request(
        chunk, room=room, facts=facts, counter=counter, previous=previous, focus=focus, part=part, parts=parts
    )
    return lambda: ask(summarizer, request)


def _sum_of(usages: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The usage of several answers as one: numbers are added, the last other value stays."""
    if not usages:
        return None
    total: dict[str, Any] = {}
    for usage in usages:
        for key, value in usage.items():
            known = total.get(key, 0)
            number = isinstance(value, int | float) and isinstance(known, int | float)
            total[key] = known + value if number else value
    return total
