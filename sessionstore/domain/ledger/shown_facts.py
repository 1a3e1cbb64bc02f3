"""Chooses the lines of a summary under a budget, and writes them under their headings with a count of what is left out."""
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from sessionstore.domain import sections
from sessionstore.domain.ledger.citations import cite_range, windows_over
from sessionstore.domain.ledger.fact_line import FactLine
from sessionstore.domain.ledger.worth import SHARE_OF_A_LINE
from sessionstore.domain.token_counter import TokenCounter

_MISSES_ALLOWED: Final = 60
_SAID_ANYWHERE: Final = frozenset({sections.CRITICAL_CONTEXT, sections.RESOLVED_QUESTIONS})
"""Sections of which nothing is said that another line says."""
_TASK_COVERS: Final = _SAID_ANYWHERE | {sections.CONSTRAINTS, sections.KEY_DECISIONS}
"""Sections of which nothing is said that Active Task says."""
_LEAST_CORE: Final = 3
"""Characters of a fact below which it is found in other words by chance."""
_ONE_OF: Final = re.compile(r"s\b")
"""What a name of several things has more than that of one: *files read*, *todos in progress*."""
_SHARED_BY: Final = 10
"""Facts in brief that a line holds at most, with one range of seqs."""


class ShownFacts:
    """The lines that were chosen so far, in full or in brief, and what they cost; each is counted once in each form.

    ``section_tokens`` is what the heading of a section costs that has a line.
    """

    def __init__(self, budget: int, counter: TokenCounter, task: str, section_tokens: Mapping[str, int]) -> None:
        self.budget = budget
        self.task = task
        self._section_tokens = section_tokens
        # Critical Context is where the count of what is left out stands.
        self._open_sections = {sections.CRITICAL_CONTEXT, *([sections.ACTIVE_TASK] if task else [])}
        self.spent = counter.count(task) + sum(section_tokens.get(section, 0) for section in self._open_sections)
        self.covered: set[FactLine] = set()
        self._counter = counter
        self._costs: dict[FactLine, int] = {}
        self._brief_costs: dict[FactLine, int] = {}
        self._full: dict[FactLine, None] = {}
        self._brief: dict[FactLine, None] = {}
        self._chosen: list[FactLine] = []
        self._by_section: dict[str, int] = {}
        self._said: list[str] = [task]
        self._refused: set[FactLine] = set()

    def fits(self, lines: Iterable[FactLine], *, until: int) -> bool:
        """Whether every line can be said in full within ``until`` tokens in all; counts no more lines than it takes to know."""
        total = self.spent
        opened = set(self._open_sections)
        for line in lines:
            total += self._cost(line) + (0 if line.section in opened else self._section_tokens.get(line.section, 0))
            opened.add(line.section)
            if total > until:
                return False
        return True

    def take(self, lines: Sequence[FactLine], *, until: int, ratios: Mapping[str, float]) -> None:
        """Choose lines in full, in the order given, until ``until`` tokens are spent in all.

        ``ratios`` cap a section's part of the budget. What was said already is passed over.
        """
        misses = 0
        for line in lines:
            if self.spent >= until or misses > _MISSES_ALLOWED:
                return
            if not self._is_open(line):
                continue
            cost = self._cost(line) + self._opening(line)
            section_cost = self._by_section.get(line.section, 0) + cost
            if section_cost > ratios.get(line.section, 1.0) * self.budget:
                continue
            if self.spent + cost > until:
                misses += 1
                continue
            self._by_section[line.section] = section_cost
            self._choose(line, self._full, cost, line.text)

    def take_brief(self, lines: Sequence[FactLine], *, until: int) -> None:
        """Choose lines in brief until ``until`` tokens are spent in all: those first that are worth most for what they cost."""
        misses = 0
        for line in self._by_worth(lines):
            if self.spent >= until or misses > _MISSES_ALLOWED:
                return
            if not self._is_open(line):
                continue
            cost = self._brief_cost(line) + SHARE_OF_A_LINE + self._opening(line)
            if self.spent + cost > until:
                misses += 1
                continue
            self._choose(line, self._brief, cost, line.brief)
        self._drop_what_is_said_twice()

    def unfold(self, lines: Iterable[FactLine], *, until: int) -> None:
        """Say in full what stands in brief, in the order given, as long as there is room."""
        for line in lines:
            if line in self._brief:
                more = self._cost(line) - self._brief_cost(line) - SHARE_OF_A_LINE
                if self.spent + more > until:
                    return
                self.spent += more
                del self._brief[line]
                self._full[line] = None

    def drop_last(self) -> bool:
        """Give up the line that was chosen last, the one that matters least; False when there is none."""
        if not self._chosen:
            return False
        line = self._chosen.pop()
        self._full.pop(line, None)
        self._brief.pop(line, None)
        return True

    def try_brief(self, lines: Sequence[FactLine]) -> bool:
        """Choose in brief the line that is worth most for its cost, whatever the budget; False when none is left."""
        left = [line for line in self._by_worth(self.left_out(lines)) if line not in self._refused and self._is_open(line)]
        if left:
            self._choose(left[0], self._brief, 0, left[0].brief)
        return bool(left)

    def refuse_last(self) -> None:
        """Give up the line that was tried last, for good."""
        self._refused.add(self._chosen[-1])
        self.drop_last()

    def is_complete(self, lines: Sequence[FactLine]) -> bool:
        """Whether nothing is left out that could be said in brief."""
        return not any(line.brief for line in self.left_out(lines))

    def left_out(self, lines: Iterable[FactLine]) -> list[FactLine]:
        """The lines that stand nowhere in the text."""
        return [line for line in lines if line not in self._full and line not in self._brief and line not in self.covered]

    def texts(self, left_out: Sequence[FactLine], *, windows: int, small: bool) -> dict[str, str]:
        """The text of every section; what is left out is counted by kind, or in one line when ``small``.

        ``windows`` is how many ranges to look up Critical Context may list.
        """
        texts = {sections.ACTIVE_TASK: self.task}
        for section in sections.SECTIONS[1:]:
            full = sorted((line for line in self._full if line.section == section), key=lambda line: line.place)
            shown = [_bulleted(line) for line in full] + self._shared_lines(section, len(self._brief) if small else _SHARED_BY)
            missing = [line for line in left_out if line.section == section]
            if section == sections.CRITICAL_CONTEXT and left_out and small:
                shown.append(f"+ {len(left_out)} more facts, {_span(left_out)}")
            elif missing and not small:
                shown.append(_counts(missing))
            if section == sections.CRITICAL_CONTEXT and left_out and windows and not small:
                by_worth = sorted(left_out, key=lambda line: (-line.worth, -line.score))
                ranges = windows_over([places_of(line) for line in by_worth], limit=windows)
                listed = " ".join(cite_range(*one).replace("–#", "–") for one in ranges)
                shown.append(f"- To look up what is only counted here, read: {listed}")
            texts[section] = "\n".join(shown)
        return texts

    def measured(self, texts: Mapping[str, str]) -> int:
        """Tokens of the texts of all sections, with what the headings of those take that have one."""
        return sum(self._counter.count(text) + self._section_tokens.get(name, 0) for name, text in texts.items() if text)

    def _by_worth(self, lines: Iterable[FactLine]) -> list[FactLine]:
        worth = {line: line.worth / (self._brief_cost(line) + SHARE_OF_A_LINE) for line in lines if line.brief}
        return sorted(worth, key=lambda line: (-worth[line], -line.score))

    def _cost(self, line: FactLine) -> int:
        if line not in self._costs:
            self._costs[line] = self._counter.count(f"- {line.text}\n")
        return self._costs[line]

    def _opening(self, line: FactLine) -> int:
        return 0 if line.section in self._open_sections else self._section_tokens.get(line.section, 0)

    def _brief_cost(self, line: FactLine) -> int:
        if line not in self._brief_costs:
            self._brief_costs[line] = self._counter.count(f"{line.brief}; ") if line.brief else 0
        return self._brief_costs[line]

    def _choose(self, line: FactLine, form: dict[FactLine, None], cost: int, said: str) -> None:
        self.spent += cost
        form[line] = None
        self._open_sections.add(line.section)
        self._chosen.append(line)
        self._said.append(said)

    def _drop_what_is_said_twice(self) -> None:
        """Give up names in brief that a sentence holds which was chosen after them."""
        names = [line for line in self._brief if line.section == sections.CRITICAL_CONTEXT and line.lead]
        others = [line for line in self._chosen if line.section != sections.CRITICAL_CONTEXT or not line.lead]
        sentences = [line.brief if line in self._brief else line.text for line in others]
        for line in names:
            if len(line.core) >= _LEAST_CORE and any(line.core in sentence for sentence in sentences):
                del self._brief[line]
                self._chosen.remove(line)
                self.covered.add(line)
                self.spent -= self._brief_cost(line) + SHARE_OF_A_LINE

    def _is_open(self, line: FactLine) -> bool:
        if line in self._full or line in self._brief or line in self.covered:
            return False
        if line.section in _TASK_COVERS and len(line.core) >= _LEAST_CORE:
            said = self._said if line.section in _SAID_ANYWHERE else self._said[:1]
            if any(line.core in text for text in said):
                self.covered.add(line)
                return False
        return True

    def _shared_lines(self, section: str, most: int) -> list[str]:
        groups: dict[tuple[int, str, str], list[FactLine]] = {}
        for line in sorted((line for line in self._brief if line.section == section), key=lambda line: line.seqs[-1]):
            groups.setdefault((line.place[0], line.plural, line.lead), []).append(line)
        return [
            _shared_line(several[start: start + most])
            for _key, several in sorted(groups.items()) for start in range(0, len(several), most)
        ]


