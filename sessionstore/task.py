"""The task of a conversation: a goal and todos that no compaction can touch, shown to the model every turn."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from sessionstore.domain.task_state import TaskState
from sessionstore.flows.task_flow import TaskFlow
from sessionstore.operations.steps import Steps, drive

T = TypeVar("T")


class Task:
    """The goal and the todos of a lineage, whichever of its generations one holds.

    It is not in the log: ``render()`` shows it in the system prompt, whole, every turn. Each change is a new version. A fork
    begins with a copy. Closing the lineage on purpose ends it: it can be read, and changed again after ``reopen()``.
    """

    def __init__(self, flow: TaskFlow) -> None:
        self._flow = flow

    @property
    def goal(self) -> str | None:
        """The goal as it is now, None when there is none."""
        return self._drive(self._flow.goal())

    @property
    def todos(self) -> list[dict[str, str]]:
        """The todos as they are now, in order, each ``{"id", "content", "status"}``."""
        return self._drive(self._flow.todos())

    def state(self) -> TaskState:
        """Goal, todos and version in one reading; version 0 is a lineage whose task nobody has set."""
        return self._drive(self._flow.state())

    def set_goal(self, goal: str | None) -> TaskState:
        """Say what the conversation is for, in at most 10,000 characters; None takes the goal away.

        Raises ``InvalidTaskError``, or ``SessionEndedError`` when the conversation was closed on purpose.
        """
        return self._drive(self._flow.set_goal(goal))

    def write_todos(self, todos: Sequence[Mapping[str, Any]]) -> TaskState:
        """Replace the whole list of todos, at most 200, each ``{"id", "content", "status"}``.

        An ``id`` is text or a whole number, and unique; ``status`` is ``pending`` (the default), ``in_progress``, ``completed``
        or ``cancelled``. Raises ``InvalidTaskError``, and changes nothing, when one of them is not right.
        """
        return self._drive(self._flow.write_todos(todos))

    def update_todo(self, todo_id: str | int, status: str, content: str | None = None) -> TaskState:
        """Put one todo into another status, and give it other content if that is given. Raises ``InvalidTaskError``."""
        return self._drive(self._flow.update_todo(todo_id, status, content))

    def _drive(self, steps: Steps[T]) -> T:
        return drive(steps, self._flow.environment.database)
