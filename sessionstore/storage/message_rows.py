"""Rows of ``messages``: the append-only log. Nothing here updates or deletes a row."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import ARRAY, Connection, Select, Text, any_, bindparam, func, select, true

from sessionstore.domain.closed_sets import Kind
from sessionstore.domain.messages import decode_body
from sessionstore.domain.records import LogRow
from sessionstore.storage.bulk import insert_rows_of
from sessionstore.storage.hot_statements import HotStatement
from sessionstore.storage.search_rows import index_rows
from sessionstore.storage.tables import context_spans, messages, sessions
from sessionstore.storage.values import from_micros, to_micros

_ROW = (
    messages.c.seq,
    messages.c.kind,
    messages.c.role,
    messages.c.generation,
    messages.c.created_at,
    messages.c.body,
    messages.c.origin_seq,
    messages.c.client_id,
)
Searchable = tuple[str | None, str | None]
"""Names of the tools and ids of the calls that a row has, each a text with spaces between, None where it has none."""


def _context(*columns: Any, newest_first: bool = False) -> Select[Any]:
    """Columns of a session's context, in order; the parameters are ``lineage`` and ``of`` (its generation)."""
    # The open span ends at a computed number rather than at "no end": with an end, both sides of the range are an index lookup.
    end = func.coalesce(context_spans.c.last_seq, sessions.c.next_seq - 1)
    order = (context_spans.c.ordinal, messages.c.seq)
    return (
        select(*columns)
        .select_from(context_spans)
        .join(
            sessions,
            (sessions.c.lineage_id == context_spans.c.lineage_id) & (sessions.c.generation == context_spans.c.generation),
        )
        .join(
            messages,
            (messages.c.lineage_id == context_spans.c.lineage_id)
            & (messages.c.seq >= context_spans.c.first_seq)
            & (messages.c.seq <= end),
        )
        .where(context_spans.c.lineage_id == bindparam("lineage"), context_spans.c.generation == bindparam("of"))
        .order_by(*(column.desc() for column in order) if newest_first else order)
    )


def _last_on_a_server() -> Select[Any]:
    """The last rows of a context: from each span no more than are wanted.

    A server doesn't see that spans and the rows inside are in order already, so it would sort all rows of the last span.
    """
    end = func.coalesce(context_spans.c.last_seq, sessions.c.next_seq - 1)
    of_a_span = (
        select(*_ROW)
        .where(
            messages.c.lineage_id == context_spans.c.lineage_id,
            messages.c.seq >= context_spans.c.first_seq,
            messages.c.seq <= end,
        )
        .order_by(messages.c.seq.desc())
        .limit(bindparam("count"))
        .lateral("newest")
    )
    return (
        select(*of_a_span.c)
        .select_from(context_spans)
        .join(
            sessions,
            (sessions.c.lineage_id == context_spans.c.lineage_id) & (sessions.c.generation == context_spans.c.generation),
        )
        .join(of_a_span, true())
        .where(context_spans.c.lineage_id == bindparam("lineage"), context_spans.c.generation == bindparam("of"))
        .order_by(context_spans.c.ordinal.desc(), of_a_span.c.seq.desc())
        .limit(bindparam("count"))
    )


_CONTEXT_BODIES = HotStatement(_context(messages.c.body))
_CONTEXT_TEXTS = HotStatement(_context(messages.c.kind, messages.c.body))
_CONTEXT_ROWS = HotStatement(_context(*_ROW))
_CONTEXT_SEQS = HotStatement(_context(messages.c.seq))
_LOG_ROWS = HotStatement(
    select(*_ROW)
    .where(
        messages.c.lineage_id == bindparam("lineage"),
        messages.c.seq >= bindparam("first"),
        messages.c.seq <= bindparam("last"),
    )
    .order_by(messages.c.seq)
)
_LAST_ROWS = HotStatement(_context(*_ROW, newest_first=True).limit(bindparam("count")))
_LAST_ROWS_ON_A_SERVER = HotStatement(_last_on_a_server())
# A server takes any number of ids as one value.
_SEQS_OF_CLIENT_IDS = HotStatement(
    select(messages.c.client_id, messages.c.seq).where(
        messages.c.lineage_id == bindparam("lineage"),
        messages.c.client_id == any_(bindparam("ids", type_=ARRAY(Text))),
        messages.c.client_id.is_not(None),
    )
)
_MOST_VARIABLES = 900
"""Bound values in one statement, below the limit of 999 that older SQLite builds have."""


def insert_rows(connection: Connection, lineage_id: str, rows: Sequence[LogRow], *, searchable: Sequence[Searchable]) -> None:
    """Write new rows of the log, in one call, and their words to the search index where there is one; an ``IntegrityError``
    means that a seq or client id is there already."""
    values = [
        {
            "lineage_id": lineage_id,
            "seq": row.seq,
            "generation": row.generation,
            "role": row.role,
            "kind": row.kind,
            "origin_seq": row.origin_seq,
            "client_id": row.client_id,
            "tool_names": names,
            "call_ids": call_ids,
            "created_at": to_micros(row.created_at),
            "body": row.body,
        }
        for row, (names, call_ids) in zip(rows, searchable, strict=True)
    ]
    if values:
        insert_rows_of(connection, messages, values)
        index_rows(connection, lineage_id, rows)


