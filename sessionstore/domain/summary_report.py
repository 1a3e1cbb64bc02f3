"""What became of a model's notes on their way into a stored summary, for the job's record and for people."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from sessionstore.domain.grounding import GroundedNotes
from sessionstore.domain.section_parsing import is_heading, parse_sections
from sessionstore.domain.sections import ACTIVE_TASK, SECTIONS

NamedTask = Literal["latest", "older", "other", "none"]
"""Which request a model took for the active one."""


@dataclass(frozen=True, slots=True)
class FailedSummarizer:
    """A summariser that was asked before another one answered: its name, and the kind of its failure."""

    summarizer: str
    kind: str


@dataclass(frozen=True, slots=True)
class SummaryReport:
    """What the model omitted, what was filled in, and what was taken out.

    ``headings`` of the thirteen stood in the answer. ``omitted`` are the sections that it left empty, ``filled_in`` those of
    them for which the ledger had facts. ``invented`` names what the transcript doesn't bear out, ``taken_out`` sentences of
    ``sentences`` went for that or because they were orders to a model (``orders``). ``requests`` is how often a model was
    asked, ``continued`` whether an answer came in two parts, ``shrunk`` whether the history had to be cut into smaller pieces.
    """

    headings: int
    omitted: tuple[str, ...]
    filled_in: tuple[str, ...]
    named_task: NamedTask
    invented: tuple[str, ...]
    orders: int
    taken_out: int
    sentences: int
    requests: int
    continued: bool
    shrunk: bool
    failed: tuple[FailedSummarizer, ...] = ()

    @property
    def is_poor(self) -> bool:
        """Whether the answer was much less than what was asked for: no half of the headings, or a quarter of it untrue."""
        return 2 * self.headings < len(SECTIONS) or 4 * self.taken_out > self.sentences

    def after(self, failed: Sequence[FailedSummarizer]) -> SummaryReport:
        """The same, with the summarisers that failed before."""
        return replace(self, failed=tuple(failed))

    def warnings(self) -> tuple[str, ...]:
        """Sentences for a person; none when all went well."""
        found = list(failure_warnings(self.failed))
        if self.named_task == "older":
            found.append("the model took an older request for the active one; the latest one stands in its place")
        if self.orders:
            found.append(f"{_count(self.orders, 'order')} to a model, found in the summary, went out of it")
        if self.invented:
            others = self.taken_out - self.orders
            found.append(f"{_count(others, 'sentence')} went out of the summary for what no message says: {self.invented[0]}")
        if self.is_poor:
            filled = len(self.filled_in)
            found.append(f"the model wrote {self.headings} of {len(SECTIONS)} sections; the ledger filled {filled}")
        return tuple(found)

    def to_json(self) -> dict[str, Any]:
        """The report as it is stored."""
        return {
            "headings": self.headings,
            "omitted": list(self.omitted),
            "filled_in": list(self.filled_in),
            "named_task": self.named_task,
            "invented": list(self.invented),
            "orders": self.orders,
            "taken_out": self.taken_out,
            "sentences": self.sentences,
            "requests": self.requests,
            "continued": self.continued,
            "shrunk": self.shrunk,
            "failed": failed_json(self.failed),
        }


def report_on(
    answer: str,
    grounded: GroundedNotes,
    *,
    facts: Mapping[str, str],
    active: str | None,
    requests: Sequence[str],
    questions: int,
    continued: bool,
    shrunk: bool,
) -> SummaryReport:
    """Compare an answer with what the ledger knows.

    ``facts`` is the ledger's text per heading, ``active`` the latest request, ``requests`` those that the model was given, in
    order, and ``questions`` how often it was asked.
    """
    told = parse_sections(answer)
    omitted = tuple(heading for heading in SECTIONS if heading not in told)
    return SummaryReport(
        headings=len({line.strip() for line in answer.splitlines() if is_heading(line)}),
        omitted=omitted,
        filled_in=tuple(heading for heading in omitted if facts.get(heading, "").strip()),
        named_task=_named_task(told.get(ACTIVE_TASK, ""), active, requests),
        invented=grounded.invented,
        orders=grounded.orders,
        taken_out=grounded.taken_out,
        sentences=grounded.sentences,
        requests=questions,
        continued=continued,
        shrunk=shrunk,
    )


def failed_json(failed: Sequence[FailedSummarizer]) -> list[dict[str, str]]:
    """Failures as they are stored."""
    return [{"summarizer": one.summarizer, "kind": one.kind} for one in failed]


def failure_warnings(failed: Sequence[FailedSummarizer]) -> tuple[str, ...]:
    """A sentence for each summariser that failed before another one answered."""
    return tuple(f"the summariser {one.summarizer} failed ({one.kind}), so another one was asked" for one in failed)


def _named_task(told: str, active: str | None, requests: Sequence[str]) -> NamedTask:
    words = _words(told)
    if not words:
        return "none"
    likeness = [_likeness(words, _words(request)) for request in requests]
    # The model sees what is summarised: the latest request among that may be older than the one that is quoted.
    latest = max([*likeness[-1:], _likeness(words, _words(active or ""))])
    if max(likeness[:-1], default=0.0) >= _ALIKE and max(likeness[:-1]) > latest:
        return "older"
    return "latest" if latest >= _ALIKE else "other"


_ALIKE = 0.6
"""Share of common words above which two texts are the same request."""


def _words(text: str) -> frozenset[str]:
    return frozenset("".join(sign if sign.isalnum() else " " for sign in text.casefold()).split())


def _likeness(told: frozenset[str], request: frozenset[str]) -> float:
    return len(told & request) / min(len(told), len(request)) if told and request else 0.0


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
