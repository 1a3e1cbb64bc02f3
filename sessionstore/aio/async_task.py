"""The task of a conversation for an event loop."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from sessionstore.aio.documenting import documented_like
from sessionstore.domain.task_state import TaskState
from sessionstore.flows.task_flow import TaskFlow
from sessionstore.operations.async_steps import AsyncDriver
from sessionstore.operations.steps import Steps
from sessionstore.task import Task

T = TypeVar("T")


@documented_like(Task)
class AsyncTask:
    def __init__(self, driver: AsyncDriver, flow: TaskFlow) -> None:
        self._driver = driver
        self._flow = flow

    @property
    @documented_like(Task.goal)
    async def goal(self) -> str | None:
        return await self._drive(self._flow.goal())

    @property
    @documented_like(Task.todos)
    async def todos(self) -> list[dict[str, str]]:
        return await self._drive(self._flow.todos())

    @documented_like(Task.state)
    async def state(self) -> TaskState:
        return await self._drive(self._flow.state())

    @documented_like(Task.set_goal)
    async def set_goal(self, goal: str | None) -> TaskState:
        return await self._drive(self._flow.set_goal(goal))

    @documented_like(Task.write_todos)
    async def write_todos(self, todos: Sequence[Mapping[str, Any]]) -> TaskState:
        return await self._drive(self._flow.write_todos(todos))

    @documented_like(Task.update_todo)
    async def update_todo(self, todo_id: str | int, status: str, content: str | None = None) -> TaskState:
        return await self._drive(self._flow.update_todo(todo_id, status, content))

    async def _drive(self, steps: Steps[T]) -> T:
        return await self._driver.drive(steps)
