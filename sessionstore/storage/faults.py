"""What the drivers raise, told in the words of the error family."""
from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy import exc

from sessionstore.errors import SchemaError, SessionStoreError, StoreLockedError, StoreUnavailableError
from sessionstore.storage.retrying import COLLIDED, is_lost, sqlstate_of

_ADVICE: Final = {
    "SQLITE_READONLY": "it is read-only; make the file, those beside it (-wal, -shm) and its folder writable",
    "SQLITE_FULL": "the disk (or the allowed size of the database) is full; free some space, nothing half was written",
    "SQLITE_CORRUPT": "the file is damaged; restore a backup, and look at it with `PRAGMA integrity_check`",
    "SQLITE_NOTADB": "it is not a SQLite database; check the path",
    "SQLITE_CANTOPEN": "the file cannot be opened; check that its folder exists and may be written",
    "SQLITE_IOERR": "the disk reported an error; check the disk, nothing half was written",
    "SQLITE_PERM": "access was denied; check the permissions of the file and its folder",
    "SQLITE_CONSTRAINT_TRIGGER": "a trigger that somebody added to the database refused the write; remove it",
    "SQLITE_TOOBIG": "a value is larger than SQLite can hold (1,000,000,000 bytes); lower max_message_bytes",
}

_STANDBY: Final = "name all hosts in the URL with target_session_attrs=read-write"
_SERVER_ADVICE: Final = {
    "25006": f"it takes no writes (is it a standby?); {_STANDBY}",
    "0A000": f"it doesn't do that; if it is a standby, {_STANDBY}",
    "28": "access was denied; check user and password",
    "3D": "there is no database of that name; create it first",
    "42501": "access was denied; the role needs the right to create and use tables",
    "53": "the server has run out of a resource; look at its log",
    "54": "a value is larger than PostgreSQL can hold; lower max_message_bytes",
    "P0001": "a trigger that somebody added to the database refused the write; remove it",
    "58": "the server's disk reported an error; look at its log",
    "XX": "the server reported damage; look at its log",
}
"""What to do, by the beginning of PostgreSQL's code for what happened."""

_LOCK_TIMEOUT: Final = "55P03"
_UNKNOWN_NAME: Final = frozenset({"42703", "42P01"})
"""A column or a table is not there."""


@contextmanager
def typed_errors(url: str, *, busy_timeout: float) -> Iterator[None]:
    """Raise what a driver reports as ``StoreLockedError`` or ``StoreUnavailableError``; programming errors pass as they are."""
    try:
        yield
    except (exc.DBAPIError, exc.TimeoutError, sqlite3.Error, OSError) as error:
        typed = typed_error(error, url, busy_timeout=busy_timeout)
        if typed is None:
            raise
        raise typed from error


def typed_error(error: BaseException, url: str, *, busy_timeout: float) -> SessionStoreError | None:
    """The error of the family that a driver's error means, None when it means none of them."""
    cause = error.orig if isinstance(error, exc.DBAPIError) else error
    if isinstance(cause, sqlite3.Error):
        name = getattr(cause, "sqlite_errorname", None) or ""
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return StoreLockedError(url, waited=busy_timeout)
        for prefix, advice in _ADVICE.items():
            if name.startswith(prefix):
                return StoreUnavailableError(url, advice)
        if str(cause).startswith(("no such column", "no such table")) or "has no column named" in str(cause):
            return _other_schema(cause)
        if isinstance(cause, sqlite3.DatabaseError) and "malformed" in str(cause):
            return StoreUnavailableError(url, _ADVICE["SQLITE_CORRUPT"])
        return None
    if isinstance(error, OSError) and url.startswith("sqlite"):
        return None
    return _server_error(error, cause, url, busy_timeout=busy_timeout)


def _server_error(
    error: BaseException, cause: BaseException | None, url: str, *, busy_timeout: float
) -> SessionStoreError | None:
    state = sqlstate_of(error) or ""
    if state in _UNKNOWN_NAME:
        return _other_schema(cause)
    if state == _LOCK_TIMEOUT or state in COLLIDED:
        return StoreLockedError(url, waited=busy_timeout)
    if isinstance(error, exc.TimeoutError):
        return StoreUnavailableError(url, "every connection of the pool is at work; ask for fewer things at once")
    for prefix, advice in _SERVER_ADVICE.items():
        if state.startswith(prefix):
            return StoreUnavailableError(url, f"{advice} ({_first_line(cause)})")
    if is_lost(error) or isinstance(error, exc.OperationalError):
        return StoreUnavailableError(url, f"the server does not answer: {_first_line(cause)}")
    return None


def _other_schema(cause: BaseException | None) -> SchemaError:
    return SchemaError(
        f"the database has not the tables that this version of sessionstore knows ({_first_line(cause)}); a newer version may "
        "have upgraded it meanwhile: upgrade sessionstore here too, and open the store again"
    )


def _first_line(cause: BaseException | None) -> str:
    return next(iter(str(cause).splitlines()), "")
