"""Readers: a gateway, an exporter or a UI that consumes a session's context, and whose place is durable."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from sessionstore.domain.records import LogRow, SessionRecord
from sessionstore.errors import SessionNotFoundError
from sessionstore.storage.message_rows import context_slice
from sessionstore.storage.reader_rows import ReaderPlace, find_reader, store_reader
from sessionstore.storage.session_rows import find_tip


@dataclass(frozen=True, slots=True)
class Following:
    """What a reader has not consumed yet of the tip's context, and where it stands after that.

    ``offset`` is the index that ``rows`` begin at. ``rotated`` says that the reader's place was in another session, so that the
    tip's whole context is new to it.
    """

    session: SessionRecord
    rows: Sequence[LogRow]
    offset: int
    rotated: bool
    last_seq: int


def read_batch(connection: Connection, lineage_id: str, reader: str, *, limit: int) -> Following:
    """The next messages of the tip's context for this reader; its place moves only with ``commit_place``."""
    tip = find_tip(connection, lineage_id)
    if tip is None:
        raise SessionNotFoundError(lineage_id)
    place = find_reader(connection, lineage_id, reader)
    rotated = place is not None and place.generation != tip.generation
    offset = 0 if place is None or rotated else place.history_offset
    rows = context_slice(connection, lineage_id, tip.generation, offset=offset, limit=limit)
    seen = place.last_seq if place is not None else -1
    return Following(tip, rows, offset, rotated, max([seen, *(row.seq for row in rows)]))


def commit_place(connection: Connection, lineage_id: str, reader: str, place: ReaderPlace) -> None:
    """Store how far a reader has got."""
    store_reader(connection, lineage_id, reader, place)
