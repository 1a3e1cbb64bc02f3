"""The same door to the database for an event loop: a unit of work is one hop, and a cancelled call settles before it raises."""
from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol, TypeVar

from sqlalchemy import Connection

from sessionstore.storage.async_server import AsyncServer
from sessionstore.storage.engines import DEFAULT_BUSY_TIMEOUT, Database, Durability
from sessionstore.storage.seats import Seats
from sessionstore.storage.settling import Settled

T = TypeVar("T")

READERS: Final = 8
"""Units that read one SQLite file at the same time, at most; each has a thread and a connection, opened at need."""


class AsyncDatabase:
    """What ``Database`` is, for one event loop: ``read`` and ``write`` run a unit of work in a transaction of its own.

    Nothing waits but who must: on SQLite a unit that reads waits for nobody, and those that write, of which a file allows one
    at a time, take turns in the order of asking, up to ``busy_timeout`` seconds. A call that is cancelled comes back when its
    transaction is committed or rolled back, never between, and one that was still waiting for its turn never begins.
    """

    def __init__(
        self, url: str, *, durability: Durability = "full", busy_timeout: float = DEFAULT_BUSY_TIMEOUT
    ) -> None:
        self.sync_door: Final = Database(url, durability=durability, busy_timeout=busy_timeout)
        self.url: Final = self.sync_door.url
        self._door: _Door = (
            _SqliteDoor(self.sync_door)
            if self.sync_door.is_sqlite
            else AsyncServer(url, busy_timeout=busy_timeout, durability=durability)
        )

    async def read(self, work: Callable[[Connection], T], *, one_query: bool = False) -> T:
        """Run a unit of work that only reads, on one consistent snapshot; see ``Database.read``."""
        return (await self.settle_read(work, one_query=one_query)).unwrap()

    async def write(self, work: Callable[[Connection], T], *, repeatable: bool = False) -> T:
        """Run a unit of work that writes; it is committed and durable when this returns. See ``Database.write``."""
        return (await self.settle_write(work, repeatable=repeatable)).unwrap()

    async def settle_read(self, work: Callable[[Connection], T], *, one_query: bool = False) -> Settled[T]:
        """``read`` for a caller that wants the result also when it was cancelled meanwhile."""
        return await self._door.settle_read(work, one_query=one_query)

    async def settle_write(self, work: Callable[[Connection], T], *, repeatable: bool = False) -> Settled[T]:
        """``write`` for a caller that must know what was committed also when it was cancelled meanwhile."""
        return await self._door.settle_write(work, repeatable=repeatable)

    async def close(self) -> None:
        """Wait for what is running, then close every connection; a later call opens new ones."""
        await self._door.close()


class _Door(Protocol):
    async def settle_read(self, work: Callable[[Connection], T], *, one_query: bool) -> Settled[T]: ...

    async def settle_write(self, work: Callable[[Connection], T], *, repeatable: bool) -> Settled[T]: ...

    async def close(self) -> None: ...


class _SqliteDoor:
    """Many readers and one writer, each on a thread of its own; a memory database lives in a single connection."""

    def __init__(self, model: Database) -> None:
        self._model = model
        self._writers = Seats(model, limit=1, patience=model.busy_timeout)
        self._readers = self._writers if model.is_in_memory else Seats(model, limit=READERS)

    async def settle_read(self, work: Callable[[Connection], T], *, one_query: bool) -> Settled[T]:
        return await self._readers.run(lambda door: door.read(work, one_query=one_query))

    async def settle_write(self, work: Callable[[Connection], T], *, repeatable: bool) -> Settled[T]:
        return await self._writers.run(lambda door: door.write(work, repeatable=repeatable))

    async def close(self) -> None:
        await self._readers.close()
        await self._writers.close()
        # Signs of life of a job come from a thread beside the loop, which goes through the sync door.
        self._model.close()
