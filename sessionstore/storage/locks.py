"""Taking turns at a lineage where the database doesn't let one writer in at a time by itself.

On SQLite a unit that writes has the whole file, and nothing here sends a statement. On a server a unit that reads before it
writes takes the row of its lineage first; whoever only adds to a log takes the row of its session. A unit locks rows of one
lineage, that of the lineage before those of sessions.
"""
from __future__ import annotations

from sqlalchemy import Connection, bindparam, select

from sessionstore.storage.hot_statements import HotStatement
from sessionstore.storage.tables import lineages, sessions

# Rows that refer to the locked one may be written meanwhile (key_share): nobody changes a key.
_LINEAGE = HotStatement(
    select(lineages.c.tip_generation).where(lineages.c.lineage_id == bindparam("lineage")).with_for_update(key_share=True)
)
_SESSION = HotStatement(
    select(sessions.c.next_seq)
    .where(sessions.c.lineage_id == bindparam("lineage"), sessions.c.generation == bindparam("of"))
    .with_for_update(key_share=True)
)


def lock_lineage(connection: Connection, lineage_id: str) -> int | None:
    """Wait for one's turn at a lineage: until the transaction ends nobody else changes more of it than to add to its log.

    Gives its tip's generation, None on SQLite or when there is no such lineage.
    """
    if connection.dialect.name == "sqlite":
        return None
    rows = _LINEAGE.rows(connection, lineage=lineage_id)
    return rows[0][0] if rows else None


def lock_session(connection: Connection, lineage_id: str, generation: int) -> None:
    """Wait for one's turn at a session: nobody adds to it until the transaction ends."""
    if connection.dialect.name != "sqlite":
        _SESSION.rows(connection, lineage=lineage_id, of=generation)


def lock_tip(connection: Connection, lineage_id: str) -> None:
    """Wait for one's turn at a lineage and at its tip: nobody else writes to either until the transaction ends."""
    tip = lock_lineage(connection, lineage_id)
    if tip is not None:
        lock_session(connection, lineage_id, tip)
