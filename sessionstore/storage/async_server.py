"""The door to a database server for an event loop, through SQLAlchemy's async engine."""
from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from sqlalchemy import Connection
from sqlalchemy.engine import make_url
from sqlalchemy.exc import InvalidRequestError
from sqlalchemy.ext.asyncio import create_async_engine

from sessionstore.errors import StoreUnavailableError
from sessionstore.storage.faults import typed_errors
from sessionstore.storage.settling import Settled, settle

T = TypeVar("T")


class AsyncServer:
    """Runs units of work, written for a sync connection, on pooled async connections; see ``AsyncDatabase``.

    A unit runs in a task of its own, which the cancellation of the caller doesn't reach.
    """

    def __init__(self, url: str, *, busy_timeout: float) -> None:
        parsed = make_url(url)
        self.url: Final = parsed.render_as_string(hide_password=True)
        self.busy_timeout: Final = busy_timeout
        try:
            self._engine = create_async_engine(parsed)
        except InvalidRequestError as error:
            advice = f"its driver {parsed.drivername!r} is not async; write postgresql+psycopg://…"
            raise StoreUnavailableError(self.url, advice) from error
        self._writing_engine = self._engine.execution_options(immediate=True)

    async def settle_read(self, work: Callable[[Connection], T]) -> Settled[T]:
        """Run a unit of work that only reads."""
        return await settle(self._read(work))

    async def settle_write(self, work: Callable[[Connection], T]) -> Settled[T]:
        """Run a unit of work in a transaction that is committed at its end."""
        return await settle(self._write(work))

    async def close(self) -> None:
        """Close the pooled connections; a later call opens new ones."""
        (await settle(self._engine.dispose())).unwrap()

    async def _read(self, work: Callable[[Connection], T]) -> T:
        with typed_errors(self.url, busy_timeout=self.busy_timeout):
            async with self._engine.connect() as connection:
                return await connection.run_sync(work)

    async def _write(self, work: Callable[[Connection], T]) -> T:
        with typed_errors(self.url, busy_timeout=self.busy_timeout):
            async with self._writing_engine.begin() as connection:
                return await connection.run_sync(work)
