"""Conversations that are worth compacting, and what a test looks at behind the front: rows, statements, query plans."""
from __future__ import annotations

import sqlite3
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


def prepared(store: SessionStore, **given: object) -> list[Message]:
    """Session ``a`` with thirty messages that were counted, so that no later attempt has a count to write."""
    session = store.create_session("a", context_window=WINDOW, **given)  # type: ignore[arg-type]  # whatever the test asks
    said = talk(30)
    session.append(said)
    session.pressure()
    return said


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
def statements(store: SessionStore) -> Iterator[list[str]]:
    """Every statement that a store on SQLite runs while the block runs, in order, with its values written out.

    SQLite itself tells them, so none is missed, whichever way it was sent. One that runs once a row is listed once.
    """
    sent: list[str] = []
    traced: list[sqlite3.Connection] = []

    def note(statement: str) -> None:
        if not sent or statement.partition("(")[0] != sent[-1].partition("(")[0] or not statement.startswith("INSERT"):
            sent.append(statement)

    def trace(connection: sqlite3.Connection, *_: Any) -> None:
        connection.set_trace_callback(note)
        traced.append(connection)

    engine = store._database._engine
    store._database.close()  # so that every connection is a new one
    event.listen(engine, "connect", trace)
    try:
        yield sent
    finally:
        event.remove(engine, "connect", trace)
        for connection in traced:
            connection.set_trace_callback(None)


def sent_work(sent: list[str]) -> list[str]:
    """The statements that read or write the tables of the log.

    Without those that begin and end transactions or set up a connection, and without the search index, which is derived.
    """
    around = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "PRAGMA", "--")
    return [statement for statement in sent if not statement.startswith(around) and "search_" not in statement]


def query_plans(store: SessionStore, sent: list[str]) -> list[str]:
    """SQLite's plan of each query that was sent, its lines joined."""

    def explain(connection: Connection) -> list[str]:
        driver: Any = connection.connection.dbapi_connection
        return [
            "; ".join(row[3] for row in driver.execute(f"EXPLAIN QUERY PLAN {statement}"))
            for statement in sent
            if statement.startswith(("SELECT", "WITH"))
        ]

    return store._database.read(explain)