def context_bodies(connection: Connection, lineage_id: str, generation: int) -> list[str]:
    """The JSON texts of a session's context, in order."""
    return [row[0] for row in _CONTEXT_BODIES.rows(connection, lineage=lineage_id, of=generation)]


def context_texts(connection: Connection, lineage_id: str, generation: int) -> list[tuple[Kind, str]]:
    """Kind and JSON text of every row of a session's context, in order."""
    return [(row[0], row[1]) for row in _CONTEXT_TEXTS.rows(connection, lineage=lineage_id, of=generation)]


def context_rows(connection: Connection, lineage_id: str, generation: int) -> list[LogRow]:
    """The rows of a session's context, in order."""
    return [_log_row(row) for row in _CONTEXT_ROWS.rows(connection, lineage=lineage_id, of=generation)]


def context_seqs(connection: Connection, lineage_id: str, generation: int) -> list[int]:
    """The seqs of a session's context, in order, without any body."""
    return [row[0] for row in _CONTEXT_SEQS.rows(connection, lineage=lineage_id, of=generation)]


def context_slice(connection: Connection, lineage_id: str, generation: int, *, offset: int, limit: int) -> list[LogRow]:
    """Part of a session's context, from an index on."""
    statement = _context(*_ROW).offset(offset).limit(limit)
    return [_log_row(row) for row in connection.execute(statement, {"lineage": lineage_id, "of": generation})]


def last_context_rows(connection: Connection, lineage_id: str, generation: int, count: int) -> list[LogRow]:
    """The last rows of a session's context, in order; reads no more rows than it gives."""
    statement = _LAST_ROWS if connection.dialect.name == "sqlite" else _LAST_ROWS_ON_A_SERVER
    rows = [_log_row(row) for row in statement.rows(connection, lineage=lineage_id, of=generation, count=count)]
    rows.reverse()
    return rows


def log_rows(connection: Connection, lineage_id: str, first: int, last: int) -> list[LogRow]:
    """Rows ``first`` to ``last`` of the log, both included, in order."""
    return [_log_row(row) for row in _LOG_ROWS.rows(connection, lineage=lineage_id, first=first, last=last)]


def log_rows_at(connection: Connection, lineage_id: str, seqs: Iterable[int]) -> Iterator[LogRow]:
    """The rows with these seqs, in the order of the log."""
    wanted = sorted(seqs)
    for start in range(0, len(wanted), _MOST_VARIABLES):
        statement = (
            select(*_ROW)
            .where(messages.c.lineage_id == lineage_id, messages.c.seq.in_(wanted[start : start + _MOST_VARIABLES]))
            .order_by(messages.c.seq)
        )
        yield from (_log_row(row) for row in connection.execute(statement))


def context_kinds(connection: Connection, lineage_id: str, generation: int) -> list[tuple[int, Kind]]:
    """Seq and kind of every row of a session's context, in order, without any body."""
    statement = _context(messages.c.seq, messages.c.kind)
    rows = connection.execute(statement, {"lineage": lineage_id, "of": generation})
    return [(row[0], row[1]) for row in rows]


def row_kind(connection: Connection, lineage_id: str, seq: int) -> Kind | None:
    """The kind of one row of the log, None when there is no such row."""
    kind: Kind | None = connection.execute(
        select(messages.c.kind).where(messages.c.lineage_id == lineage_id, messages.c.seq == seq)
    ).scalar()
    return kind


def seqs_of_client_ids(connection: Connection, lineage_id: str, client_ids: Sequence[str]) -> dict[str, int]:
    """Which of these client ids are stored already, and as which seq."""
    if connection.dialect.name != "sqlite":
        rows = _SEQS_OF_CLIENT_IDS.rows(connection, lineage=lineage_id, ids=list(client_ids))
        return {row[0]: row[1] for row in rows}
    found: dict[str, int] = {}
    for start in range(0, len(client_ids), _MOST_VARIABLES):
        part = client_ids[start : start + _MOST_VARIABLES]
        statement = select(messages.c.client_id, messages.c.seq).where(
            messages.c.lineage_id == lineage_id, messages.c.client_id.in_(part), messages.c.client_id.is_not(None)
        )
        found.update((row[0], row[1]) for row in connection.execute(statement))
    return found


def count_rows(connection: Connection, lineage_id: str) -> int:
    """How many rows the log has."""
    statement = select(func.count()).select_from(messages).where(messages.c.lineage_id == lineage_id)
    return int(connection.execute(statement).scalar_one())


def _log_row(row: Sequence[Any]) -> LogRow:
    body = row[5]
    return LogRow(
        seq=row[0],
        kind=row[1],
        role=row[2],
        generation=row[3],
        created_at=from_micros(row[4]),
        message=decode_body(body),
        body=body,
        origin_seq=row[6],
        client_id=row[7],
    )
