"""Connections to a SQLite file, and how they are set up."""
from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any, Final, Literal

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.pool import QueuePool, StaticPool

from sessionstore.storage.file_identity import FileIdentity, refuse_network_file_system
from sessionstore.storage.waiting import wait_for

Durability = Literal["full", "normal"]
"""``full`` syncs every commit to the disk; ``normal`` may lose the last commits at a power cut, never the database."""

PAGE_SIZE: Final = 8_192
"""Bytes of a page of a new file."""

WAL_LIMIT: Final = 8 * 1024 * 1024
"""Bytes to which the write-ahead log is cut when it begins anew; readers that stay long let it grow beyond that meanwhile."""


def is_in_memory(url: URL) -> bool:
    """Whether a URL means a database that lives in its connection."""
    return url.database in (None, "", ":memory:", "file::memory:") or "memory" in url.query.get("mode", "")


def connect_options(busy_timeout: float) -> dict[str, Any]:
    """Options of ``sqlite3.connect`` for a connection of ours."""
    return {"timeout": busy_timeout, "check_same_thread": False, "isolation_level": None}


def sqlite_engine(
    url: URL, durability: Durability, busy_timeout: float, connect: Callable[[], sqlite3.Connection] | None
) -> Engine:
    """An engine for a SQLite database, whose transactions the driver is told to begin by whoever uses it.

    Raises ``StoreUnavailableError`` for a file on a network file system.
    """
    url = url.set(drivername="sqlite")
    in_memory = is_in_memory(url)
    # A memory database lives in its one connection; a file gets one connection a thread that is at work, however many.
    pooled = {"poolclass": QueuePool, "max_overflow": -1}
    engine = create_engine(
        url,
        # A driver's error is not to print what people said.
        hide_parameters=True,
        connect_args=connect_options(busy_timeout),
        **({"poolclass": StaticPool} if in_memory or connect is not None else pooled),
        **({} if connect is None else {"creator": connect}),
    )
    path = None if in_memory else str(engine.dialect.create_connect_args(url)[0][0])
    name = url.render_as_string(hide_password=True)
    if path is not None and connect is None:
        refuse_network_file_system(name, _plain(path))

    @event.listens_for(engine, "connect")
    def configure(connection: sqlite3.Connection, _record: Any) -> None:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = " + {"full": "FULL", "normal": "NORMAL"}[durability])
        if path is not None:
            # A new file only; an older one keeps its pages. At SQLite's own 4,096 a single body of 2 KB fits a page: measured,
            # 2.1 bytes a payload byte against 1.45, and no slower.
            connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
            _switch_to_wal(connection, busy_timeout)
            connection.execute(f"PRAGMA journal_size_limit = {WAL_LIMIT}")

    return engine


def identity_of(engine: Engine) -> FileIdentity | None:
    """The file that an engine's connections are on, None for a memory database."""
    if is_in_memory(engine.url):
        return None
    path = str(engine.dialect.create_connect_args(engine.url)[0][0])
    return FileIdentity(engine.url.render_as_string(hide_password=True), _plain(path))


def _plain(path: str) -> str:
    """The path of a file that is named as ``file:…?mode=ro``."""
    return path.removeprefix("file:").partition("?")[0] if path.startswith("file:") else path


def _switch_to_wal(connection: sqlite3.Connection, busy_timeout: float) -> None:
    """Turn on the write-ahead log. SQLite doesn't apply its busy time-out to this one statement, so the wait is ours."""
    if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        wait_for(lambda: connection.execute("PRAGMA journal_mode = WAL").fetchone(), busy_timeout)
