"""Rows of ``message_tokens``: cached counts beside the log, so that no row of the log is ever rewritten."""
from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, insert, select

from sessionstore.storage.tables import message_tokens


def cached_tokens(connection: Connection, lineage_id: str, method: str, *, first: int = 0) -> dict[int, int]:
    """Tokens by seq, for the rows from ``first`` on that were counted in that way."""
    statement = select(message_tokens.c.seq, message_tokens.c.tokens).where(
        message_tokens.c.lineage_id == lineage_id, message_tokens.c.method == method, message_tokens.c.seq >= first
    )
    return {row[0]: row[1] for row in connection.execute(statement)}


def store_tokens(connection: Connection, lineage_id: str, method: str, counts: Mapping[int, int]) -> None:
    """Write counts that were missing; what another process wrote meanwhile stays."""
    known = cached_tokens(connection, lineage_id, method, first=min(counts, default=0))
    rows = [
        {"lineage_id": lineage_id, "seq": seq, "method": method, "tokens": tokens}
        for seq, tokens in counts.items()
        if seq not in known
    ]
    if rows:
        connection.execute(insert(message_tokens), rows)
