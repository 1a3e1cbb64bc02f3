"""What the checks of a database read: rows without their bodies, and what only the engine can tell of itself."""
from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Table, and_, func, not_, select, text
from sqlalchemy.exc import DBAPIError

from sessionstore.domain.health.evidence import CallRow, DerivedEvidence, JobEvidence, LogShare, ReaderEvidence, StoredSpan
from sessionstore.domain.messages import decode_body
from sessionstore.storage.span_rows import spans_of_lineage
from sessionstore.storage.tables import (
    OF_A_LINEAGE,
    compactions,
    ledgers,
    lineages,
    messages,
    readers,
    sessions,
    system_prompts,
    titles,
)
from sessionstore.storage.values import from_micros_or_none

_MOST_FAULTS: Final = 20
"""Faults of one kind that are listed of one lineage, or of the file."""

_PAGE: Final = 500
"""Rows that are read at a time when all bodies of a log are."""


def lineage_ids_after(connection: Connection, last: str, *, limit: int) -> list[str]:
    """A page of lineage ids in the order of the key, after one of them; the first page is after an empty text."""
    statement = select(lineages.c.lineage_id).where(lineages.c.lineage_id > last).order_by(lineages.c.lineage_id).limit(limit)
    return list(connection.execute(statement).scalars())


def stored_spans(connection: Connection, lineage_id: str) -> dict[int, list[StoredSpan]]:
    """The spans of every generation of a lineage as they are stored."""
    found = spans_of_lineage(connection, lineage_id)
    return {generation: [StoredSpan(*span) for span in spans] for generation, spans in found.items()}


def log_shares(connection: Connection, lineage_id: str) -> list[LogShare]:
    """How many rows each generation wrote, and from where to where."""
    statement = (
        select(messages.c.generation, func.count(), func.min(messages.c.seq), func.max(messages.c.seq))
        .where(messages.c.lineage_id == lineage_id)
        .group_by(messages.c.generation)
        .order_by(messages.c.generation)
    )
    return [LogShare(*row) for row in connection.execute(statement)]


def log_breaks(connection: Connection, lineage_id: str) -> list[int]:
    """Seqs above 0 before which a row is missing."""
    before = messages.alias()
    there = select(before.c.seq).where(before.c.lineage_id == messages.c.lineage_id, before.c.seq == messages.c.seq - 1)
    statement = (
        select(messages.c.seq)
        .where(messages.c.lineage_id == lineage_id, messages.c.seq > 0, not_(there.exists()))
        .order_by(messages.c.seq)
        .limit(_MOST_FAULTS)
    )
    return list(connection.execute(statement).scalars())


def derived_rows(connection: Connection, lineage_id: str) -> list[DerivedEvidence]:
    """The rows of a log that nobody said."""
    statement = (
        select(messages.c.seq, messages.c.kind, messages.c.origin_seq)
        .where(messages.c.lineage_id == lineage_id, messages.c.kind != "message")
        .order_by(messages.c.seq)
    )
    return [DerivedEvidence(*row) for row in connection.execute(statement)]


def call_rows(connection: Connection, lineage_id: str) -> list[CallRow]:
    """The rows of a log that have calls or results with an id."""
    statement = (
        select(messages.c.seq, messages.c.role, messages.c.call_ids)
        .where(messages.c.lineage_id == lineage_id, messages.c.call_ids.is_not(None))
        .order_by(messages.c.seq)
    )
    return [CallRow(*row) for row in connection.execute(statement)]


def job_rows(connection: Connection, lineage_id: str) -> list[JobEvidence]:
    """The compactions of a lineage without their texts, oldest first."""
    beside = and_(ledgers.c.lineage_id == compactions.c.lineage_id, ledgers.c.job_id == compactions.c.job_id)
    statement = (
        select(
            compactions.c.job_id,
            compactions.c.generation,
            compactions.c.opened_generation,
            compactions.c.status,
            compactions.c.summary_seq,
            ledgers.c.job_id.is_not(None),
            compactions.c.lease_expires_at,
            compactions.c.finished_at.is_not(None),
        )
        .outerjoin(ledgers, beside)
        .where(compactions.c.lineage_id == lineage_id)
        .order_by(compactions.c.created_at, compactions.c.job_id)
    )
    return [
        JobEvidence(row[0], row[1], row[2], row[3], row[4], bool(row[5]), from_micros_or_none(row[6]), bool(row[7]))
        for row in connection.execute(statement)
    ]


def prompt_digests(connection: Connection, lineage_id: str) -> frozenset[str]:
    """The digests of the system prompts that a lineage has."""
    statement = select(system_prompts.c.digest).where(system_prompts.c.lineage_id == lineage_id)
    return frozenset(connection.execute(statement).scalars())


