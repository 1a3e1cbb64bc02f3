"""Rows of ``lineages``: who a conversation belongs to and where its tip is."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Connection, RowMapping, bindparam, insert, select, update

from sessionstore.domain.records import LineageRecord
from sessionstore.storage.hot_statements import HotStatement
from sessionstore.storage.locks import lock_tip
from sessionstore.storage.search_rows import forget_lineage
from sessionstore.storage.tables import OF_A_LINEAGE, lineages
from sessionstore.storage.title_rows import free_title
from sessionstore.storage.values import (
    from_json,
    from_micros,
    from_micros_or_none,
    to_json,
    to_micros,
    to_micros_or_none,
)

_MOVE = HotStatement(
    update(lineages)
    .where(lineages.c.lineage_id == bindparam("lineage"), lineages.c.tip_generation == bindparam("from_generation"))
    .values(tip_generation=bindparam("to_generation"))
    .returning(lineages.c.tip_generation)
)


def insert_lineage(connection: Connection, record: LineageRecord) -> None:
    """Write a new lineage; an ``IntegrityError`` means that its id is taken."""
    connection.execute(insert(lineages), _columns(record))


def find_lineage(connection: Connection, lineage_id: str) -> LineageRecord | None:
    """The lineage of that id, None when there is none."""
    row = connection.execute(select(lineages).where(lineages.c.lineage_id == lineage_id)).mappings().first()
    return None if row is None else lineage_record(row)


def change_lineage(connection: Connection, lineage_id: str, **values: Any) -> None:
    """Set columns of one lineage; times are seconds, pins a sequence, metadata a mapping."""
    changed = {f"new_{name}": value for name, value in _stored(values).items()}
    _changing(tuple(values)).rows(connection, lineage=lineage_id, **changed)


@cache
def _changing(names: tuple[str, ...]) -> HotStatement:
    return HotStatement(
        update(lineages)
        .where(lineages.c.lineage_id == bindparam("lineage"))
        .values({name: bindparam(f"new_{name}") for name in names})
        .returning(lineages.c.tip_generation)
    )


def move_tip(connection: Connection, lineage_id: str, *, from_generation: int, to_generation: int) -> bool:
    """Make another generation the tip, if the tip is still the one that was expected; says whether it was."""
    return bool(_MOVE.rows(connection, lineage=lineage_id, from_generation=from_generation, to_generation=to_generation))


def delete_lineage(connection: Connection, lineage_id: str) -> bool:
    """Delete a whole lineage with every row that belongs to it; says whether there was one."""
    lock_tip(connection, lineage_id)
    held = connection.execute(select(lineages.c.namespace, lineages.c.title).where(lineages.c.lineage_id == lineage_id)).first()
    forget_lineage(connection, lineage_id)
    deleted = 0
    for table in OF_A_LINEAGE:
        deleted = connection.execute(table.delete().where(table.c.lineage_id == lineage_id)).rowcount
    if held is not None and held[1] is not None:
        free_title(connection, held[0], held[1], lineage_id)
    return deleted > 0


def lineage_record(row: RowMapping) -> LineageRecord:
    """A row of the table as a value."""
    return LineageRecord(
        lineage_id=row["lineage_id"],
        namespace=row["namespace"],
        owner=row["owner"],
        source=row["source"],
        title=row["title"],
        metadata=from_json(row["metadata"]),
        tip_generation=row["tip_generation"],
        pins=tuple(from_json(row["pins"])),
        strikes=row["strikes"],
        strike_seq=row["strike_seq"],
        cooldown_until=from_micros_or_none(row["cooldown_until"]),
        forked_from=row["forked_from"],
        forked_from_seq=row["forked_from_seq"],
        relation=row["relation"],
        created_at=from_micros(row["created_at"]),
        closed_at=from_micros_or_none(row["closed_at"]),
    )


def _columns(record: LineageRecord) -> dict[str, Any]:
    return {
        "lineage_id": record.lineage_id,
        "namespace": record.namespace,
        "owner": record.owner,
        "source": record.source,
        "title": record.title,
        "metadata": to_json(record.metadata),
        "tip_generation": record.tip_generation,
        "pins": to_json(record.pins),
        "strikes": record.strikes,
        "strike_seq": record.strike_seq,
        "cooldown_until": to_micros_or_none(record.cooldown_until),
        "forked_from": record.forked_from,
        "forked_from_seq": record.forked_from_seq,
        "relation": record.relation,
        "created_at": to_micros(record.created_at),
        "closed_at": to_micros_or_none(record.closed_at),
    }


def _stored(values: Mapping[str, Any]) -> dict[str, Any]:
    stored: dict[str, Any] = {}
    for name, value in values.items():
        if name in ("closed_at", "cooldown_until"):
            stored[name] = to_micros_or_none(value)
        elif isinstance(value, Mapping) or (isinstance(value, Sequence) and not isinstance(value, str)):
            stored[name] = to_json(value)
        else:
            stored[name] = value
    return stored
