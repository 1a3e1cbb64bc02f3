"""A ledger as the text of a summary's sections, under a budget: what matters most, and where the rest stands."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from sessionstore.domain import sections
from sessionstore.domain.ledger.citations import cite_range, windows_over
from sessionstore.domain.ledger.entry import Ledger, LedgerEntry
from sessionstore.domain.ledger.extraction import seq_of
from sessionstore.domain.ledger.fact_line import FactLine
from sessionstore.domain.ledger.fact_lines import fact_lines
from sessionstore.domain.ledger.wording import search_words
from sessionstore.domain.redaction import redact
from sessionstore.domain.token_counter import TokenCounter
from sessionstore.domain.transcript import Entry

ACTIVE_TASK_TOKENS: Final = 1_000
"""Most tokens of the latest request that Active Task quotes."""
FOCUS_RATIO: Final = 0.65
"""Part of the budget that goes to what concerns the focus, when there is that much of it."""
_OVERFLOW_RATIO: Final = 0.10
_SECTION_RATIOS: Final = {
    sections.CONSTRAINTS: 0.45,
    sections.COMPLETED_ACTIONS: 0.30,
    sections.CRITICAL_CONTEXT: 0.30,
    sections.RELEVANT_FILES: 0.25,
    sections.GOAL: 0.20,
    sections.BLOCKED: 0.15,
    sections.KEY_DECISIONS: 0.15,
    sections.RESOLVED_QUESTIONS: 0.08,
}
"""Most of the budget that a section takes while others still have something to say; the rest is then given away freely."""
_MISSES_ALLOWED: Final = 60
_TOKENS_A_WINDOW: Final = 100
_SMALL: Final = 1_000
"""Tokens below which there is room for facts only: labels go, and what is left out is counted in one line."""
_TASK_COVERS: Final = frozenset({sections.CONSTRAINTS, sections.KEY_DECISIONS, sections.CRITICAL_CONTEXT})


def render_facts(
    ledger: Ledger, *, budget: int, counter: TokenCounter, active: Entry | None = None, focus: str | None = None, omit: str = ""
) -> dict[str, str]:
    """The text of every heading of ``SECTIONS``, empty where there is nothing to say; in all at most ``budget`` tokens.

    Headings are not part of the texts or the budget. Every line ends with the seqs it came from. Lines are chosen by how much
    they matter, newer ones first among equals, and stand in a stable order. ``active`` is the latest request (else the
    ledger's last one): Active Task quotes up to 1,000 tokens of it, then its seq. ``focus`` reserves 65 % of the budget for
    lines that share a word with it or come from the same messages. A fact that ``omit`` states verbatim has no line. What
    doesn't fit is counted by kind with its range of seqs, and Critical Context lists the messages to read for it.
    """
    chosen = _Selection(budget, counter)
    task, active_seq = _active_task(ledger, active, budget, counter)
    chosen.spend(sections.ACTIVE_TASK, task)
    small = budget < _SMALL
    ratios = None if small else _SECTION_RATIOS
    lines = [line for line in fact_lines(ledger, active_seq=active_seq, brief=small) if not (omit and _is_stated(line, omit))]
    lines.sort(key=lambda line: (-line.score, line.place))
    reserve = int(_OVERFLOW_RATIO * budget)
    free = chosen.left() - reserve
    if focus and (related := _related(lines, focus)):
        chosen.take([line for line in lines if line in related], limit=int(FOCUS_RATIO * budget) - chosen.spent, ratios=None)
        chosen.take([line for line in lines if line not in related], limit=budget - reserve - chosen.spent, ratios=ratios)
    else:
        chosen.take(lines, limit=free, ratios=ratios)
    chosen.take(lines, limit=budget - reserve - chosen.spent, ratios=None)
    return _fitted(chosen, lines, task, budget, counter)


class _Selection:
    """The lines that were chosen, and what they cost; each line is counted once."""

    def __init__(self, budget: int, counter: TokenCounter) -> None:
        self.budget = budget
        self.spent = 0
        self.lines: dict[FactLine, None] = {}
        self._counter = counter
        self._costs: dict[FactLine, int] = {}
        self._by_section: dict[str, int] = {}
        self._said: list[str] = []
        self.covered: set[FactLine] = set()

    def left(self) -> int:
        return self.budget - self.spent

    def spend(self, section: str, text: str) -> None:
        cost = self._counter.count(text) if text else 0
        self.spent += cost
        self._by_section[section] = self._by_section.get(section, 0) + cost
        self._said.append(text)

    def take(self, lines: Sequence[FactLine], *, limit: int, ratios: Mapping[str, float] | None) -> None:
        """Choose lines in the order given until ``limit`` tokens are spent; ``ratios`` cap a section's part of the budget."""
        misses = 0
        for line in lines:
            if limit <= 0 or misses > _MISSES_ALLOWED:
                return
            if line in self.lines or line in self.covered:
                continue
            if self._already_said(line):
                self.covered.add(line)
                continue
            cost = self._cost(line)
            section_cost = self._by_section.get(line.section, 0) + cost
            if ratios is not None and section_cost > ratios.get(line.section, 1.0) * self.budget:
                continue
            if cost > limit:
                misses += 1
                continue
            limit -= cost
            self.spent += cost
            self._by_section[line.section] = section_cost
            self.lines[line] = None
            self._said.append(line.text)

    def drop_last(self) -> None:
        """Give up the line that was chosen last, the one that matters least."""
        if self.lines:
            self.lines.popitem()

    def _already_said(self, line: FactLine) -> bool:
        if line.section not in _TASK_COVERS or len(line.core) < 3:
            return False
        said = self._said if line.section == sections.CRITICAL_CONTEXT else self._said[:1]
        return any(line.core in text for text in said)

    def _cost(self, line: FactLine) -> int:
        if line not in self._costs:
            self._costs[line] = self._counter.count(f"- {line.text}\n")
        return self._costs[line]


def _active_task(ledger: Ledger, active: Entry | None, budget: int, counter: TokenCounter) -> tuple[str, int | None]:
    if active is not None:
        text, seq = redact(active.view.text.strip()) or "[image]", seq_of(active)
    else:
        requests = [entry for entry in ledger.of_kind("request") if entry.about != "injected"]
        if not requests:
            return "", None
        latest: LedgerEntry = max(requests, key=lambda entry: entry.last_seq)
        text, seq = latest.text, latest.last_seq
    mark = f" #{seq}"
    allowed = min(ACTIVE_TASK_TOKENS, budget - counter.count(mark))
    if counter.count(text) <= allowed and counter.count(text + mark) <= budget:
        return text + mark, seq
    shown = _cut_to(text, allowed - counter.count("… [goes on:]"), counter)
    task = f"{shown}… [goes on:{mark}]" if shown else mark.strip()
    return (task if counter.count(task) <= budget else ""), seq


def _cut_to(text: str, tokens: int, counter: TokenCounter) -> str:
    """The longest beginning of a text that is found to have at most so many tokens, within one in sixteen of its length."""
    low, high = 0, min(len(text), max(0, tokens) * 12)
    while high - low > max(1, high // 16):
        middle = (low + high) // 2
        if counter.count(text[:middle]) <= tokens:
            low = middle
        else:
            high = middle
    return text[:low].rstrip()


def _is_stated(line: FactLine, omit: str) -> bool:
    return len(line.core) >= 4 and line.core in omit


def _related(lines: Iterable[FactLine], focus: str) -> set[FactLine]:
    """Lines that share a word with the focus, and those that come from the same messages."""
    wanted = search_words(focus)
    direct = {line for line in lines if wanted & search_words(line.text)}
    seqs = {seq for line in direct if len(line.seqs) <= 3 for seq in line.seqs}
    return direct | {line for line in lines if seqs.issuperset(line.seqs)}


def _fitted(chosen: _Selection, lines: Sequence[FactLine], task: str, budget: int, counter: TokenCounter) -> dict[str, str]:
    windows = max(1, budget // _TOKENS_A_WINDOW)
    while True:
        left_out = [line for line in lines if line not in chosen.lines and line not in chosen.covered]
        texts = _texts(chosen.lines, left_out, task, windows, compact=budget < _SMALL)
        total = sum(counter.count(text) for text in texts.values() if text)
        if total <= budget:
            return texts
        if windows > 0:
            windows //= 2
            continue
        if not chosen.lines:
            return {**dict.fromkeys(sections.SECTIONS, ""), sections.ACTIVE_TASK: task if counter.count(task) <= budget else ""}
        for _ in range(1 + (total - budget) // 60):
            chosen.drop_last()


def _texts(
    chosen: Iterable[FactLine], left_out: Sequence[FactLine], task: str, windows: int, *, compact: bool
) -> dict[str, str]:
    by_section: dict[str, list[FactLine]] = {}
    for line in chosen:
        by_section.setdefault(line.section, []).append(line)
    missing: dict[str, list[FactLine]] = {}
    for line in left_out:
        missing.setdefault(sections.CRITICAL_CONTEXT if compact else line.section, []).append(line)
    texts = {sections.ACTIVE_TASK: task}
    for section in sections.SECTIONS[1:]:
        shown = [_bulleted(line) for line in sorted(by_section.get(section, ()), key=lambda line: line.place)]
        if section in missing:
            shown.append(_total(left_out) if compact else _counts(missing[section]))
        if section == sections.CRITICAL_CONTEXT and left_out and windows and not compact:
            ranges = windows_over((seq for line in left_out for seq in _ends(line)), limit=windows)
            shown.append(f"- To look up what is only counted here, read: {', '.join(cite_range(*window) for window in ranges)}")
        texts[section] = "\n".join(shown)
    return texts


def _ends(line: FactLine) -> tuple[int, ...]:
    return (line.seqs[0], line.seqs[-1])


def _bulleted(line: FactLine) -> str:
    return line.text if line.section == sections.COMPLETED_ACTIONS and line.text[:1].isdigit() else f"- {line.text}"


def _counts(lines: Sequence[FactLine]) -> str:
    """``+ 37 more commands, #120–#398; …``: exact counts by kind, each with its first and last seq."""
    kinds: dict[str, list[FactLine]] = {}
    for line in lines:
        kinds.setdefault(line.plural, []).append(line)
    parts = [
        f"{len(several)} more {plural}, {_span(several)}" for plural, several in kinds.items()
    ]
    return f"+ {'; '.join(parts)}"


def _total(lines: Sequence[FactLine]) -> str:
    """``+ 12 more facts, #4–#90``: one count and one range, where there is no room for more."""
    return f"+ {len(lines)} more facts, {_span(lines)}"


def _span(lines: Iterable[FactLine]) -> str:
    ends = [seq for line in lines for seq in _ends(line)]
    return cite_range(min(ends), max(ends))
