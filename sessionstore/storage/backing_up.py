"""A copy of a SQLite database while others write, compared with the original row by row (LIN-8)."""
from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from itertools import zip_longest
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, text

from sessionstore.domain.keeping import BackupReport
from sessionstore.errors import StoreUnavailableError


def back_up(connection: Connection, target: Path) -> BackupReport:
    """Copy the database as this transaction sees it to a file, which is replaced only once the copy is proved equal.

    Raises ``StoreUnavailableError`` where the engine has its own ways (PostgreSQL: pg_dump), for the database's own file, and
    when the copy is not equal.
    """
    if connection.dialect.name != "sqlite":
        raise StoreUnavailableError(connection.engine.url.render_as_string(), "backup is for SQLite; use pg_dump")
    # The first query of the transaction: from here on the copy and the comparison see one snapshot, however others write.
    connection.execute(text("SELECT count(*) FROM sqlite_master")).scalar()
    source: Any = connection.connection.dbapi_connection
    own = source.execute("SELECT file FROM pragma_database_list WHERE name = 'main'").fetchone()[0]
    if own and target.exists() and target.samefile(own):
        raise StoreUnavailableError(str(target), "it is the database itself; name another file for the backup")
    partial = target.with_name(f"{target.name}.partial")
    partial.unlink(missing_ok=True)
    try:
        with closing(_created(partial, target)) as copy:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
            if copy.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                raise StoreUnavailableError(str(target), "the copy is damaged; the database may be too: run doctor")
            rows = _compare(source, copy, str(target))
        size = partial.stat().st_size
        os.replace(partial, target)  # noqa: PTH105 - its meaning is in its name: whole or not at all
    finally:
        partial.unlink(missing_ok=True)
    return BackupReport(str(target), size, rows)


def _created(partial: Path, target: Path) -> sqlite3.Connection:
    try:
        partial.touch()
    except OSError as error:
        raise StoreUnavailableError(str(target), f"the backup cannot be written: {error.strerror}; check its folder") from error
    return sqlite3.connect(partial)


def _compare(source: sqlite3.Connection, copy: sqlite3.Connection, target: str) -> int:
    """How many rows both have; every one of every table is looked at."""
    listing = "SELECT name, sql FROM sqlite_master ORDER BY type, name"
    if source.execute(listing).fetchall() != copy.execute(listing).fetchall():
        raise StoreUnavailableError(target, "the copy has other tables than the database; it was not kept")
    count = 0
    tables = [row[0] for row in source.execute("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")]
    for table in tables:
        everything = f'SELECT * FROM "{table}"'
        for ours, theirs in zip_longest(source.execute(everything), copy.execute(everything)):
            if ours != theirs:
                raise StoreUnavailableError(target, f"the copy differs from the database in {table}; it was not kept")
            count += 1
    return count
