"""Finding rows by their words: places from the index, and from the log where the index ends; each is looked at before it
counts."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import groupby, islice
from operator import attrgetter
from typing import Final

from sqlalchemy import Connection

from sessionstore.domain.readable_text import searchable_text, snippet
from sessionstore.domain.records import LogRow
from sessionstore.domain.search_hit import SearchHit
from sessionstore.domain.search_words import SearchQuery
from sessionstore.domain.session_ids import session_id
from sessionstore.operations.reading import LAST_SEQ
from sessionstore.storage.message_rows import log_rows_at
from sessionstore.storage.search_places import Place
from sessionstore.storage.search_rows import (
    indexed_places,
    indexed_seqs,
    indexed_to,
    last_seq,
    lineages_behind,
    places_anywhere,
    places_between,
)
from sessionstore.storage.values import to_micros

_PAGE: Final = 100
"""Bodies that are read at a time."""

_STRETCH: Final = 2_000
"""Rows of a log that the database looks through at a time, where there is no index."""


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for, and where.

    ``lineage_id`` is the one conversation to look in, None for all of ``namespace`` (None: the whole store). ``before`` is the
    last hit of the page before; ``below`` a seq that all hits of one conversation are below. With ``derived``, summaries and
    renditions count as well as what was said.
    """

    query: SearchQuery
    limit: int
    _: KW_ONLY
    lineage_id: str | None = None
    namespace: str | None = None
    before: SearchHit | None = None
    below: int | None = None
    derived: bool = False


def search(connection: Connection, wanted: Search) -> list[SearchHit]:
    """The newest rows that hold everything that is looked for, at most ``limit``; in one conversation from its end.

    Where the index is behind, absent or damaged, the rows themselves are read: the same is found, only slower.
    """
    if not wanted.query.terms or wanted.limit < 1:
        return []
    places = _in_lineage(connection, wanted, wanted.lineage_id) if wanted.lineage_id else _in_store(connection, wanted)
    return list(islice(_hits(connection, places, wanted), wanted.limit))


def _in_lineage(connection: Connection, wanted: Search, lineage_id: str) -> Iterator[tuple[str, int]]:
    end = last_seq(connection, lineage_id)
    if wanted.before is not None:
        end = min(end, wanted.before.seq - 1)
    if wanted.below is not None:
        end = min(end, wanted.below - 1)
    asked = wanted.query.asked_words()
    indexed = min(indexed_to(connection, lineage_id), end)
    seqs = indexed_seqs(connection, lineage_id, asked, last=indexed) if indexed >= 0 else ()
    if seqs is None:
        seqs, indexed = (), -1
    # What the index lacks is read a stretch at a time, so that the newest hits cost as much as they are far away.
    while end > indexed:
        first = max(indexed + 1, end - _STRETCH + 1)
        places = places_between(connection, lineage_id, asked, first=first, last=end)
        yield from ((lineage_id, seq) for seq in sorted((place.seq for place in places), reverse=True))
        end = first - 1
    yield from ((lineage_id, seq) for seq in seqs)


def _in_store(connection: Connection, wanted: Search) -> Iterator[tuple[str, int]]:
    asked = wanted.query.asked_words()
    behind = lineages_behind(connection, wanted.namespace)
    found = None if behind is None else indexed_places(connection, asked, namespace=wanted.namespace)
    if behind is None or found is None:
        found = places_anywhere(connection, asked, namespace=wanted.namespace)
    else:
        for lineage_id, end in behind:
            found.extend(places_between(connection, lineage_id, asked, first=end + 1, last=LAST_SEQ))
    found.sort(key=attrgetter("order"))
    before = wanted.before
    after = None if before is None else Place(to_micros(before.created_at), before.lineage_id, before.seq).order
    return ((place.lineage_id, place.seq) for place in found if after is None or place.order > after)


def _hits(connection: Connection, places: Iterable[tuple[str, int]], wanted: Search) -> Iterator[SearchHit]:
    waiting = iter(places)
    while page := list(islice(waiting, _PAGE)):
        for lineage_id, row in _rows(connection, page):
            if wanted.derived or row.kind == "message":
                text = searchable_text(row.message)
                found = wanted.query.find(text)
                if found is not None:
                    yield SearchHit(
                        session_id=session_id(lineage_id, row.generation),
                        lineage_id=lineage_id,
                        seq=row.seq,
                        role=row.role,
                        kind=row.kind,
                        snippet=snippet(text, *found),
                        created_at=row.created_at,
                    )


def _rows(connection: Connection, page: list[tuple[str, int]]) -> Iterator[tuple[str, LogRow]]:
    """The rows of a page of places, in its order; those of one lineage that follow each other are read together."""
    for lineage_id, run in groupby(page, key=lambda place: place[0]):
        seqs = [seq for _, seq in run]
        rows = {row.seq: row for row in log_rows_at(connection, lineage_id, seqs)}
        yield from ((lineage_id, rows[seq]) for seq in seqs if seq in rows)
