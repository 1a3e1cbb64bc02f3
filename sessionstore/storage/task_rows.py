"""Rows of ``task_states``: goal and todos of a lineage, a new version a change."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert, select

from sessionstore.storage.tables import task_states
from sessionstore.storage.values import from_json, from_micros, to_json, to_micros


class TaskVersion(NamedTuple):
    """One version of the task state; ``todos`` are ``{"id", "content", "status"}`` in order."""

    version: int
    goal: str | None
    todos: Sequence[dict[str, Any]]
    generation: int
    at: float


def latest_task(connection: Connection, lineage_id: str) -> TaskVersion | None:
    """The newest version, None when the lineage never had a task."""
    statement = select(task_states).where(task_states.c.lineage_id == lineage_id)
    row = connection.execute(statement.order_by(task_states.c.version.desc()).limit(1)).mappings().first()
    if row is None:
        return None
    return TaskVersion(row["version"], row["goal"], from_json(row["todos"]), row["generation"], from_micros(row["at"]))


def store_task(connection: Connection, lineage_id: str, task: TaskVersion) -> None:
    """Write a new version; an ``IntegrityError`` means that another writer made the same one."""
    connection.execute(
        insert(task_states),
        {
            "lineage_id": lineage_id,
            "version": task.version,
            "goal": task.goal,
            "todos": to_json(list(task.todos)),
            "generation": task.generation,
            "at": to_micros(task.at),
        },
    )
