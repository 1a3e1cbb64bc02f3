"""Getting a summary: facts from the ledger, narrative from a summariser where there is one, checked and composed."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sessionstore.compaction.narrating import Narrative, SummaryFailure, Telling, narrate
from sessionstore.compaction.snapshot import Snapshot
from sessionstore.domain.language_guess import languages_of
from sessionstore.domain.ledger import EMPTY_LEDGER, Ledger, extract_ledger, notes_beyond, render_facts
from sessionstore.domain.metering import MESSAGE_OVERHEAD
from sessionstore.domain.plan import CompactionPlan
from sessionstore.domain.policy import CompactionPolicy
from sessionstore.domain.rules.last_request import last_requests
from sessionstore.domain.spans import seqs_of
from sessionstore.domain.summarizing import Summarizer, name_of
from sessionstore.domain.summary import compose_summary, facts_budget, narrative_within
from sessionstore.domain.summary_frame import SummaryFrame, frame_for
from sessionstore.domain.summary_report import FailedSummarizer, failed_json, failure_warnings
from sessionstore.domain.transcript import Entry
from sessionstore.operations.environment import Environment
from sessionstore.operations.steps import Steps, call, read
from sessionstore.storage.ledger_rows import find_ledger
from sessionstore.storage.values import from_json
from sessionstore.summarizers import ExtractiveSummarizer, links_of


@dataclass(frozen=True, slots=True)
class Summarised:
    """A summary that may be stored: its text, the ledger beside it, and where it came from.

    ``usage`` is what the model cost, and under ``report`` what became of its notes. ``warnings`` are sentences for a person.
    """

    text: str
    ledger: Ledger
    summarizer: str
    prompt_version: str | None
    usage: Mapping[str, Any] | None
    degraded: bool = False
    warnings: tuple[str, ...] = ()


EXTRACTIVE = "extractive"
"""What the records call the summariser that needs no model."""

REPORT = "report"
"""Where the report on a model's notes stands beside its usage."""


def facts_of_middle(snapshot: Snapshot, entries: Sequence[Entry], plan: CompactionPlan) -> Steps[Ledger]:
    """The ledger of a compaction: what its whole middle says, and what the summary in the context stood on."""
    stored = None
    if snapshot.previous is not None:
        before = snapshot.previous
        stored = yield from read(lambda c: find_ledger(c, before.lineage_id, before.job_id), one_query=True)
    middle = set(seqs_of(plan.middle))

    def extracted() -> Ledger:
        previous = EMPTY_LEDGER if stored is None else Ledger.from_json(from_json(stored))
        # What stays behind the summary: the tail, and a request that stands apart from it.
        first, last = min(middle, default=0), max(middle, default=0)
        staying = [entry for entry in entries if entry.seq not in middle]
        following = [entry for entry in staying if entry.seq > last or (entry.is_request and entry.seq > first)]
        return extract_ledger([entry for entry in entries if entry.seq in middle], previous=previous, following=following)

    return (yield from call(extracted))


def summarise(
    environment: Environment,
    *,
    snapshot: Snapshot,
    entries: Sequence[Entry],
    plan: CompactionPlan,
    ledger: Ledger,
    summarizer: Summarizer | None,
    focus: str | None,
    policy: CompactionPolicy,
) -> Steps[Summarised | SummaryFailure]:
    """Make the summary of a plan's middle; without a summariser, or with the extractive one, from the ledger alone.

    The facts come from the ledger of the whole middle, so none depends on a model. A model's answers are checked;
    when one is no summary the next summariser of a chain is asked, and after the last it is a ``SummaryFailure``.
    """
    middle = set(seqs_of(plan.middle))
    covers = snapshot.covered_with(plan.middle)
    frame = frame_for(plan.summary_budget, most=policy.summary_max_tokens)
    content = plan.summary_budget - frame.tokens(covers, environment.counter, policy.headings) - MESSAGE_OVERHEAD
    task = _Task(
        environment=environment,
        ledger=ledger,
        active=next((entries[index] for index in last_requests(entries, 1)), None),
        content=content,
        frame=frame,
        focus=focus,
        policy=policy,
    )
    facts = yield from call(task.facts)
    links = () if summarizer is None else links_of(summarizer)
    # Once for all questions: a long conversation is asked about in many pieces.
    languages = frozenset[str]()
    if not all(isinstance(link, ExtractiveSummarizer) for link in links):
        languages = yield from call(lambda: languages_of(entry.spoken for entry in entries if entry.is_request))
    pinned = set(seqs_of(plan.pins))
    telling = Telling(
        entries=[entry for entry in entries if entry.seq in middle or entry.seq in pinned],
        facts=facts,
        active=task.active,
        languages=languages,
        focus=focus,
        snapshot=snapshot,
        plan=plan,
        counter=environment.counter,
    )
    told = yield from _first_narrative(links, telling)
    if isinstance(told.found, SummaryFailure):
        return told.found
    narrative = told.found
    notes: str | None = None
    if narrative is not None:
        notes, facts = yield from call(lambda: task.shared(narrative.text, facts))
    text = yield from call(
        lambda: compose_summary(
            narrative=notes,
            facts=facts,
            covers=covers,
            budget=content,
            counter=environment.counter,
            headings=policy.headings,
            frame=frame,
        )
    )
    if narrative is None:
        return _without_model(text, ledger, told.failed)
    report = narrative.report.after(told.failed)
    return Summarised(
        text=text,
        ledger=ledger,
        summarizer=told.name,
        prompt_version=narrative.prompt_version,
        usage={**(narrative.usage or {}), REPORT: report.to_json()},
        degraded=report.is_poor,
        warnings=report.warnings(),
    )


