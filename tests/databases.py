"""Databases of each kind for tests that need several: new ones, copies, and a way past the library."""
from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection, create_engine
from sqlalchemy.engine import make_url
from sqlalchemy.pool import NullPool

from tests.postgres_server import PostgresServer


class Databases(Protocol):
    """Where databases of one kind come from."""

    def new(self) -> str:
        """The URL of a database without tables."""

    def copy(self, url: str) -> str:
        """The URL of a copy of a database that nobody writes to."""


class SqliteFiles:
    """SQLite files in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0

    def new(self) -> str:
        """The URL of a file that does not exist yet."""
        self._count += 1
        return f"sqlite:///{self._folder}/{'store' if self._count == 1 else f'store-{self._count}'}.db"

    def copy(self, url: str) -> str:
        """Copy a file with its log of writes."""
        copied = self.new()
        source, target = (Path(str(make_url(one).database)) for one in (url, copied))
        for ending in ("", "-wal"):
            if Path(f"{source}{ending}").exists():
                shutil.copy(f"{source}{ending}", f"{target}{ending}")
        return copied


class PostgresDatabases:
    """Databases of a PostgreSQL server, which go when ``drop`` is called."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self._urls: list[str] = []

    def new(self) -> str:
        """The URL of an empty database."""
        self._urls.append(self._server.new_database())
        return self._urls[-1]

    def copy(self, url: str) -> str:
        """Copy a database, whose other connections are ended first."""
        self._urls.append(self._server.copy_database(url))
        return self._urls[-1]

    def drop(self) -> None:
        """Take away what was made."""
        for url in self._urls:
            self._server.drop_database(url)


@contextmanager
def outside(url: str) -> Iterator[Connection]:
    """A connection past the library, on which nothing has to refer to anything that is there; committed at the end."""
    engine = create_engine(url, poolclass=NullPool)
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
        yield connection
    engine.dispose()
