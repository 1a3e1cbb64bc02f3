"""Rows of ``memories``: durable facts that a memory flush kept before a compaction."""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, insert, select

from sessionstore.storage.tables import memories
from sessionstore.storage.values import from_json, from_micros, to_json, to_micros


class Memory(NamedTuple):
    """One fact with the seqs it came from and when it was kept (seconds since 1970)."""

    memory_id: str
    fact: str
    source_seqs: tuple[int, ...]
    at: float


def memories_of(connection: Connection, lineage_id: str) -> list[Memory]:
    """The facts of a lineage, oldest first."""
    statement = select(memories).where(memories.c.lineage_id == lineage_id).order_by(memories.c.at, memories.c.memory_id)
    return [
        Memory(row["memory_id"], row["fact"], tuple(from_json(row["source_seqs"])), from_micros(row["at"]))
        for row in connection.execute(statement).mappings()
    ]


def store_memories(connection: Connection, lineage_id: str, facts: Sequence[Memory]) -> int:
    """Write the facts that the lineage does not have yet, by their text; says how many were new."""
    if not facts:
        return 0
    known = {memory.fact for memory in memories_of(connection, lineage_id)}
    rows = []
    for memory in facts:
        if memory.fact not in known:
            known.add(memory.fact)
            rows.append(
                {
                    "lineage_id": lineage_id,
                    "memory_id": memory.memory_id,
                    "fact": memory.fact,
                    "source_seqs": to_json(memory.source_seqs),
                    "at": to_micros(memory.at),
                }
            )
    if rows:
        connection.execute(insert(memories), rows)
    return len(rows)
