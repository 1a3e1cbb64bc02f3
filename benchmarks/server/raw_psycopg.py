"""What anybody would write with psycopg alone to keep conversations, with the same care: a cursor row and a row a message."""
from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import psycopg

from benchmarks.payloads import Message

_TABLES: Final = (
    b"""CREATE TABLE sessions (lineage_id text, generation int, flush_cursor bigint, next_seq bigint, tail_digest text,
    updated_at bigint, PRIMARY KEY (lineage_id, generation))""",
    b"""CREATE TABLE messages (lineage_id text, seq bigint, generation int, role text, kind text, origin_seq bigint,
    client_id text, tool_names text, call_ids text, created_at bigint, body text, PRIMARY KEY (lineage_id, seq),
    FOREIGN KEY (lineage_id, generation) REFERENCES sessions)""",
    b"CREATE UNIQUE INDEX messages_client_id ON messages (lineage_id, client_id) WHERE client_id IS NOT NULL",
    b"CREATE TABLE lines (place bigint PRIMARY KEY, body text)",
)
_COLUMNS: Final = "lineage_id, seq, generation, role, kind, origin_seq, client_id, tool_names, call_ids, created_at, body"
_ADVANCE: Final = (
    b"UPDATE sessions SET flush_cursor = flush_cursor + %s, next_seq = next_seq + %s, tail_digest = %s, updated_at = %s "
    b"WHERE lineage_id = %s AND generation = 1 RETURNING next_seq"
)


class RawPsycopg:
    """One connection. ``append`` does what the library's does; ``append_plainly`` the least that keeps a turn."""

    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(url, autocommit=True)
        for statement in _TABLES:
            self._connection.execute(statement)
        self._lines = 0

    def begin(self, lineage: str) -> None:
        """Begin a conversation."""
        self._connection.execute(b"INSERT INTO sessions VALUES (%s, 1, 0, 0, '', 0)", (lineage,))

    def append(self, lineage: str, turn: Sequence[Message]) -> None:
        """Move the cursor, insert all rows in one statement, commit."""
        now = int(time.time() * 1e6)
        bodies = [_encoded(message) for message in turn]
        with self._connection.transaction():
            found = self._connection.execute(_ADVANCE, (len(turn), len(turn), "digest", now, lineage)).fetchone()
            assert found is not None
            first = found[0] - len(turn)
            row = f"({', '.join(['%s'] * 11)})"
            values: list[Any] = []
            for place, (message, body) in enumerate(zip(turn, bodies, strict=True)):
                values += [lineage, first + place, 1, message["role"], "message", None, None, None, None, now, body]
            statement = f"INSERT INTO messages ({_COLUMNS}) VALUES {', '.join([row] * len(turn))}"
            self._connection.execute(statement.encode(), values)

    def append_plainly(self, turn: Sequence[Message]) -> None:
        """One statement into a table of two columns, in a transaction of its own."""
        values: list[Any] = []
        for message in turn:
            values += [self._lines, _encoded(message)]
            self._lines += 1
        self._connection.execute(f"INSERT INTO lines VALUES {', '.join(['(%s, %s)'] * len(turn))}".encode(), values)

    def fill(self, lineage: str, messages: Sequence[Message]) -> None:
        """COPY, in one transaction."""
        self._copy(lineage, [(message["role"], _encoded(message)) for message in messages])

    def fill_from(self, lineage: str, source: Path) -> None:
        """The same for a file with a message a line."""
        with source.open(encoding="utf-8") as lines:
            self._copy(lineage, [(json.loads(line)["role"], line.rstrip("\n")) for line in lines])

    def _copy(self, lineage: str, rows: Sequence[tuple[str, str]]) -> None:
        now = int(time.time() * 1e6)
        statement = f"COPY messages ({_COLUMNS}) FROM STDIN".encode()
        with self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.execute(_ADVANCE, (len(rows), len(rows), "digest", now, lineage))
            with cursor.copy(statement) as copying:
                for seq, (role, body) in enumerate(rows):
                    copying.write_row((lineage, seq, 1, role, "message", None, None, None, None, now, body))

    def load(self, lineage: str) -> int:
        """Read and decode a conversation."""
        query = b"SELECT body FROM messages WHERE lineage_id = %s ORDER BY seq"
        return len([json.loads(body) for (body,) in self._connection.execute(query, (lineage,)).fetchall()])

    def last(self, lineage: str, count: int) -> int:
        """Read and decode its end."""
        query = b"SELECT body FROM messages WHERE lineage_id = %s ORDER BY seq DESC LIMIT %s"
        rows = self._connection.execute(query, (lineage, count)).fetchall()
        return len([json.loads(body) for (body,) in rows][::-1])

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _encoded(message: Message) -> str:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))
