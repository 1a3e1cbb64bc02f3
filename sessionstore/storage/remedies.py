"""Carrying out what mends a fault: one change of one row each."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import Connection, Table, delete, insert, update
from sqlalchemy.exc import IntegrityError

from sessionstore.domain.health.finding import Remedy
from sessionstore.storage.ledger_rows import forget_ledger
from sessionstore.storage.tables import compactions, lineages, readers, sessions, titles
from sessionstore.storage.values import to_json, to_micros_or_none

_TABLES: Final[Mapping[str, Table]] = {
    table.name: table for table in (lineages, sessions, compactions, readers, titles)
}
_TIMES: Final = frozenset({"ended_at", "closed_at", "finished_at", "lease_expires_at"})


def apply_remedy(connection: Connection, lineage_id: str, remedy: Remedy) -> None:
    """Change the row that a remedy names; times are seconds, lists become JSON. What a constraint forbids is left undone."""
    try:
        with connection.begin_nested():
            _apply(connection, lineage_id, remedy)
    except IntegrityError:
        return


def _apply(connection: Connection, lineage_id: str, remedy: Remedy) -> None:
    table = _TABLES[remedy.table]
    values = {name: _stored(name, value) for name, value in remedy.values.items()}
    if remedy.action == "add":
        connection.execute(insert(table), {"lineage_id": lineage_id, **remedy.key, **values})
        return
    which = [table.c.lineage_id == lineage_id, *(table.c[name] == value for name, value in remedy.key.items())]
    if remedy.action == "drop":
        connection.execute(delete(table).where(*which))
        return
    changed = connection.execute(update(table).where(*which).values(**values)).rowcount
    if table is compactions and changed:
        # An abandoned job was settled, which opened nothing. One that was committed meanwhile keeps its ledger.
        forget_ledger(connection, lineage_id, remedy.key["job_id"])


def _stored(name: str, value: Any) -> Any:
    if name in _TIMES:
        return to_micros_or_none(value)
    return to_json(value) if isinstance(value, list) else value