def degraded_by(fallback: Summarised, failure: SummaryFailure) -> Summarised:
    """A summary that stands in for one that a model failed to give."""
    return replace(
        _without_model(fallback.text, fallback.ledger, failure.failed),
        degraded=True,
        warnings=(f"no model gave a summary ({failure.kind}); the one that needs none was written",),
    )


def _without_model(text: str, ledger: Ledger, failed: Sequence[FailedSummarizer]) -> Summarised:
    return Summarised(
        text=text,
        ledger=ledger,
        summarizer=EXTRACTIVE,
        prompt_version=None,
        usage={REPORT: {"failed": failed_json(failed)}} if failed else None,
        degraded=bool(failed),
        warnings=failure_warnings(failed),
    )


@dataclass(frozen=True, slots=True)
class _Told:
    """The first narrative (None: a summariser without a model was reached), by whom, and who failed before."""

    found: Narrative | SummaryFailure | None
    name: str
    failed: tuple[FailedSummarizer, ...]


def _first_narrative(links: Sequence[Summarizer], telling: Telling) -> Steps[_Told]:
    """Ask one summariser after the other until one gives notes that can be used."""
    failed: list[FailedSummarizer] = []
    reasons: list[str] = []
    for link in links:
        if isinstance(link, ExtractiveSummarizer):
            return _Told(None, EXTRACTIVE, tuple(failed))
        found = yield from narrate(link, telling)
        if isinstance(found, Narrative):
            return _Told(found, name_of(link), tuple(failed))
        failed.append(FailedSummarizer(name_of(link), found.kind))
        reasons.append(found.reason)
    if not failed:
        return _Told(None, EXTRACTIVE, ())
    return _Told(SummaryFailure(failed[-1].kind, "; ".join(reasons), tuple(failed)), failed[-1].summarizer, tuple(failed))


@dataclass(frozen=True, slots=True)
class _Task:
    """What facts are rendered from; ``content`` is the budget in tokens."""

    environment: Environment
    ledger: Ledger
    active: Entry | None
    content: int
    frame: SummaryFrame
    focus: str | None
    policy: CompactionPolicy

    def facts(self) -> dict[str, str]:
        return self._render(self.content, "")

    def shared(self, notes: str, facts: Mapping[str, str]) -> tuple[str, dict[str, str]]:
        """The notes and the facts beside them. Where there is no room for both, the notes don't repeat what the facts say."""
        counter = self.environment.counter
        if sum(counter.count(text) for text in (notes, *facts.values())) <= self.content:
            return notes, self._beside(notes)
        beside = self._beside(self._beyond(notes, facts))
        return self._beyond(notes, beside), beside

    def _beyond(self, notes: str, facts: Mapping[str, str]) -> str:
        return notes_beyond(notes, self.ledger, shown="\n".join(facts.values()))

    def _beside(self, notes: str) -> dict[str, str]:
        counter = self.environment.counter
        budget = facts_budget(notes, budget=self.content, counter=counter)
        # A fact goes without a line of its own only where the narrative that says it is kept.
        return self._render(budget, narrative_within(notes, budget=self.content - budget, counter=counter))

    def _render(self, budget: int, omit: str) -> dict[str, str]:
        return render_facts(
            self.ledger,
            budget=budget,
            counter=self.environment.counter,
            active=self.active,
            focus=self.focus,
            omit=omit,
            policy=self.policy,
            section_tokens=self.frame.section_tokens(self.environment.counter, self.policy.headings),
        )