def titles_of(connection: Connection, lineage_id: str) -> frozenset[tuple[str, str]]:
    """(namespace, title) of every title that is kept for a lineage."""
    statement = select(titles.c.namespace, titles.c.title).where(titles.c.lineage_id == lineage_id)
    return frozenset((row[0], row[1]) for row in connection.execute(statement))


def reader_rows(connection: Connection, lineage_id: str) -> list[ReaderEvidence]:
    """How far each reader of a lineage is."""
    statement = (
        select(readers.c.reader, readers.c.generation, readers.c.history_offset, readers.c.last_seq)
        .where(readers.c.lineage_id == lineage_id)
        .order_by(readers.c.reader)
    )
    return [ReaderEvidence(*row) for row in connection.execute(statement)]


def unreadable_bodies(connection: Connection, lineage_id: str) -> list[int]:
    """The rows of a log whose body is no JSON, the first of them."""
    if connection.dialect.name != "sqlite":
        # PostgreSQL can't tell before 16, and what it holds for JSON leaves out what Python writes.
        found = (seq for seq, body in _bodies(connection, lineage_id) if not _is_json(body))
        return list(itertools.islice(found, _MOST_FAULTS))
    statement = (
        select(messages.c.seq)
        .where(messages.c.lineage_id == lineage_id, func.json_valid(messages.c.body) == 0)
        .order_by(messages.c.seq)
        .limit(_MOST_FAULTS)
    )
    return list(connection.execute(statement).scalars())


def _bodies(connection: Connection, lineage_id: str) -> Iterator[tuple[int, str]]:
    """(seq, body) of every row of a log, a page at a time."""
    last, page = -1, True
    while page:
        statement = (
            select(messages.c.seq, messages.c.body)
            .where(messages.c.lineage_id == lineage_id, messages.c.seq > last)
            .order_by(messages.c.seq)
            .limit(_PAGE)
        )
        rows = connection.execute(statement).all()
        yield from ((row[0], row[1]) for row in rows)
        page = len(rows) == _PAGE
        last = rows[-1][0] if rows else last


def _is_json(body: str) -> bool:
    try:
        decode_body(body)
    except ValueError:
        return False
    return True


def bodies_of(connection: Connection, lineage_id: str, seqs: Sequence[int]) -> list[tuple[int, str]]:
    """(seq, body) of these rows, in the order of the log."""
    found: list[tuple[int, str]] = []
    for start in range(0, len(seqs), 500):
        statement = (
            select(messages.c.seq, messages.c.body)
            .where(messages.c.lineage_id == lineage_id, messages.c.seq.in_(sorted(seqs)[start : start + 500]))
            .order_by(messages.c.seq)
        )
        found.extend((row[0], row[1]) for row in connection.execute(statement))
    return found


def orphan_rows(connection: Connection) -> list[tuple[str, str, int]]:
    """(table, lineage id, rows) of rows whose lineage, or whose session or job, is not there."""
    found: list[tuple[str, str, int]] = []
    for table in (*OF_A_LINEAGE, titles):
        if table is lineages:
            continue
        statement = (
            select(table.c.lineage_id, func.count())
            .where(~_has_owner(table))
            .group_by(table.c.lineage_id)
            .order_by(table.c.lineage_id)
            .limit(_MOST_FAULTS)
        )
        found.extend((table.name, row[0], row[1]) for row in connection.execute(statement))
    return found


def _has_owner(table: Table) -> Any:
    lineage = select(lineages.c.lineage_id).where(lineages.c.lineage_id == table.c.lineage_id).exists()
    if table is ledgers:
        of_job = and_(compactions.c.lineage_id == ledgers.c.lineage_id, compactions.c.job_id == ledgers.c.job_id)
        return and_(lineage, select(compactions.c.job_id).where(of_job).exists())
    if table is sessions or "generation" not in table.c:
        return lineage
    of_session = and_(sessions.c.lineage_id == table.c.lineage_id, sessions.c.generation == table.c.generation)
    return and_(lineage, select(sessions.c.generation).where(of_session).exists())


def file_faults(connection: Connection) -> list[str]:
    """What SQLite's own check says is wrong with the file; nothing on another engine, which sees to that itself."""
    if connection.dialect.name != "sqlite":
        return []
    try:
        rows = connection.execute(text(f"PRAGMA quick_check({_MOST_FAULTS})")).scalars().all()
    except DBAPIError as error:
        return [str(error.orig)]
    return [] if rows == ["ok"] else [" ".join(str(row).split()) for row in rows]
