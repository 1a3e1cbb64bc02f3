"""Rows of ``readers``: how far each reader has got, durable."""
from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, select

from sessionstore.storage.tables import readers
from sessionstore.storage.upserts import insert_or_replace


class ReaderPlace(NamedTuple):
    """Where a reader stands: the generation it read, the index into its context, and the last seq of the log it saw."""

    generation: int
    history_offset: int
    last_seq: int


def find_reader(connection: Connection, lineage_id: str, reader: str) -> ReaderPlace | None:
    """Where that reader stands, None when it has never committed."""
    statement = select(readers.c.generation, readers.c.history_offset, readers.c.last_seq).where(
        readers.c.lineage_id == lineage_id, readers.c.reader == reader
    )
    row = connection.execute(statement).first()
    return None if row is None else ReaderPlace(*row)


def store_reader(connection: Connection, lineage_id: str, reader: str, place: ReaderPlace) -> None:
    """Say where a reader stands now."""
    insert_or_replace(connection, readers, {"lineage_id": lineage_id, "reader": reader, **place._asdict()})
