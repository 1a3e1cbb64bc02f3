"""Threads with a SQLite connection each, for the units of work of an event loop."""
from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TypeVar

from sessionstore.errors import StoreLockedError
from sessionstore.storage.aiosqlite_thread import ConnectionThread
from sessionstore.storage.engines import Database
from sessionstore.storage.faults import typed_errors
from sessionstore.storage.settling import Settled, settle

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Seat:
    """A thread, and the door to the database through that thread's connection."""

    thread: ConnectionThread
    door: Database

    async def run(self, work: Callable[[Database], T]) -> Settled[T]:
        """Run a function of the door in the thread."""
        return await self.thread.run(lambda: work(self.door))

    async def close(self) -> None:
        """Close the connection and end the thread."""
        await self.thread.run(self.door.close)
        await self.thread.close()


class Seats:
    """At most ``limit`` seats, opened when they are needed; whoever finds none free waits its turn, in the order of asking.

    A seat runs one unit at a time, so a unit never waits behind one that waits for a lock. ``patience`` is how many seconds
    somebody waits for a turn before it gets a ``StoreLockedError``, None for ever.
    """

    def __init__(self, model: Database, *, limit: int, patience: float | None = None) -> None:
        self._model = model
        self._limit = limit
        self._patience = patience
        self._turns = asyncio.Semaphore(limit)
        self._closing = asyncio.Lock()
        self._idle: list[Seat] = []
        self._closed = False

    async def run(self, work: Callable[[Database], T]) -> Settled[T]:
        """Run a unit of work on a free seat. Cancelled while it waits for one, it never begins."""
        await self._take_turn()
        try:
            seat = self._idle.pop() if self._idle else await self._open()
            try:
                return await seat.run(work)
            finally:
                await self._give_back(seat)
        finally:
            self._turns.release()

    async def close(self) -> None:
        """Wait for what is running or was asked for before, then close every connection.

        A later unit opens a connection for itself and closes it at its end.
        """
        self._closed = True
        async with self._closing, AsyncExitStack() as turns:
            for _ in range(self._limit):
                await turns.enter_async_context(self._turns)
            while self._idle:
                (await settle(self._idle.pop().close())).unwrap()

    async def _take_turn(self) -> None:
        if not self._turns.locked():
            await self._turns.acquire()  # it doesn't wait, so it needs no clock
            return
        try:
            async with asyncio.timeout(self._patience):
                await self._turns.acquire()
        except TimeoutError as error:
            raise StoreLockedError(self._model.url, waited=self._model.busy_timeout) from error

    async def _give_back(self, seat: Seat) -> None:
        if self._closed:
            (await settle(seat.close())).unwrap()
        else:
            self._idle.append(seat)

    async def _open(self) -> Seat:
        path, options = self._model.sqlite_arguments()
        with typed_errors(self._model.url, busy_timeout=self._model.busy_timeout):
            thread = await ConnectionThread.open(path, options)
        return Seat(thread, self._model.over(lambda: thread.connection))
