"""A thread with a SQLite connection: aiosqlite's, used below its public names, and nowhere else.

Through aiosqlite's own methods each statement is a hop to the thread, and a caller that is cancelled between two of them
leaves its transaction open and the write lock taken. Here a whole unit of work is one hop, which no cancellation can divide.
"""
from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

import aiosqlite

from sessionstore.storage.settling import Settled, Unit, outlast, settle

T = TypeVar("T")


class ConnectionThread:
    """A thread that owns one SQLite connection and runs one function after the other."""

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self._connection = connection

    @classmethod
    async def open(cls, path: str, options: Mapping[str, Any]) -> ConnectionThread:
        """Start a thread and open a connection in it; ``options`` are those of ``sqlite3.connect``."""
        connection = aiosqlite.connect(path, **options)
        # Up to aiosqlite 0.21 the connection is its thread. A program that forgot to close its store ends all the same.
        thread_of: Any = connection
        getattr(thread_of, "_thread", thread_of).daemon = True
        opened = await settle(_opened(connection))
        thread = cls(connection)
        if opened.cancelled is not None:
            await thread.close()
        opened.unwrap()
        return thread

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection, for functions that run in this thread."""
        connection: sqlite3.Connection = self._connection._conn  # noqa: SLF001 - what this file is for
        return connection

    async def run(self, work: Callable[[], T]) -> Settled[T]:
        """Run a function in the thread, in one hop. A cancelled caller comes back when the function is over.

        Raises what the function raised, or the cancellation instead of it.
        """
        unit = Unit(work)
        try:
            await self._hop(unit)
        except asyncio.CancelledError as cancellation:
            await self._catch_up()
            try:
                return Settled(unit.result(), cancellation)
            except BaseException as error:
                raise cancellation from error
        return Settled(unit.result())

    async def close(self) -> None:
        """Close the connection and end the thread, after whatever it still has to run."""
        (await settle(self._connection.close())).unwrap()

    async def _catch_up(self) -> None:
        # Functions run in order: when an empty one is over, so is everything before it.
        await outlast(asyncio.ensure_future(self._hop(_nothing)))

    def _hop(self, function: Callable[[], None]) -> Coroutine[Any, Any, None]:
        execute: Callable[[Callable[[], None]], Coroutine[Any, Any, None]] = self._connection._execute  # noqa: SLF001 - what this file is for
        return execute(function)


async def _opened(connection: aiosqlite.Connection) -> None:
    await connection


def _nothing() -> None:
    pass
