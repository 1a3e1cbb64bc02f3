"""The least that a durable store can do: JSON text in a table, one transaction a turn, by sqlite3 alone."""
from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from benchmarks.contestants.contestant import Contestant
from benchmarks.payloads import Message


class RawSqlite(Contestant):
    """One connection, one table, the place counted by the caller."""

    def __init__(self) -> None:
        self._next = 0

    def open(self, path: str) -> None:
        """WAL and FULL, as the library has it."""
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=FULL")
        self._connection.execute(
            "CREATE TABLE messages (session TEXT NOT NULL, seq INTEGER NOT NULL, body TEXT NOT NULL, "
            "PRIMARY KEY (session, seq))"
        )
        self._connection.execute("CREATE TABLE sessions (id TEXT PRIMARY KEY, updated REAL NOT NULL, title TEXT)")
        self._connection.execute("CREATE INDEX sessions_updated ON sessions (updated)")

    def append(self, turn: Sequence[Message]) -> None:
        """Encode and insert in one transaction."""
        rows = []
        for message in turn:
            rows.append(("session", self._next, json.dumps(message, ensure_ascii=False, separators=(",", ":"))))
            self._next += 1
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany("INSERT INTO messages VALUES (?, ?, ?)", rows)
        self._connection.execute("COMMIT")

    def fill(self, messages: Sequence[Message]) -> None:
        """All in one transaction."""
        self.append(messages)

    def load(self) -> int:
        """Read and decode everything."""
        rows = self._connection.execute("SELECT body FROM messages WHERE session = 'session' ORDER BY seq").fetchall()
        return len([json.loads(body) for (body,) in rows])

    def last(self, count: int) -> int:
        """Read and decode the end."""
        query = "SELECT body FROM messages WHERE session = 'session' ORDER BY seq DESC LIMIT ?"
        return len([json.loads(body) for (body,) in self._connection.execute(query, (count,)).fetchall()][::-1])

    def make_sessions(self, count: int) -> None:
        """A row each."""
        self._connection.execute("BEGIN IMMEDIATE")
        rows = [(f"session-{number}", float(number), f"Title {number}") for number in range(count)]
        self._connection.executemany("INSERT INTO sessions VALUES (?, ?, ?)", rows)
        self._connection.execute("COMMIT")

    def list_sessions(self, count: int) -> int:
        """The latest first."""
        return len(self._connection.execute("SELECT * FROM sessions ORDER BY updated DESC LIMIT ?", (count,)).fetchall())

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
