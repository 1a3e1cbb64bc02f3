"""Waiting for the write lock of a SQLite file so that every writer gets its turn.

SQLite's own handler sleeps longer the longer it has waited, up to a tenth of a second, so newcomers overtake whoever waits: of
eight writers the unluckiest got a third of its share. Here a waiter asks more often the longer it has waited, at random times,
and who writes many times in a row leaves the lock alone now and then: between two writes it is free for less time than a
question takes, so the one that has the processor could have the lock too, to the end of its work.
"""
from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Callable
from typing import Final

LONGEST_PAUSE: Final = 0.008
"""Seconds between two questions of somebody who has just begun to wait; a commit to a disk takes about that."""

SHORTEST_PAUSE: Final = 0.0005
"""The same for somebody who has waited long: often enough to be there when the lock is free, seldom enough to cost little."""

HALVED_AFTER: Final = 0.05
"""Seconds of waiting after which somebody asks twice as often as at first."""


LONGEST_RUN: Final = 0.05
"""Seconds that one connection may write time after time before it leaves the lock to whoever waits."""

GIVEN_WAY: Final = 0.001
"""Seconds for which it does: longer than the shortest pause, so that who has waited long is there meanwhile."""


class WritingTurns:
    """The transactions of one connection that hold the write lock, one after the other."""

    def __init__(self) -> None:
        self._run_began = self._ended = 0.0

    def begin(self, connection: sqlite3.Connection, busy_timeout: float) -> None:
        """Begin a transaction that holds the write lock, waiting for it up to ``busy_timeout`` seconds.

        SQLite itself must not wait on this connection (``PRAGMA busy_timeout = 0``). Raises SQLite's own error when the time
        is over.
        """
        now = time.monotonic()
        had_a_chance = now - self._ended >= GIVEN_WAY
        if not had_a_chance and now - self._run_began >= LONGEST_RUN:
            time.sleep(GIVEN_WAY)
            had_a_chance = True
        waited = wait_for(lambda: connection.execute("BEGIN IMMEDIATE"), busy_timeout)
        if had_a_chance or waited:
            self._run_began = time.monotonic()

    def end(self) -> None:
        """The transaction is over."""
        self._ended = time.monotonic()


def wait_for(attempt: Callable[[], object], busy_timeout: float) -> bool:
    """Try until nobody is in the way, or raise what the last attempt raised; gives whether somebody was."""
    began = time.monotonic()
    waits = False
    while True:
        try:
            attempt()
        except sqlite3.OperationalError as error:
            waited = time.monotonic() - began
            if not is_busy(error) or waited >= busy_timeout:
                raise
            waits = True
            time.sleep(min(pause(waited) * random.uniform(0.5, 1.5), max(busy_timeout - waited, 0.0)))
        else:
            return waits


def pause(waited: float) -> float:
    """Seconds until the next question of somebody who has waited so long."""
    return max(LONGEST_PAUSE / (1.0 + waited / HALVED_AFTER), SHORTEST_PAUSE)


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another connection is in the way, so that the same may do in a moment."""
    return (getattr(error, "sqlite_errorname", None) or "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
