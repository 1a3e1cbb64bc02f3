"""Conversations that are worth compacting, and what a test looks at behind the front: rows, statements, query plans."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, event, inspect, text

from sessionstore import CompactionPolicy, CompactionResult, Session, SessionStore

Message = dict[str, Any]
Rows = dict[str, list[tuple[Any, ...]]]

SMALL = CompactionPolicy(head_messages=2, tail_messages=4)
"""A policy that compacts a conversation of some thirty messages."""

WINDOW = 8_000
"""Tokens of window that such a conversation is due in."""


def talk(count: int, *, start: int = 0) -> list[Message]:
    """So many messages, requests and answers in turn, no two of them equal."""
    return [
        {"role": "user", "content": f"Request {index}: look at module {index} and say what is wrong. " + "More detail. " * 20}
        if index % 2 == 0
        else {"role": "assistant", "content": f"Answer {index}: I changed src/module_{index}.py. " + "It works now. " * 20}
        for index in range(start, start + count)
    ]


def repetitive(count: int) -> list[Message]:
    """So many messages of which most are equal: what stale-list checks pass by luck without."""
    said = talk(count)
    for index in range(count // 4, count):
        said[index] = {"role": "user", "content": "continue"} if index % 2 == 0 else {"role": "assistant", "content": "ok"}
    return said


def compacted(session: Session, **asked: Any) -> CompactionResult[Session]:
    """Compact a session under the small policy, which must end in a continuation."""
    result = session.compact(policy=asked.pop("policy", SMALL), **asked)
    assert result.status == "committed", result.reason
    return result


def rows_of(store: SessionStore, *, without: frozenset[str] = frozenset()) -> Rows:
    """Every row of every table but the ones named, by table, in an order of their own."""

    def read(connection: Connection) -> Rows:
        names = sorted(set(inspect(connection).get_table_names()) - without)
        return {name: sorted(map(tuple, connection.execute(text(f'SELECT * FROM "{name}"'))), key=repr) for name in names}

    return store._database.read(read)


def counts_of(store: SessionStore) -> Counter[str]:
    """How many rows each table has."""
    return Counter({name: len(rows) for name, rows in rows_of(store).items()})


@contextmanager
def statements(store: SessionStore) -> Iterator[list[tuple[str, Any]]]:
    """Every statement with its parameters that the store sends while the block runs, in order."""
    sent: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, _many: bool) -> None:
        sent.append((statement, parameters))

    engine = store._database._engine
    event.listen(engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(engine, "before_cursor_execute", note)


def sent_work(sent: list[tuple[str, Any]]) -> list[str]:
    """The statements that read or write rows: without those that begin and end transactions or set up a connection."""
    return [statement for statement, _ in sent if not statement.startswith(("BEGIN", "COMMIT", "ROLLBACK", "PRAGMA"))]


def query_plans(store: SessionStore, sent: list[tuple[str, Any]]) -> list[str]:
    """SQLite's plan of each SELECT that was sent, its lines joined. Only SQLite explains itself in these words."""

    def explain(connection: Connection) -> list[str]:
        return [
            "; ".join(row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters))
            for statement, parameters in sent
            if statement.lstrip().startswith(("SELECT", "WITH"))
        ]

    return store._database.read(explain)
