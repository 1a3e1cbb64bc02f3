"""Rows of ``compactions``: every attempt, from its claim to its recorded end."""
from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import Connection, RowMapping, bindparam, insert, select, update

from sessionstore.domain.records import CompactionRecord
from sessionstore.domain.spans import Span
from sessionstore.storage.hot_statements import HotStatement
from sessionstore.storage.tables import compactions
from sessionstore.storage.values import (
    from_json,
    from_json_or_none,
    from_micros,
    from_micros_or_none,
    to_json,
    to_json_or_none,
    to_micros,
    to_micros_or_none,
)

_TIMES = frozenset({"lease_expires_at", "created_at", "started_at", "finished_at"})
_SPANS = frozenset({"head", "middle", "tail"})
_JSON = frozenset({"policy", "usage", "warnings"})
_HELD = (
    compactions.c.lineage_id == bindparam("lineage"),
    compactions.c.job_id == bindparam("job"),
    compactions.c.fencing_token == bindparam("token"),
    compactions.c.status == "running",
)
_LEASED = compactions.c.lease_expires_at > bindparam("at")
_IS_HELD = HotStatement(select(compactions.c.generation).where(*_HELD, _LEASED).with_for_update(key_share=True))


def insert_compaction(connection: Connection, record: CompactionRecord) -> None:
    """Write a new job; an ``IntegrityError`` on a live one means that another is live for the same session."""
    values = {column.name: stored_compaction_value(column.name, getattr(record, column.name)) for column in compactions.c}
    connection.execute(insert(compactions), values)


def find_compaction(connection: Connection, lineage_id: str, job_id: str) -> CompactionRecord | None:
    """The job of that id, None when there is none."""
    statement = select(compactions).where(compactions.c.lineage_id == lineage_id, compactions.c.job_id == job_id)
    row = connection.execute(statement).mappings().first()
    return None if row is None else compaction_record(row)


def compactions_of(connection: Connection, lineage_id: str) -> list[CompactionRecord]:
    """Every job of a lineage, oldest first."""
    statement = (
        select(compactions)
        .where(compactions.c.lineage_id == lineage_id)
        .order_by(compactions.c.created_at, compactions.c.job_id)
    )
    return [compaction_record(row) for row in connection.execute(statement).mappings()]


def live_compaction(connection: Connection, lineage_id: str, generation: int) -> CompactionRecord | None:
    """The job of a session that is queued or running, None when there is none."""
    statement = select(compactions).where(
        compactions.c.lineage_id == lineage_id,
        compactions.c.generation == generation,
        compactions.c.status.in_(("queued", "running")),
    )
    row = connection.execute(statement).mappings().first()
    return None if row is None else compaction_record(row)


def change_compaction(
    connection: Connection, lineage_id: str, job_id: str, *, fencing_token: int, held_at: float | None = None, **values: Any
) -> bool:
    """Set columns of a running job that is still held under this fencing token; says whether it was.

    With ``held_at`` its lease must reach beyond that time.
    """
    changed = {f"new_{name}": stored_compaction_value(name, value) for name, value in values.items()}
    place = {"lineage": lineage_id, "job": job_id, "token": fencing_token}
    if held_at is not None:
        place["at"] = to_micros(held_at)
    return bool(_changing(tuple(values), held_at is not None).rows(connection, **place, **changed))


@cache
def _changing(names: tuple[str, ...], leased: bool) -> HotStatement:
    return HotStatement(
        update(compactions)
        .where(*_HELD, *([_LEASED] if leased else ()))
        .values({name: bindparam(f"new_{name}") for name in names})
        .returning(compactions.c.generation)
    )


def holds_compaction(connection: Connection, lineage_id: str, job_id: str, *, fencing_token: int, held_at: float) -> bool:
    """Whether a running job is still held under this fencing token, and its lease reaches beyond that time.

    Nobody changes the job until the transaction ends.
    """
    return bool(_IS_HELD.rows(connection, lineage=lineage_id, job=job_id, token=fencing_token, at=to_micros(held_at)))


def compaction_record(row: RowMapping) -> CompactionRecord:
    """A row of the table as a value."""
    values = dict(row)
    values["created_at"] = from_micros(values["created_at"])
    for name in _TIMES - {"created_at"}:
        values[name] = from_micros_or_none(values[name])
    for name in _SPANS:
        values[name] = tuple(Span(first, last) for first, last in from_json(values[name]))
    for name in _JSON:
        values[name] = from_json_or_none(values[name])
    values["warnings"] = tuple(values["warnings"])
    values["degraded"] = bool(values["degraded"])
    return CompactionRecord(**values)


def stored_compaction_value(name: str, value: Any) -> Any:
    """A value of a record as its column holds it."""
    if name == "created_at":
        return to_micros(value)
    if name in _TIMES:
        return to_micros_or_none(value)
    if name in _SPANS:
        return to_json(_pairs(value))
    if name in _JSON:
        return to_json_or_none(value)
    return value


def _pairs(spans: Sequence[Span]) -> list[list[int]]:
    return [[first, last] for first, last in spans]
