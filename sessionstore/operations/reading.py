"""Reading a session: its state, its context and its log."""
from __future__ import annotations

from typing import Final

from sqlalchemy import Connection

from sessionstore.domain.records import LineageRecord, LogRow, SessionRecord
from sessionstore.domain.session_ids import session_id
from sessionstore.domain.spans import Span
from sessionstore.errors import SessionNotFoundError
from sessionstore.storage.compaction_rows import compactions_of
from sessionstore.storage.lineage_rows import find_lineage
from sessionstore.storage.message_rows import log_rows
from sessionstore.storage.session_rows import find_session

LAST_SEQ: Final = 2**63 - 1
"""The highest number that a column of 64 bits holds."""


def session_of(connection: Connection, lineage_id: str, generation: int) -> SessionRecord:
    """The generation, or ``SessionNotFoundError`` (it was deleted since somebody got its id)."""
    session = find_session(connection, lineage_id, generation)
    if session is None:
        raise SessionNotFoundError(session_id(lineage_id, generation))
    return session


def lineage_of(connection: Connection, lineage_id: str) -> LineageRecord:
    """The lineage, or ``SessionNotFoundError``."""
    lineage = find_lineage(connection, lineage_id)
    if lineage is None:
        raise SessionNotFoundError(lineage_id)
    return lineage


def history(connection: Connection, lineage_id: str, first: int, last: int) -> list[LogRow]:
    """Rows ``first`` to ``last`` of the log, both included; numbers beyond the log give nothing."""
    return log_rows(connection, lineage_id, min(max(first, 0), LAST_SEQ), min(max(last, -1), LAST_SEQ))


def covered_spans(connection: Connection, lineage_id: str) -> dict[int, tuple[Span, ...]]:
    """What each summary of the lineage replaced, by the summary's seq."""
    return {
        record.summary_seq: record.middle
        for record in compactions_of(connection, lineage_id)
        if record.summary_seq is not None
    }
