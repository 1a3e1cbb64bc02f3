"""Reads the thirteen sections out of an answer, however the model wrote its headings."""
from __future__ import annotations

import re
from typing import Final

from sessionstore.domain.sections import CRITICAL_CONTEXT, SECTIONS

_ALIASES: Final = {
    "constraints": "Constraints & Preferences",
    "preferences": "Constraints & Preferences",
    "progress": "Completed Actions",
    "actions completed": "Completed Actions",
    "current state": "Active State",
    "blockers": "Blocked",
    "decisions": "Key Decisions",
    "pending asks": "Pending User Asks",
    "files": "Relevant Files",
    "files modified": "Relevant Files",
    "next steps": "Remaining Work",
    "context": CRITICAL_CONTEXT,
}
"""Names that models give to our sections."""

_HEADING: Final = re.compile(
    r"(?P<mark>[#]{1,6}[ \t]*)?(?P<number>\d{1,2}[.)][ \t]*)?(?P<bold>\*\*|__)?(?P<inner>\d{1,2}[.)][ \t]*)?"
    r"(?P<name>[A-Za-z][A-Za-z &]{2,28}[A-Za-z])(?P<colon>:)?(?P<close>\*\*|__)?(?P<late>:)?[ \t]*#*[ \t]*(?P<rest>.*)"
)
_NOTHING: Final = re.compile(r"[\s*_()\[\]-]*+(?:none|n/a|nothing|empty)?[\s.*_()\[\]-]*+", re.IGNORECASE)
_OUTER_FENCE: Final = re.compile(r"\s*```(?:markdown|md|text)?[ \t]*\n(?P<inside>.*)\n```\s*", re.DOTALL)
_CODE_FENCE: Final = re.compile(r"\s*(?:```|~~~)")


def parse_sections(text: str) -> dict[str, str]:
    """The text under each of our headings that occurs, keyed by heading; sections without content are left out.

    Understands ``## Heading``, ``**Heading**``, ``1. Heading``, ``Heading:``, any case, ``and`` for ``&``; a heading that comes
    again adds to its section. What stands before the first heading, or under a foreign one, belongs to Critical Context when
    there is none of ours before it.
    """
    wrapped = _OUTER_FENCE.fullmatch(text)
    lines = (wrapped["inside"] if wrapped else text).splitlines()
    found: dict[str, list[str]] = {}
    current = CRITICAL_CONTEXT
    in_code = False
    # An unpaired fence would hide every heading after it.
    fenced = sum(1 for line in lines if _CODE_FENCE.match(line)) % 2 == 0
    for line in lines:
        if fenced and _CODE_FENCE.match(line):
            in_code = not in_code
        heading = None if in_code else _heading_of(line)
        if heading is None:
            found.setdefault(current, []).append(line)
        else:
            current, rest = heading
            found.setdefault(current, []).extend([rest] if rest else [])
    sections = {heading: "\n".join(found.get(heading, ())).strip() for heading in SECTIONS}
    return {heading: content for heading, content in sections.items() if not _NOTHING.fullmatch(content)}


def is_heading(line: str) -> bool:
    """Whether a line would be read as one of our headings."""
    return _heading_of(line) is not None


def heading_of(line: str) -> str | None:
    """The section that a line opens, as one of ``SECTIONS``; None for a line that is no heading of ours."""
    found = _heading_of(line)
    return None if found is None else found[0]


def _heading_of(line: str) -> tuple[str, str] | None:
    match = _HEADING.fullmatch(line.rstrip())
    if match is None:
        return None
    section = _NAMES.get(_key(match["name"]))
    if section is None:
        return None
    colon = match["colon"] or match["late"]
    bold = match["bold"] and match["close"]
    if match["rest"] and not colon:
        return None
    if not (match["mark"] or bold or colon or match["number"]):
        return None
    if match["name"].casefold() in _ALIASES and not (match["mark"] or bold):
        return None
    return section, match["rest"]


def _key(name: str) -> str:
    return " ".join(name.casefold().replace("&", " and ").split())


_NAMES: Final = {_key(heading): heading for heading in SECTIONS} | _ALIASES
