"""The door to a database server: units of work on pooled connections, tried again when the server was away or undid them."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, Literal, TypeVar

from sqlalchemy import Connection, Engine, create_engine, exc
from sqlalchemy.engine import URL

from sessionstore.errors import CommitUnknownError, StoreUnavailableError
from sessionstore.storage.after_fork import forget_when_forked
from sessionstore.storage.retrying import Attempts, CommitLostError, SearchIndexFailedError, is_lost
from sessionstore.storage.server_options import READING, READING_ONCE, WRITING, WRITING_GUARDED, server_options

T = TypeVar("T")


class Server:
    """Runs units of work on a server; see ``Database`` for what is promised."""

    def __init__(self, url: URL, *, busy_timeout: float, durability: Literal["full", "normal"]) -> None:
        options = server_options(url, busy_timeout=busy_timeout, durability=durability)
        self.engine: Final = create_engine(options.url, **options.arguments)
        self.writing_engine: Final = self.engine.execution_options(**WRITING)
        self._guarded = self.engine.execution_options(**WRITING_GUARDED)
        self._url = url.render_as_string(hide_password=True)
        self._patience = busy_timeout
        self._reading = self.engine.execution_options(**READING)
        self._reading_once = self.engine.execution_options(**READING_ONCE) if options.reads_once else self._reading
        self._reached = False
        forget_when_forked(self)

    def read(self, work: Callable[[Connection], T], *, one_query: bool) -> T:
        """Run a unit that only reads."""
        engine = self._reading_once if one_query else self._reading

        def once() -> T:
            with engine.connect() as connection:
                self._reached = True
                return work(connection)

        return self._persist(once, repeatable=True)

    def write(self, work: Callable[[Connection], T], *, repeatable: bool) -> T:
        """Run a unit that writes, and commit it."""
        try:
            return self._write(self.writing_engine, work, repeatable=repeatable)
        except SearchIndexFailedError:
            return self._write(self._guarded, work, repeatable=repeatable)

    def _write(self, engine: Engine, work: Callable[[Connection], T], *, repeatable: bool) -> T:
        def once() -> T:
            with engine.connect() as connection, connection.begin() as transaction:
                self._reached = True
                result = work(connection)
                try:
                    transaction.commit()
                except (exc.DBAPIError, OSError) as error:
                    if is_lost(error):
                        raise CommitLostError from error
                    raise
                return result

        return self._persist(once, repeatable=repeatable)

    def _persist(self, once: Callable[[], T], *, repeatable: bool) -> T:
        if self.engine.dialect.is_async:
            raise StoreUnavailableError(self._url, "its driver is for AsyncSessionStore only; write postgresql+psycopg://…")
        attempts = Attempts(self._patience, repeatable)
        while True:
            try:
                return once()
            except (exc.DBAPIError, OSError, CommitLostError) as error:
                delay = attempts.delay_after(error, reached=self._reached)
                if delay is None:
                    if isinstance(error, CommitLostError):
                        raise CommitUnknownError("the transaction") from error.__cause__
                    raise
                time.sleep(delay)

    def close(self) -> None:
        """Close the pooled connections; a later call opens new ones."""
        self.engine.dispose()

    def before_fork(self) -> None:
        """Nothing: a server's connections may be in two processes as long as one of them leaves them alone."""

    def in_parent(self) -> None:
        """Nothing was stopped."""

    def begin_anew(self) -> object:
        """Forget the pooled connections without touching them; gives what must never be closed in this process."""
        pool = self.engine.pool
        self.engine.dispose(close=False)
        return pool
