"""The driver of flows for an event loop: what blocks runs in a thread, what is awaitable is awaited on the loop."""
from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from inspect import isawaitable
from typing import Any, Final, TypeVar

from sessionstore.operations.steps import Call, Read, Step, Steps, Write, discard
from sessionstore.storage.async_door import AsyncDatabase
from sessionstore.storage.settling import Settled, Unit

T = TypeVar("T")

MOST_CALLS: Final = 64
"""Calls that may block at the same time: a model that takes a minute must not keep the others' token counts waiting."""


class AsyncDriver:
    """Carries out flows on an event loop, any number at a time."""

    def __init__(self, database: AsyncDatabase) -> None:
        self.database: Final = database
        self._threads: ThreadPoolExecutor | None = None

    async def drive(self, steps: Steps[T]) -> T:
        """Carry out a flow's steps one after the other, and give its result.

        A cancellation never hides from the flow what a step has committed: the flow gets the result, and the cancellation
        instead of its next step, so that it can settle what it began. It is raised in the end, whatever the flow makes of it.
        """
        cancelled: asyncio.CancelledError | None = None
        told = True
        try:
            step = next(steps)
            while True:
                try:
                    if cancelled is not None and not told:
                        told = True
                        raise cancelled
                    settled = await self._carry_out(step)
                except BaseException as error:  # noqa: BLE001 - the flow decides what it means: it settles its job, then raises
                    if isinstance(error, asyncio.CancelledError):
                        cancelled = error
                    step = steps.throw(error)
                else:
                    if settled.cancelled is not None:
                        cancelled, told = settled.cancelled, False
                    step = steps.send(settled.value)
        except StopIteration as stop:
            value: T = stop.value
        except BaseException as error:
            if cancelled is None or error is cancelled:
                raise
            raise cancelled from error
        if cancelled is not None:
            raise cancelled
        return value

    async def close(self) -> None:
        """Wait for the database's work, and let the threads go when their calls are over; a later flow starts new ones."""
        threads, self._threads = self._threads, None
        if threads is not None:
            threads.shutdown(wait=False)
        await self.database.close()

    async def _carry_out(self, step: Step) -> Settled[Any]:
        match step:
            case Read(work, one_query):
                return await self.database.settle_read(work, one_query=one_query)
            case Write(work, repeatable):
                return await self.database.settle_write(work, repeatable=repeatable)
            case Call(work):
                result = await self._call(work)
                return Settled(await result if isawaitable(result) else result)

    async def _call(self, work: Callable[[], Any]) -> Any:
        """Call in a thread, with the caller's context variables. Cancelled, it leaves the call to itself."""
        if self._threads is None:
            self._threads = ThreadPoolExecutor(MOST_CALLS, thread_name_prefix="sessionstore-call")
        unit = _Abandonable(work)
        try:
            await asyncio.get_running_loop().run_in_executor(self._threads, copy_context().run, unit)
        except asyncio.CancelledError:
            unit.abandon()
            raise
        return unit.result()


class _Abandonable(Unit[Any]):
    """A call whose result may come when nobody waits for it any more."""

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__(work)
        self._abandoned = False

    def __call__(self) -> None:
        super().__call__()
        if self._abandoned and self.is_done:
            discard(self.result())

    def abandon(self) -> None:
        """Nobody waits any more: a coroutine that is the result, now or later, is closed."""
        self._abandoned = True
        if self.is_done:
            discard(self.result())
