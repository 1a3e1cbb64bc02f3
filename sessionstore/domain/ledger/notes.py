"""What a model's notes say beyond the ledger, for when there is no room for both to say the same."""
from __future__ import annotations

import re
from typing import Final

from sessionstore.domain import sections
from sessionstore.domain.ledger.entry import Ledger, LedgerEntry
from sessionstore.domain.ledger.sentences import FORBIDS
from sessionstore.domain.ledger.wording import search_words
from sessionstore.domain.section_parsing import parse_sections

_WORDS_ALLOWED: Final = 2
"""Words of its own that a line may have and still say only what the ledger says: *was written*, *ended with code*."""
_LEAST_TEXT: Final = 4
"""Characters of a fact below which it stands in a line by chance."""
_INDEXED_WORDS: Final = 2
_SENTENCES: Final = {
    "constraint": sections.CONSTRAINTS, "statement": sections.CRITICAL_CONTEXT, "decision": sections.KEY_DECISIONS,
}  # fmt: skip
"""Kinds of facts that are shown whole, so that a part of one is said with it, and where; a long request isn't."""
_WHAT_HAPPENED: Final = frozenset({
    sections.CONSTRAINTS, sections.COMPLETED_ACTIONS, sections.KEY_DECISIONS, sections.RESOLVED_QUESTIONS,
    sections.RELEVANT_FILES, sections.CRITICAL_CONTEXT,
})  # fmt: skip
_NUMBER: Final = re.compile(r"\d+")
_BULLET: Final = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")


def notes_beyond(notes: str, ledger: Ledger, *, shown: str) -> str:
    """The notes, by their headings, without the lines that do no more than repeat facts of the ledger, which says them shorter.

    ``shown`` is the text of the facts that there is room for. What a model put under a heading of its choice stays unless it
    is shown; in Critical Context, where everything stands that has no other place, what the ledger has goes in any case, since
    it chooses better what there is room for.

    A line goes when it is part of a sentence that is kept, or when a fact stands in it word for word and what else it says is
    two words at most, none of them a number or one that forbids: an outcome or a reason of its own keeps it. Under a heading of
    what is to be done every line stays, since where it stands says something too.
    """
    by_word: dict[str, list[LedgerEntry]] = {}
    for entry in ledger.entries:
        if len(entry.text) >= _LEAST_TEXT:
            # The longest words of a fact are those that fewest lines have.
            for word in sorted(search_words(entry.text), key=lambda word: (-len(word), word))[:_INDEXED_WORDS]:
                by_word.setdefault(word, []).append(entry)
    told: list[str] = []
    for heading, text in parse_sections(notes).items():
        lines = text.splitlines()
        if heading in _WHAT_HAPPENED:
            lines = [line for line in lines if not _repeats(line, heading, by_word, shown)]
        told += [f"## {heading}", *lines] if lines else []
    return "\n".join(told)


def _repeats(line: str, heading: str, by_word: dict[str, list[LedgerEntry]], shown: str) -> bool:
    said = _BULLET.sub("", line).strip()
    near = list({entry.key: entry for word in search_words(said) for entry in by_word.get(word, ())}.values())
    if heading != sections.CRITICAL_CONTEXT:
        near = [entry for entry in near if entry.text in shown and _SENTENCES.get(entry.kind, heading) == heading]
    if any(said in entry.text for entry in near if entry.kind in _SENTENCES):
        return True
    facts = [entry for entry in near if entry.text in said]
    rest, known = said, ""
    for entry in facts:
        rest = rest.replace(entry.text, " ")
        known = f"{known} {entry.text} {entry.outcome}"
    own = search_words(rest) - search_words(known)
    numbers = set(_NUMBER.findall(rest)) - set(_NUMBER.findall(known))
    return bool(facts) and len(own) <= _WORDS_ALLOWED and not numbers and not FORBIDS.search(rest)
