"""What the drivers raise, told in the words of the error family."""
from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy import exc

from sessionstore.errors import SessionStoreError, StoreLockedError, StoreUnavailableError

_ADVICE: Final = {
    "SQLITE_READONLY": "it is read-only; make the file and its folder writable",
    "SQLITE_FULL": "the disk (or the allowed size of the database) is full; free some space, nothing half was written",
    "SQLITE_CORRUPT": "the file is damaged; restore a backup, and look at it with `PRAGMA integrity_check`",
    "SQLITE_NOTADB": "it is not a SQLite database; check the path",
    "SQLITE_CANTOPEN": "the file cannot be opened; check that its folder exists and may be written",
    "SQLITE_IOERR": "the disk reported an error; check the disk, nothing half was written",
    "SQLITE_PERM": "access was denied; check the permissions of the file and its folder",
    "SQLITE_CONSTRAINT_TRIGGER": "a trigger that somebody added to the database refused the write; remove it",
    "SQLITE_TOOBIG": "a value is larger than SQLite can hold (1,000,000,000 bytes); lower max_message_bytes",
}


@contextmanager
def typed_errors(url: str, *, busy_timeout: float) -> Iterator[None]:
    """Raise what a driver reports as ``StoreLockedError`` or ``StoreUnavailableError``; programming errors pass as they are."""
    try:
        yield
    except (exc.DBAPIError, sqlite3.Error) as error:
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
        if isinstance(cause, sqlite3.DatabaseError) and "malformed" in str(cause):
            return StoreUnavailableError(url, _ADVICE["SQLITE_CORRUPT"])
        return None
    if isinstance(error, exc.DBAPIError) and error.connection_invalidated:
        return StoreUnavailableError(url, "the connection to the server was lost; try again")
    if isinstance(error, exc.OperationalError):
        return StoreUnavailableError(url, f"the server does not answer: {cause}")
    return None
