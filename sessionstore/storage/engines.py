"""One door to the database: a unit of work is a function of a connection, run inside one transaction."""
from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from typing import Any, Final, TypeVar

from sqlalchemy import Connection
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from sessionstore.errors import StoreUnavailableError
from sessionstore.storage.embedded import Embedded
from sessionstore.storage.faults import typed_errors
from sessionstore.storage.file_identity import FileIdentity
from sessionstore.storage.server import Server
from sessionstore.storage.sqlite_engine import Durability, connect_options, is_in_memory

Result = TypeVar("Result")

DEFAULT_BUSY_TIMEOUT: Final = 30.0
"""Seconds that a writer waits for another one before it gets a ``StoreLockedError``."""


class Database:
    """A database behind one door: ``read`` and ``write`` run a unit of work in a transaction of its own.

    A write begins with the write lock held (``BEGIN IMMEDIATE`` on SQLite), so it never fails halfway because another writer
    came first; it waits up to ``busy_timeout`` seconds. What the unit of work raises rolls everything back.

    ``connect`` gives the one SQLite connection that this door is to use, on ``file``; without it the door opens its own.
    """

    def __init__(
        self,
        url: str | URL,
        *,
        durability: Durability = "full",
        busy_timeout: float = DEFAULT_BUSY_TIMEOUT,
        connect: Callable[[], sqlite3.Connection] | None = None,
        file: FileIdentity | None = None,
    ) -> None:
        try:
            parsed = make_url(url)
            self.url: Final = parsed.render_as_string(hide_password=True)
            self.busy_timeout: Final = busy_timeout
            self._parsed = parsed
            self._durability: Durability = durability
            self._door: Embedded | Server = (
                Embedded(parsed, durability=durability, busy_timeout=busy_timeout, connect=connect, file=file)
                if _is_sqlite(parsed)
                else Server(parsed, busy_timeout=busy_timeout, durability=durability)
            )
            self._engine = self._door.engine
        except ArgumentError as error:
            raise StoreUnavailableError(str(url), "this is no database URL; SQLite's look like sqlite:///agent.db") from error
        except ValueError as error:
            advice = "its port is no number; several hosts are written …/database?host=a:5432&host=b:5432"
            raise StoreUnavailableError(_without_password(str(url)), advice) from error
        except ModuleNotFoundError as error:
            advice = f"its driver is not installed ({error.name}); pip install 'sessionstore[postgres]'"
            raise StoreUnavailableError(self.url, advice) from error

    @property
    def is_sqlite(self) -> bool:
        """Whether this is a SQLite file or memory database."""
        return self._engine.dialect.name == "sqlite"

    @property
    def is_in_memory(self) -> bool:
        """Whether this is a SQLite database that lives in one connection and ends with it."""
        return self.is_sqlite and is_in_memory(self._parsed)

    def sqlite_arguments(self) -> tuple[str, dict[str, Any]]:
        """Path and options of ``sqlite3.connect`` for a connection as this door opens them.

        Raises ``StoreUnavailableError`` for a file that is no longer the one that was opened.
        """
        if isinstance(self._door, Embedded) and self._door.file is not None:
            self._door.file.check()
        paths, options = self._engine.dialect.create_connect_args(self._engine.url)
        return str(paths[0]), {**options, **connect_options(self.busy_timeout)}

    def over(self, connect: Callable[[], sqlite3.Connection]) -> Database:
        """The same door over one SQLite connection that somebody else opened with ``sqlite_arguments``."""
        return Database(
            self._parsed,
            durability=self._durability,
            busy_timeout=self.busy_timeout,
            connect=connect,
            file=self._door.file if isinstance(self._door, Embedded) else None,
        )

    def read(self, work: Callable[[Connection], Result], *, one_query: bool = False) -> Result:
        """Run a unit of work that only reads, on one consistent snapshot, without any lock that a writer would wait for.

        With ``one_query`` a server is asked in a single round trip; any further query sees a later state.
        """
        with typed_errors(self.url, busy_timeout=self.busy_timeout):
            return self._door.read(work, one_query=one_query)

    def write(self, work: Callable[[Connection], Result], *, repeatable: bool = False) -> Result:
        """Run a unit of work that writes; it is committed when the function returns, and durable when this does.

        A server may undo a transaction, or be away for a while: the unit is then run again, so it must be a function of the
        connection alone. ``repeatable`` says that doing it twice is as good as once; else a connection that is lost during
        the commit is a ``CommitUnknownError``.
        """
        with typed_errors(self.url, busy_timeout=self.busy_timeout):
            return self._door.write(work, repeatable=repeatable)

    def close(self) -> None:
        """Close every connection; a later call opens new ones."""
        self._door.close()


def _without_password(url: str) -> str:
    return re.sub(r":[^:/@]*@", ":***@", url)


def _is_sqlite(url: URL) -> bool:
    return url.get_backend_name() == "sqlite"


__all__ = ["DEFAULT_BUSY_TIMEOUT", "Database", "Durability"]
