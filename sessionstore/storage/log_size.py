"""Keeps the write-ahead log of a SQLite file short also beside readers that overlap.

SQLite begins the log anew only at a moment at which nobody reads from it, and by itself never waits for one. Readers that come
and go, always another one before the last has gone, so let it grow without end: measured, 159 MB after 100,000 appends beside
three. Who finds it long waits for such a moment, which comes soon: once all of the log is in the database, newcomers don't
read the log.
"""
from __future__ import annotations

import os
import sqlite3
from typing import Final

LONGEST_LOG: Final = 9 * 1024 * 1024
"""Bytes of the file from which on it is emptied; SQLite's own checkpoints keep it near 8 MB where they can."""

PATIENCE: Final = 0.5
"""Seconds that other writers and this one are kept waiting for readers at most."""

_LEAST_GROWTH: Final = 1024 * 1024
"""Bytes that it grows after an attempt in vain before the next; each time twice as many, since somebody reads for long then."""


class LogSize:
    """The log beside one database file, as one process sees it."""

    def __init__(self, path: str) -> None:
        self._path: Final = f"{path}-wal"
        self._most = LONGEST_LOG

    def keep_short(self, connection: sqlite3.Connection) -> None:
        """Empty the log if it is long, on a connection in no transaction on which SQLite doesn't wait; called after a commit.

        Nothing is raised: what was committed stays committed, and the next writer tries again.
        """
        try:
            size = os.stat(self._path).st_size  # noqa: PTH116 - a tenth of Path's time, and every commit asks
            if size < self._most:
                return
            connection.execute(f"PRAGMA busy_timeout = {int(PATIENCE * 1000)}")
            try:
                busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                connection.execute("PRAGMA busy_timeout = 0")
            self._most = 2 * size - LONGEST_LOG + _LEAST_GROWTH if busy else LONGEST_LOG
        except (OSError, sqlite3.Error):
            return
