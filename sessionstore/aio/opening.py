"""What opening a store gives before it is open: something to await, or to enter."""
from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar


class Closable(Protocol):
    """What is closed at the end of a block."""

    async def close(self) -> None:
        """Give everything back."""
        ...


Opened = TypeVar("Opened", bound=Closable)


class Opening(Awaitable[Opened], AbstractAsyncContextManager[Opened, None], Generic[Opened]):
    """A store that is opened by ``await``, or by ``async with``, which closes it too."""

    def __init__(self, work: Callable[[], Coroutine[Any, Any, Opened]]) -> None:
        self._work = work
        self._opened: Opened | None = None

    def __await__(self) -> Generator[Any, Any, Opened]:
        return self._work().__await__()

    async def __aenter__(self) -> Opened:
        self._opened = await self._work()
        return self._opened

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._opened is not None:
            await self._opened.close()
