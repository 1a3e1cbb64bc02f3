"""Everything that the library sends to a server while a block runs, and what the server would do for it."""
from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, event

from sessionstore import SessionStore


@dataclass(frozen=True)
class Sent:
    """A statement with its parameters. ``alone``: no transaction was begun for it, so it was a round trip by itself."""

    text: str
    parameters: Any
    alone: bool


@contextmanager
def sent_by(store: SessionStore) -> Iterator[list[Sent]]:
    """Every statement, and a ``COMMIT`` for every transaction that was committed."""
    sent: list[Sent] = []
    engine = store._database._engine

    def note(connection: Connection, _cursor: Any, statement: str, parameters: Any, _context: Any, _many: bool) -> None:
        driver: Any = connection.connection.dbapi_connection
        sent.append(Sent(statement, parameters, bool(driver.autocommit)))

    def commit(_connection: Connection) -> None:
        sent.append(Sent("COMMIT", (), False))

    event.listen(engine, "before_cursor_execute", note)
    event.listen(engine, "commit", commit)
    try:
        yield sent
    finally:
        event.remove(engine, "before_cursor_execute", note)
        event.remove(engine, "commit", commit)


def kinds(sent: Sequence[Sent]) -> list[str]:
    """The first word of each statement."""
    return [one.text.split(maxsplit=1)[0] for one in sent]


def plan_of(store: SessionStore, statement: Sent, *, carried_out: bool = False) -> list[Mapping[str, Any]]:
    """The nodes of the server's plan for a statement, its checks of foreign keys apart; with the rows that each gave when it
    was ``carried_out``."""
    how = "ANALYZE, FORMAT JSON" if carried_out else "FORMAT JSON"

    def explain(connection: Connection) -> Any:
        answered = connection.exec_driver_sql(f"EXPLAIN ({how}) {statement.text}", statement.parameters)
        return answered.scalar_one()

    # Written and undone: a query that locks or writes can only be planned where it could run.
    found: list[Any] = []

    class PlannedError(Exception):
        """The plan is there; nothing is to stay."""

    def work(connection: Connection) -> None:
        found.append(explain(connection))
        raise PlannedError

    with suppress(PlannedError):
        store._database.write(work)
    plan = json.loads(found[0]) if isinstance(found[0], str) else found[0]
    nodes: list[Mapping[str, Any]] = []
    waiting = [plan[0]["Plan"]]
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        waiting.extend(node.get("Plans", ()))
    return nodes
