"""Every row of a lineage on its way from one database to another, and a fingerprint that tells whether all of them arrived."""
from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Table, func, select

from sessionstore.storage.bulk import insert_rows_of
from sessionstore.storage.lineage_rows import delete_lineage
from sessionstore.storage.search_rows import index_lineage
from sessionstore.storage.tables import (
    compactions,
    context_spans,
    ledgers,
    lineages,
    memories,
    messages,
    readers,
    sessions,
    system_prompts,
    task_states,
    titles,
)

COPIED: Final = (
    lineages, system_prompts, sessions, messages, context_spans, compactions, ledgers, task_states, memories, readers,
    titles,
)  # fmt: skip
"""The tables that are copied, in an order in which their rows can be written. Cached counts are counted again at need."""

PAGE: Final = 500
"""Rows that are read and written at a time."""

_LEASE: Final = frozenset({"lease_owner", "lease_expires_at"})
_MODULUS: Final = 1 << 256


class Fingerprint(NamedTuple):
    """How many rows there are, and a digest of them that does not depend on the order in which a database gives them."""

    rows: int
    digest: str


def count_lineages(connection: Connection) -> int:
    """How many lineages a database has."""
    return int(connection.execute(select(func.count()).select_from(lineages)).scalar_one())


def fingerprint(connection: Connection, lineage_id: str) -> Fingerprint:
    """What a lineage is by all its rows; 0 rows where there is none of that id."""
    return _fingerprint(page for table in COPIED for page in _named_pages(connection, table, lineage_id))


def log_fingerprint(connection: Connection, lineage_id: str, *, last_seq: int) -> Fingerprint:
    """What a log is up to a row."""
    return _fingerprint(_named_pages(connection, messages, lineage_id, last_seq=last_seq))


def shape_up_to(connection: Connection, lineage_id: str, generation: int) -> list[tuple[Any, ...]]:
    """How a lineage came to a generation: what opened it and each before it, and where in the log."""
    columns = (sessions.c.generation, sessions.c.edge, sessions.c.parent_generation, sessions.c.start_seq)
    statement = select(*columns).where(sessions.c.lineage_id == lineage_id, sessions.c.generation <= generation)
    return [tuple(row) for row in connection.execute(statement.order_by(sessions.c.generation))]


def copy_lineage(source: Connection, target: Connection, lineage_id: str) -> Fingerprint:
    """Write a lineage as the source has it, in the place of what the target has; gives what the target has then.

    Jobs that somebody holds at the source are held by nobody at the target.
    """
    delete_lineage(target, lineage_id)
    for table in COPIED:
        for page in _pages(source, table, lineage_id):
            insert_rows_of(target, table, page)
    index_lineage(target, lineage_id)
    return fingerprint(target, lineage_id)


def _pages(
    connection: Connection, table: Table, lineage_id: str, *, last_seq: int | None = None
) -> Iterator[list[dict[str, Any]]]:
    statement = select(table).where(table.c.lineage_id == lineage_id)
    if last_seq is not None:
        statement = statement.where(table.c.seq <= last_seq)
    statement = statement.order_by(*table.primary_key.columns).execution_options(yield_per=PAGE)
    for part in connection.execute(statement).mappings().partitions():
        yield [{name: None if name in _LEASE else value for name, value in row.items()} for row in part]


def _named_pages(
    connection: Connection, table: Table, lineage_id: str, *, last_seq: int | None = None
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    return ((table.name, page) for page in _pages(connection, table, lineage_id, last_seq=last_seq))


def _fingerprint(pages: Iterator[tuple[str, list[dict[str, Any]]]]) -> Fingerprint:
    count = total = 0
    for name, page in pages:
        for row in page:
            text = json.dumps([name, row], sort_keys=True, separators=(",", ":"))
            total += int.from_bytes(hashlib.sha256(text.encode()).digest())
            count += 1
    return Fingerprint(count, f"{total % _MODULUS:064x}")
