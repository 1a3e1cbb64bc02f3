"""Rows of ``message_tokens``: cached counts beside the log, so that no row of the log is ever rewritten."""
from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, select

from sessionstore.storage.tables import message_tokens
from sessionstore.storage.upserts import insert_missing


def cached_tokens(connection: Connection, lineage_id: str, method: str, *, first: int = 0) -> dict[int, int]:
    """Tokens by seq, for the rows from ``first`` on that were counted in that way."""
    statement = select(message_tokens.c.seq, message_tokens.c.tokens).where(
        message_tokens.c.lineage_id == lineage_id, message_tokens.c.method == method, message_tokens.c.seq >= first
    )
    return {row[0]: row[1] for row in connection.execute(statement)}


def store_tokens(connection: Connection, lineage_id: str, method: str, counts: Mapping[int, int]) -> None:
    """Write counts that were missing; what another process wrote meanwhile stays."""
    # In the order of the key, so that two writers of the same counts wait for each other and not in a circle.
    rows = [
        {"lineage_id": lineage_id, "seq": seq, "method": method, "tokens": counts[seq]} for seq in sorted(counts)
    ]
    insert_missing(connection, message_tokens, rows)
