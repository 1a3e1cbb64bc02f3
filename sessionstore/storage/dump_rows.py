"""Every row of a lineage as plain values, out and in again: what an export with its state is made of."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, Table, Text, and_, func, insert, select

from sessionstore.storage.ledger_rows import store_ledger
from sessionstore.storage.tables import (
    compactions,
    context_spans,
    ledgers,
    lineages,
    memories,
    messages,
    sessions,
    system_prompts,
    task_states,
    titles,
)

DUMPED: Final = {
    table.name: table
    for table in (lineages, system_prompts, sessions, messages, context_spans, compactions, task_states, memories, titles)
}
"""The tables of an export in an order in which their rows can be written. Readers, leases and cached counts stay behind: they
belong to the store, not to the conversation."""

LEDGER: Final = "ledger"
"""What a dumped compaction has beside its own columns: its ledger, which has a table of its own in a database."""

_LEASE: Final = frozenset({"lease_owner", "lease_expires_at"})
_PAGE: Final = 500


def dump_lineage(connection: Connection, lineage_id: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """(table, row) for everything a lineage has, in the order of ``DUMPED``, each table by its key."""
    for name, table in DUMPED.items():
        statement = _rows_of(table).where(table.c.lineage_id == lineage_id).order_by(*_order(connection, table))
        statement = statement.execution_options(yield_per=_PAGE)
        for row in connection.execute(statement).mappings():
            yield name, {key: value for key, value in row.items() if key not in _LEASE}


def _rows_of(table: Table) -> Select[Any]:
    if table is not compactions:
        return select(table)
    beside = and_(ledgers.c.lineage_id == compactions.c.lineage_id, ledgers.c.job_id == compactions.c.job_id)
    return select(table, ledgers.c[LEDGER]).outerjoin(ledgers, beside)


def _order(connection: Connection, table: Table) -> list[ColumnElement[Any]]:
    """The key of a table, compared byte by byte whatever the database's language is, so that equal rows give equal dumps."""
    is_sqlite = connection.dialect.name == "sqlite"
    return [
        column if is_sqlite or not isinstance(column.type, Text) else column.collate("C")
        for column in table.primary_key.columns
        if column is not table.c.lineage_id
    ]


def restore_row(connection: Connection, table: str, row: Mapping[str, Any]) -> None:
    """Write one dumped row as it was; an ``IntegrityError`` means that its key is taken or what it belongs to is missing."""
    values = dict(row)
    ledger = values.pop(LEDGER, None) if table == compactions.name else None
    connection.execute(insert(DUMPED[table]), values)
    if ledger is not None:
        store_ledger(connection, values["lineage_id"], values["job_id"], ledger)


def columns_of(table: str) -> frozenset[str]:
    """The columns that a dumped row of this table has."""
    own = frozenset(column.name for column in DUMPED[table].c) - _LEASE
    return own | {LEDGER} if table == compactions.name else own


def count_dumped(connection: Connection, lineage_id: str) -> int:
    """How many rows a dump of the lineage has."""
    return sum(
        int(
            connection.execute(
                select(func.count()).select_from(table).where(table.c.lineage_id == lineage_id)
            ).scalar_one()
        )
        for table in DUMPED.values()
    )
