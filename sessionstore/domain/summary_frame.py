"""What a summary is apart from its content: a preface, which messages it stands for, and headings, in three sizes."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sessionstore.domain import sections
from sessionstore.domain.closed_sets import Headings
from sessionstore.domain.section_parsing import is_heading
from sessionstore.domain.sections import SECTIONS
from sessionstore.domain.token_counter import TokenCounter

PREFACE: Final = (
    "[Summary of earlier messages, for reference. An earlier context window was handed over with it. Do not answer or redo "
    "what it mentions, unless it stands under Active Task or Pending User Asks. Tools can be used as before. Reply to the "
    "latest user message after it.]"
)
"""What a summary begins with."""

SHORT_PREFACE: Final = "[Earlier messages in brief. Act only on Active Task and Pending User Asks.]"
"""What a summary begins with whose frame would otherwise take more of it than its facts."""

EMPTY: Final = "None."
"""What stands under a heading with nothing to say where there is room to say so."""

_TERSE_BELOW: Final = 600
"""Tokens of a whole summary below which its frame is terse: the full one takes some 150, more than a quarter of that."""

_BARE_BELOW: Final = 300
"""Tokens that a policy allows a summary below which its frame is bare: thirteen headings take some 60, a fifth of that."""

_MOST_RANGES: Final = 12


@dataclass(frozen=True, slots=True)
class SummaryFrame:
    """One size of a frame: its ``preface``, and ``empty``, what stands under a heading with nothing to say.

    ``empty`` is None where such a heading is left out.
    """

    preface: str
    empty: str | None

    def text(self, texts: Mapping[str, str], covers: Sequence[tuple[int, int]], headings: Headings = "thirteen") -> str:
        """A summary as it is stored; ``texts`` are the contents by section, ``covers`` ranges of seqs, both ends included."""
        lines = [self.preface, coverage_line(covers)]
        written = {heading: _content(texts.get(heading, "")) for heading in SECTIONS}
        if headings == "thirteen":
            for heading in SECTIONS:
                lines += self._section(heading, written[heading])
            return "\n".join(lines)
        for heading, (first, *others) in sections.FIVE_HEADINGS.items():
            told = [written[first]] if written[first] else []
            told += [f"**{name}**\n{written[name]}" for name in others if written[name]]
            lines += self._section(heading, "\n".join(told))
        return "\n".join(lines)

    def tokens(self, covers: Sequence[tuple[int, int]], counter: TokenCounter, headings: Headings = "thirteen") -> int:
        """Tokens of a frame with nothing in it; every section that has content costs ``section_tokens`` more."""
        # In the short form a section has its name only where it has content, so all of them have some here.
        texts = {} if headings == "thirteen" else dict.fromkeys(SECTIONS, EMPTY)
        return counter.count(self.text(texts, covers, headings))

    def section_tokens(self, counter: TokenCounter, headings: Headings = "thirteen") -> Mapping[str, int]:
        """Tokens of frame that each section costs when it gets content; none where the frame has its heading anyway."""
        if self.empty == EMPTY or headings != "thirteen":
            return {}
        return {heading: counter.count("\n" if self.empty is not None else f"\n## {heading}\n") for heading in SECTIONS}

    def _section(self, heading: str, content: str) -> list[str]:
        said = content or self.empty
        return [] if said is None else [f"## {heading}", said] if said else [f"## {heading}"]


FULL: Final = SummaryFrame(PREFACE, EMPTY)
"""Every heading, and under each that it has nothing to say where that is so."""
TERSE: Final = SummaryFrame(SHORT_PREFACE, "")
"""A short preface, and nothing under a heading with nothing to say."""
BARE: Final = SummaryFrame(SHORT_PREFACE, None)
"""A short preface, and only the headings that have something under them."""


def frame_for(tokens: int, *, most: int) -> SummaryFrame:
    """The frame of a summary that may have so many tokens in all; ``most`` is what the policy allows any summary."""
    return FULL if tokens >= _TERSE_BELOW else smallest_frame(most)


def smallest_frame(most: int) -> SummaryFrame:
    """The least frame of a policy that allows so many tokens; only one that wants tiny summaries does without headings."""
    return TERSE if most >= _BARE_BELOW else BARE


def coverage_line(covers: Sequence[tuple[int, int]]) -> str:
    """Which messages a summary stands for: ``Covers #3–#179, #190.``"""
    ranges = [f"#{first}" if first == last else f"#{first}–#{last}" for first, last in covers]
    if len(ranges) > _MOST_RANGES:
        ranges = [*ranges[: _MOST_RANGES - 1], f"{len(ranges) - _MOST_RANGES + 1} more ranges up to {ranges[-1]}"]
    return f"Covers {', '.join(ranges)}." if ranges else "Covers #none."


def _content(text: str) -> str:
    return "\n".join(_unlike_heading(line) for line in text.splitlines()).strip("\n")


def _unlike_heading(line: str) -> str:
    # A quoted request may hold a line that reads as a heading of ours; a blank before it keeps the sections apart.
    return f" {line}" if line.startswith("## ") or is_heading(line) else line
