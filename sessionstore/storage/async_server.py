"""The door to a database server for an event loop, through SQLAlchemy's async engine."""
from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final, Literal, TypeVar

from sqlalchemy import Connection
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, InvalidRequestError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from sessionstore.errors import CommitUnknownError, StoreUnavailableError
from sessionstore.storage.faults import typed_errors
from sessionstore.storage.retrying import Attempts, CommitLostError, SearchIndexFailedError, is_lost
from sessionstore.storage.server_options import READING, READING_ONCE, WRITING, WRITING_GUARDED, server_options
from sessionstore.storage.settling import Settled, settle

T = TypeVar("T")


class AsyncServer:
    """Runs units of work, written for a sync connection, on pooled async connections; see ``AsyncDatabase``.

    A unit runs in a task of its own, which the cancellation of the caller doesn't reach.
    """

    def __init__(self, url: str, *, busy_timeout: float, durability: Literal["full", "normal"] = "full") -> None:
        parsed = make_url(url)
        self.url: Final = parsed.render_as_string(hide_password=True)
        self.busy_timeout: Final = busy_timeout
        options = server_options(parsed, busy_timeout=busy_timeout, durability=durability)
        try:
            self._engine = create_async_engine(options.url, **options.arguments)
        except InvalidRequestError as error:
            advice = f"its driver {parsed.drivername!r} is not async; write postgresql+psycopg://…"
            raise StoreUnavailableError(self.url, advice) from error
        self._writing = self._engine.execution_options(**WRITING)
        self._guarded = self._engine.execution_options(**WRITING_GUARDED)
        self._reading = self._engine.execution_options(**READING)
        self._reading_once = self._engine.execution_options(**READING_ONCE) if options.reads_once else self._reading
        self._reached = False

    async def settle_read(self, work: Callable[[Connection], T], *, one_query: bool = False) -> Settled[T]:
        """Run a unit of work that only reads."""
        engine = self._reading_once if one_query else self._reading
        return await settle(self._persist(lambda: self._read(engine, work), repeatable=True))

    async def settle_write(self, work: Callable[[Connection], T], *, repeatable: bool = False) -> Settled[T]:
        """Run a unit of work in a transaction that is committed at its end."""
        return await settle(self._write_through(work, repeatable=repeatable))

    async def close(self) -> None:
        """Close the pooled connections; a later call opens new ones."""
        (await settle(self._engine.dispose())).unwrap()

    async def _read(self, engine: AsyncEngine, work: Callable[[Connection], T]) -> T:
        async with engine.connect() as connection:
            self._reached = True
            return await connection.run_sync(work)

    async def _write_through(self, work: Callable[[Connection], T], *, repeatable: bool) -> T:
        try:
            return await self._persist(lambda: self._write(self._writing, work), repeatable=repeatable)
        except SearchIndexFailedError:
            return await self._persist(lambda: self._write(self._guarded, work), repeatable=repeatable)

    async def _write(self, engine: AsyncEngine, work: Callable[[Connection], T]) -> T:
        async with engine.connect() as connection, connection.begin() as transaction:
            self._reached = True
            result = await connection.run_sync(work)
            try:
                await transaction.commit()
            except (DBAPIError, OSError) as error:
                if is_lost(error):
                    raise CommitLostError from error
                raise
            return result

    async def _persist(self, once: Callable[[], Coroutine[Any, Any, T]], *, repeatable: bool) -> T:
        attempts = Attempts(self.busy_timeout, repeatable)
        with typed_errors(self.url, busy_timeout=self.busy_timeout):
            while True:
                try:
                    return await once()
                except (DBAPIError, OSError, CommitLostError) as error:
                    delay = attempts.delay_after(error, reached=self._reached)
                    if delay is None:
                        if isinstance(error, CommitLostError):
                            raise CommitUnknownError("the transaction") from error.__cause__
                        raise
                    await asyncio.sleep(delay)
