"""The task of a lineage: read, and changed by a new version."""
from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection

from sessionstore.domain.closed_sets import AUTOMATIC_ENDS
from sessionstore.domain.task_state import NO_TASK, TaskState, todos_of
from sessionstore.errors import SessionEndedError
from sessionstore.operations.appending import reopen_session
from sessionstore.operations.reading import lineage_of, session_of
from sessionstore.storage.locks import lock_tip
from sessionstore.storage.task_rows import TaskVersion, latest_task, store_task


def task_of(connection: Connection, lineage_id: str) -> TaskState:
    """The newest version; ``NO_TASK`` when there never was a change."""
    lineage_of(connection, lineage_id)
    found = latest_task(connection, lineage_id)
    return NO_TASK if found is None else TaskState(found.version, found.goal, todos_of(found.todos))


def change_task(
    connection: Connection, lineage_id: str, change: Callable[[TaskState], TaskState], *, now: float
) -> TaskState:
    """Store what ``change`` makes of the task as its next version, written by the tip.

    A session that ended by itself is reopened, as by an append. Raises ``SessionEndedError`` when the lineage was closed on
    purpose, which ends its task too, and whatever ``change`` raises.
    """
    lock_tip(connection, lineage_id)
    tip = session_of(connection, lineage_id, lineage_of(connection, lineage_id).tip_generation)
    changed = change(task_of(connection, lineage_id))
    if tip.end_reason in AUTOMATIC_ENDS:
        reopen_session(connection, tip)
    elif tip.end_reason is not None:
        raise SessionEndedError(tip.session_id, end_reason=tip.end_reason)
    todos = [todo.as_dict() for todo in changed.todos]
    store_task(connection, lineage_id, TaskVersion(changed.version, changed.goal, todos, tip.generation, now))
    return changed