def _shared_line(lines: Sequence[FactLine]) -> str:
    lead = f"{lines[0].lead}: " if lines[0].lead else ""
    return f"- {lead}{'; '.join(line.brief for line in lines)} {cite_range(lines[0].seqs[-1], lines[-1].seqs[-1])}"


def places_of(line: FactLine) -> tuple[int, int]:
    """The first and last message to read for a fact; the one after a call holds its result."""
    return line.seqs[0], line.seqs[-1] + 1


def _bulleted(line: FactLine) -> str:
    return line.text if line.section == sections.COMPLETED_ACTIONS and line.text[:1].isdigit() else f"- {line.text}"


def _counts(lines: Sequence[FactLine]) -> str:
    """``+ 37 more commands, #120–#398; …``: exact counts by kind, each with its first and last seq."""
    kinds: dict[str, list[FactLine]] = {}
    for line in lines:
        kinds.setdefault(line.plural, []).append(line)
    return "+ " + "; ".join(_count(plural, several) for plural, several in kinds.items())


def _count(plural: str, several: Sequence[FactLine]) -> str:
    name = plural if len(several) > 1 else _ONE_OF.sub("", plural, count=1)
    return f"{len(several)} more {name}, {_span(several)}"


def _span(lines: Iterable[FactLine]) -> str:
    ends = [seq for line in lines for seq in _ends(line)]
    return cite_range(min(ends), max(ends))


def _ends(line: FactLine) -> tuple[int, int]:
    return (line.seqs[0], line.seqs[-1])
