"""What a handle on a task can do, each as a flow of steps; the fronts document them for their users."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sessionstore.domain.task_state import TaskState
from sessionstore.operations.environment import Environment
from sessionstore.operations.steps import Steps, read, write
from sessionstore.operations.tasking import change_task, task_of


class TaskFlow:
    """The flows of the task of one lineage."""

    def __init__(self, environment: Environment, lineage_id: str) -> None:
        self.environment = environment
        self.lineage_id = lineage_id

    def state(self) -> Steps[TaskState]:
        """Read the newest version."""
        return read(lambda c: task_of(c, self.lineage_id))

    def goal(self) -> Steps[str | None]:
        """Read the goal."""
        return (yield from self.state()).goal

    def todos(self) -> Steps[list[dict[str, str]]]:
        """Read the todos."""
        return [todo.as_dict() for todo in (yield from self.state()).todos]

    def set_goal(self, goal: str | None) -> Steps[TaskState]:
        """Store another goal."""
        now = self.environment.now()
        return write(lambda c: change_task(c, self.lineage_id, lambda task: task.with_goal(goal), now=now))

    def write_todos(self, todos: Sequence[Mapping[str, Any]]) -> Steps[TaskState]:
        """Store another list of todos."""
        now = self.environment.now()
        return write(lambda c: change_task(c, self.lineage_id, lambda task: task.with_todos(todos), now=now))

    def update_todo(self, todo_id: str | int, status: str, content: str | None) -> Steps[TaskState]:
        """Store one todo in another status."""
        now = self.environment.now()
        return write(
            lambda c: change_task(c, self.lineage_id, lambda task: task.with_todo(todo_id, status, content), now=now)
        )
