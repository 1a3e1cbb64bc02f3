"""Rows of ``context_spans``: which rows of the log a session's context lists. No row is ever updated."""
from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, func, select

from sessionstore.domain.spans import Span
from sessionstore.storage.bulk import insert_rows_of
from sessionstore.storage.tables import context_spans, sessions


def insert_spans(
    connection: Connection, lineage_id: str, generation: int, spans: Sequence[Span], *, open_from: int
) -> None:
    """Write a new session's context: closed spans, and behind them the open one that its own messages fall into."""
    rows = [
        {"lineage_id": lineage_id, "generation": generation, "ordinal": ordinal, "first_seq": first, "last_seq": last}
        for ordinal, (first, last) in enumerate([*spans, (open_from, None)])
    ]
    insert_rows_of(connection, context_spans, rows)


def spans_of_session(connection: Connection, lineage_id: str, generation: int) -> tuple[Span, ...]:
    """A session's context as closed spans; the open one ends at the last row written so far and is left out while empty."""
    end = func.coalesce(context_spans.c.last_seq, sessions.c.next_seq - 1)
    statement = (
        select(context_spans.c.first_seq, end)
        .join(
            sessions,
            (sessions.c.lineage_id == context_spans.c.lineage_id) & (sessions.c.generation == context_spans.c.generation),
        )
        .where(context_spans.c.lineage_id == lineage_id, context_spans.c.generation == generation)
        .order_by(context_spans.c.ordinal)
    )
    return tuple(Span(first, last) for first, last in connection.execute(statement) if last >= first)


def spans_of_lineage(connection: Connection, lineage_id: str) -> dict[int, list[tuple[int, int | None]]]:
    """The spans of every generation as they are stored: the last of each is open (None)."""
    statement = (
        select(context_spans.c.generation, context_spans.c.first_seq, context_spans.c.last_seq)
        .where(context_spans.c.lineage_id == lineage_id)
        .order_by(context_spans.c.generation, context_spans.c.ordinal)
    )
    spans: dict[int, list[tuple[int, int | None]]] = {}
    for generation, first, last in connection.execute(statement):
        spans.setdefault(generation, []).append((first, last))
    return spans
