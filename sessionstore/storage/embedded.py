"""The door to a SQLite database: units of work on connections that stay open between them."""
from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from sqlalchemy import Connection
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError

from sessionstore.errors import StoreLockedError
from sessionstore.storage.after_fork import forget_when_forked
from sessionstore.storage.file_identity import FileIdentity
from sessionstore.storage.log_size import LogSize
from sessionstore.storage.sqlite_engine import Durability, identity_of, is_in_memory, sqlite_engine
from sessionstore.storage.waiting import WritingTurns

T = TypeVar("T")


_LONGEST_WAIT_TO_FORK: Final = 5.0
"""Seconds that a fork waits for units at work; longer ones, waiting for another process's lock say, are not waited for."""

_PAUSE_BEFORE_FORK: Final = 0.001


@dataclass(slots=True)
class _Kept:
    """A connection between two units of work, or in one."""

    connection: Connection
    driver: sqlite3.Connection
    waits_by_itself: bool = True
    """Whether SQLite waits for a lock inside a statement, as it does for who reads; who writes waits in its turns."""
    turns: WritingTurns = field(default_factory=WritingTurns)


class Embedded:
    """Runs units of work on a SQLite database; see ``Database`` for what is promised.

    SQLAlchemy takes more time to check a connection out of its pool and in again than a turn takes to be written, so a
    connection is taken from the pool once and kept. Transactions begin and end by the driver's own words; SQLAlchemy's idea
    of a transaction, which its statements begin by themselves, sends nothing to SQLite.
    """

    def __init__(
        self,
        url: URL,
        *,
        durability: Durability,
        busy_timeout: float,
        connect: Callable[[], sqlite3.Connection] | None,
        file: FileIdentity | None,
    ) -> None:
        self.engine: Final = sqlite_engine(url, durability, busy_timeout, connect)
        self.file: Final = file or identity_of(self.engine)
        self._busy_timeout = busy_timeout
        self._name = url.render_as_string(hide_password=True)
        self._idle: list[_Kept] = []
        self._log = None if self.file is None else LogSize(self.file.path)
        self._has_a_file = not is_in_memory(url) and connect is None
        # A memory database lives in one connection, which threads take in turns.
        self._turn = threading.Lock() if is_in_memory(url) and connect is None else None
        self._whose_turn = 0
        self._at_work: set[int] = set()
        self._open_for_work = threading.Event()
        self._open_for_work.set()
        forget_when_forked(self)

    def read(self, work: Callable[[Connection], T], *, one_query: bool) -> T:  # noqa: ARG002 - a transaction costs nothing here
        """Run a unit that only reads, on one snapshot."""
        return self._read(work) if self._turn is None else self._in_turn(self._turn, self._read, work)

    def write(self, work: Callable[[Connection], T], *, repeatable: bool) -> T:  # noqa: ARG002 - nothing is ever run again
        """Run a unit that writes, and commit it."""
        return self._write(work) if self._turn is None else self._in_turn(self._turn, self._write, work)

    def _in_turn(
        self, turn: threading.Lock, run: Callable[[Callable[[Connection], T]], T], work: Callable[[Connection], T]
    ) -> T:
        """Run a unit on a memory database, alone. Raises ``StoreLockedError`` when this very thread is in one already."""
        me = threading.get_ident()
        if turn.locked() and self._whose_turn == me:
            raise StoreLockedError(self._name, waited=0.0)
        # Nothing can come between taking a lock in this way and giving it back, a signal neither.
        with turn:
            self._whose_turn = me
            return run(work)

    def _read(self, work: Callable[[Connection], T]) -> T:
        kept, idle = self._take()
        try:
            if not kept.waits_by_itself:
                kept.driver.execute(f"PRAGMA busy_timeout = {int(self._busy_timeout * 1000)}")
                kept.waits_by_itself = True
            kept.driver.execute("BEGIN")
            if self.file is not None:
                self.file.check(kept.driver)
            result = work(kept.connection)
            try:
                _end(kept)
            except (sqlite3.Error, DBAPIError):
                # The unit met damage and made something of it, after which SQLite ends nothing in any other way.
                _undo(kept)
        except BaseException as error:
            self._give_up(kept, idle, error)
            raise
        self._keep(kept, idle)
        return result

    def _write(self, work: Callable[[Connection], T]) -> T:
        kept, idle = self._take()
        try:
            if kept.waits_by_itself:
                kept.driver.execute("PRAGMA busy_timeout = 0")
                kept.waits_by_itself = False
            kept.turns.begin(kept.driver, self._busy_timeout)
            if self.file is not None:
                self.file.check(kept.driver)
            result = work(kept.connection)
            _end(kept)
            if self.file is not None:
                # What was committed into a file that is no longer there must not be reported as done.
                self.file.check(kept.driver)
            if self._log is not None:
                self._log.keep_short(kept.driver)
            kept.turns.end()
        except BaseException as error:
            self._give_up(kept, idle, error)
            raise
        self._keep(kept, idle)
        return result

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        idle, self._idle = self._idle, []
        for kept in idle:
            kept.connection.close()
        self.engine.dispose()
        if self.file is not None:
            self.file.forget()

    def before_fork(self) -> None:
        """Let no unit begin, wait for those that are at work in other threads, and close the connections to the file.

        A thread inside SQLite holds locks of the library that no thread of the child would ever give back.
        """
        self._open_for_work.clear()
        until = time.monotonic() + _LONGEST_WAIT_TO_FORK
        while self._at_work - {threading.get_ident()} and time.monotonic() < until:
            time.sleep(_PAUSE_BEFORE_FORK)
        if not self._has_a_file:
            return
        idle, self._idle = self._idle, []
        for kept in idle:
            kept.connection.close()
        self.engine.dispose()

    def in_parent(self) -> None:
        """Let units begin again."""
        self._open_for_work.set()

    def begin_anew(self) -> object:
        """Forget every connection without touching it; gives what must never be closed in this process."""
        idle, self._idle = self._idle, []
        pool = self.engine.pool
        self.engine.dispose(close=False)
        # Whoever held these in the parent isn't here.
        self._turn = None if self._turn is None else threading.Lock()
        self._at_work.clear()
        self._open_for_work = threading.Event()
        self._open_for_work.set()
        return idle, pool

    def _take(self) -> tuple[_Kept, list[_Kept]]:
        """A connection for one unit, and the list that it goes back to."""
        me = threading.get_ident()
        self._at_work.add(me)
        while not self._open_for_work.is_set():
            self._at_work.discard(me)
            self._open_for_work.wait()
            self._at_work.add(me)
        idle = self._idle
        try:
            return idle.pop(), idle
        except IndexError:
            pass  # none is free: one more is opened
        try:
            return self._open(), idle
        except BaseException:
            self._at_work.discard(me)
            raise

    def _give_up(self, kept: _Kept, idle: list[_Kept], error: BaseException) -> None:
        """Leave nothing behind of a unit that failed. Raises ``StoreUnavailableError`` when that was the file's fault."""
        if not isinstance(error, sqlite3.Error | DBAPIError) and _is_undone(kept):
            self._keep(kept, idle)
            return
        try:
            if self.file is not None:
                self.file.check(kept.driver)
        finally:
            # Its state is not worth a guess: the pool undoes what was begun, and closes it if it must.
            kept.connection.close()
            self._at_work.discard(threading.get_ident())

    def _open(self) -> _Kept:
        if self.file is not None:
            # To open a file that is gone would make a new one.
            self.file.check()
        connection = self.engine.connect()
        if self.file is not None:
            self.file.learn()
        driver: Any = connection.connection.dbapi_connection
        return _Kept(connection, driver)

    def _keep(self, kept: _Kept, idle: list[_Kept]) -> None:
        if idle is self._idle:
            idle.append(kept)
        else:
            # The door was closed meanwhile.
            kept.connection.detach()
            kept.connection.close()
        self._at_work.discard(threading.get_ident())


def _end(kept: _Kept) -> None:
    """Commit; for who only read that is the cheapest way out of a transaction."""
    if kept.connection.in_transaction():
        kept.connection.commit()
    kept.driver.commit()


def _is_undone(kept: _Kept) -> bool:
    """Roll back; False when not even that can be done."""
    try:
        _undo(kept)
    except (sqlite3.Error, DBAPIError):
        return False
    return True


def _undo(kept: _Kept) -> None:
    if kept.connection.in_transaction():
        kept.connection.rollback()
    kept.driver.rollback()
