"""Work that a cancellation doesn't cut in two: it comes to its end first, and then the caller learns that it was cancelled."""
from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Settled(Generic[T]):
    """What work gave, and the cancellation that reached its caller meanwhile, None when none did."""

    value: T
    cancelled: asyncio.CancelledError | None = None

    def unwrap(self) -> T:
        """The value; raises the cancellation if there was one."""
        if self.cancelled is not None:
            raise self.cancelled
        return self.value


class Unit(Generic[T]):
    """A function on its way through another thread, which keeps what came of it: no cancelled future can lose it.

    An exception that no future can carry (``StopIteration``) is kept like any other.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._results: list[T] = []
        self._error: BaseException | None = None

    def __call__(self) -> None:
        try:
            self._results.append(self._work())
        except BaseException as error:  # noqa: BLE001 - it is raised by result(), where the caller is
            self._error = error

    @property
    def is_done(self) -> bool:
        """Whether the function has come to its end, with a result."""
        return bool(self._results)

    def result(self) -> T:
        """What the function gave; raises what it raised."""
        error, self._error = self._error, None
        if error is None:
            return self._results[0]
        try:
            raise error
        finally:
            del error  # the traceback would hold this frame, and the frame the error


async def outlast(future: asyncio.Future[Any]) -> asyncio.CancelledError | None:
    """Wait until a future is done, however often the caller is cancelled meanwhile; gives the last cancellation."""
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait((future,))
        except asyncio.CancelledError as cancellation:
            cancelled = cancellation
    return cancelled


async def settle(work: Coroutine[Any, Any, T]) -> Settled[T]:
    """Run a coroutine to its end in a task of its own, whatever happens to the caller.

    What it raises is raised; a caller that was cancelled meanwhile gets the cancellation instead, caused by that.
    """
    task = asyncio.ensure_future(work)
    cancelled = await outlast(task)
    try:
        return Settled(task.result(), cancelled)
    except BaseException as error:
        if cancelled is None:
            raise
        raise cancelled from error
