"""What a model could get back in two steps, when all it has is what the summary says.

A step is one search, or one reading of at most twenty messages, and its argument stands in the summary: a seq, a range, or a
word. A search is followed by reading what it found, so it takes both steps.
"""
from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from benchmarks.retention.facts import Fact
from benchmarks.retention.work import text_of
from sessionstore import Session, SessionStore

PAGE = 20
"""Messages that one reading shows."""
HITS = 20
"""Hits of a search that are looked at."""
WORDS_TRIED = 8
"""Words of a fact's own message that are searched for, the rarest in the log first."""
RANGE = re.compile(r"#(\d+)(?:\s*[–-]\s*#?(\d+))?")
WORD = re.compile(r"[\w./:-]{4,}")


def reached(store: SessionStore, session: Session, summary: str, facts: Sequence[Fact]) -> set[Fact]:
    """The facts that are within two steps of a summary."""
    rows = session.history(0, session.record().next_seq - 1)
    texts = {row.seq: text_of(row.message) for row in rows if row.kind == "message"}
    pages = {_joined(texts, first, last) for first, last in _pages(summary)}
    found = {fact for fact in facts if any(fact.stands_in(page) for page in pages)}
    said = {word.lower() for word in WORD.findall(summary)}
    frequency = Counter(word for text in texts.values() for word in {one.lower() for one in WORD.findall(text)})
    for fact in facts:
        if fact not in found and _found_by_search(store, session, fact, texts, said, frequency):
            found.add(fact)
    return found


def _pages(summary: str) -> set[tuple[int, int]]:
    pages = set()
    for match in RANGE.finditer(summary):
        first = int(match.group(1))
        last = int(match.group(2) or first)
        pages |= {(first, min(last, first + PAGE - 1)), (max(first, last - PAGE + 1), last)}
    return pages


def _joined(texts: dict[int, str], first: int, last: int) -> str:
    return " ".join(texts.get(seq, "") for seq in range(first, last + 1))


def _found_by_search(
    store: SessionStore, session: Session, fact: Fact, texts: dict[int, str], said: set[str], frequency: Counter[str]
) -> bool:
    # The call and its result are two messages: reading a hit means reading what is around it too.
    places = [seq for seq in texts if fact.stands_in(_joined(texts, seq, seq + 1))]
    for place in places[:2]:
        words = {word.lower() for word in WORD.findall(_joined(texts, place, place + 1))} & said
        for word in sorted(words, key=lambda one: frequency[one])[:WORDS_TRIED]:
            hits = store.search(word, lineage=session.lineage_id, limit=HITS)
            if any(hit.seq - 1 <= place <= hit.seq for hit in hits):
                return True
    return False
