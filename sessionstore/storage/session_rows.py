"""Rows of ``sessions``: the generations of a lineage with their counters."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, RowMapping, Select, and_, bindparam, or_, select, update

from sessionstore.domain.closed_sets import TIERS, Tier
from sessionstore.domain.records import SessionRecord, SessionSummary
from sessionstore.domain.session_ids import display_title, session_id
from sessionstore.storage.bulk import insert_rows_of
from sessionstore.storage.hot_statements import HotStatement
from sessionstore.storage.tables import IS_TIP, lineages, sessions
from sessionstore.storage.values import (
    from_json,
    from_micros,
    from_micros_or_none,
    to_json,
    to_micros,
    to_micros_or_none,
)

_TIMES = frozenset({"started_at", "updated_at", "ended_at"})


def _advancing(*conditions: ColumnElement[bool]) -> HotStatement:
    return HotStatement(
        update(sessions)
        .where(
            sessions.c.lineage_id == bindparam("lineage"),
            sessions.c.generation == bindparam("of"),
            sessions.c.ended_at.is_(None),
            *conditions,
        )
        .values(
            next_seq=sessions.c.next_seq + bindparam("count"),
            flush_cursor=sessions.c.flush_cursor + bindparam("count"),
            tail_digest=bindparam("digest"),
            updated_at=bindparam("now"),
        )
        .returning(sessions.c.next_seq, sessions.c.flush_cursor)
    )


_ADVANCE = _advancing()
_ADVANCE_FROM = _advancing(
    sessions.c.flush_cursor == bindparam("known_cursor"), sessions.c.tail_digest == bindparam("known_digest")
)
_FIND = HotStatement(
    select(sessions).where(sessions.c.lineage_id == bindparam("lineage"), sessions.c.generation == bindparam("of"))
)
_FIND_LOCKED = HotStatement(
    select(sessions)
    .where(sessions.c.lineage_id == bindparam("lineage"), sessions.c.generation == bindparam("of"))
    # Rows that refer to it may be written meanwhile. SQLite has one writer anyway, and no such clause.
    .with_for_update(key_share=True)
)
_COLUMNS = tuple(column.name for column in sessions.c)
_END = HotStatement(
    update(sessions)
    .where(
        sessions.c.lineage_id == bindparam("lineage"),
        sessions.c.generation == bindparam("of"),
        sessions.c.ended_at.is_(None),
    )
    .values(ended_at=bindparam("now"), end_reason=bindparam("reason"))
    .returning(sessions.c.generation)
)


def insert_session(connection: Connection, record: SessionRecord) -> None:
    """Write a new generation; an ``IntegrityError`` means that it, or another continuation of its parent, is there already."""
    insert_rows_of(connection, sessions, [_columns(record)])


def find_session(
    connection: Connection, lineage_id: str, generation: int, *, lock: bool = False
) -> SessionRecord | None:
    """One generation, None when there is none; with ``lock`` nobody adds to it until the transaction ends."""
    rows = (_FIND_LOCKED if lock else _FIND).rows(connection, lineage=lineage_id, of=generation)
    return session_record(dict(zip(_COLUMNS, rows[0], strict=True))) if rows else None


def find_tip(connection: Connection, lineage_id: str) -> SessionRecord | None:
    """The generation that the lineage records as its tip, None when there is no such lineage."""
    statement = (
        select(sessions)
        .join(
            lineages,
            and_(lineages.c.lineage_id == sessions.c.lineage_id, lineages.c.tip_generation == sessions.c.generation),
        )
        .where(sessions.c.lineage_id == lineage_id)
    )
    row = connection.execute(statement).mappings().first()
    return None if row is None else session_record(dict(row))


def sessions_of(connection: Connection, lineage_id: str) -> list[SessionRecord]:
    """Every generation of a lineage, oldest first."""
    statement = select(sessions).where(sessions.c.lineage_id == lineage_id).order_by(sessions.c.generation)
    return [session_record(dict(row)) for row in connection.execute(statement).mappings()]


def advance_session(
    connection: Connection, lineage_id: str, generation: int, *, count: int, tail_digest: str, now: float
) -> tuple[int, int] | None:
    """Take the next ``count`` seqs of an open session and move its cursor along with them.

    Gives (first seq, cursor before), None when the session has ended or isn't there.
    """
    rows = _ADVANCE.rows(
        connection, lineage=lineage_id, of=generation, count=count, digest=tail_digest, now=to_micros(now)
    )
    return (rows[0][0] - count, rows[0][1] - count) if rows else None


def advance_session_from(
    connection: Connection,
    lineage_id: str,
    generation: int,
    *,
    known: tuple[int, str],
    count: int,
    tail_digest: str,
    now: float,
) -> int | None:
    """``advance_session`` for an open session whose cursor and tail digest are still the ``known`` ones.

    Gives the first seq, None when they are not.
    """
    rows = _ADVANCE_FROM.rows(
        connection,
        lineage=lineage_id,
        of=generation,
        count=count,
        digest=tail_digest,
        now=to_micros(now),
        known_cursor=known[0],
        known_digest=known[1],
    )
    return rows[0][0] - count if rows else None


def end_session(connection: Connection, lineage_id: str, generation: int, *, reason: str, now: float) -> bool:
    """Close an open session with its reason; False when it had ended already."""
    return bool(_END.rows(connection, lineage=lineage_id, of=generation, now=to_micros(now), reason=reason))


def change_session(connection: Connection, lineage_id: str, generation: int, **values: Any) -> None:
    """Set columns of one generation; times are seconds, metadata a mapping; a column expression is allowed."""
    stored = {name: _stored_value(name, value) for name, value in values.items()}
    connection.execute(
        update(sessions).where(sessions.c.lineage_id == lineage_id, sessions.c.generation == generation).values(**stored)
    )


def warn_of_tier(connection: Connection, lineage_id: str, generation: int, tier: Tier) -> bool:
    """Record that somebody was told of a tier of an open session; False when that, or a higher one, was told before."""
    told = connection.execute(
        update(sessions)
        .where(
            sessions.c.lineage_id == lineage_id,
            sessions.c.generation == generation,
            sessions.c.ended_at.is_(None),
            sessions.c.warned_tier.in_(TIERS[: TIERS.index(tier)]),
        )
        .values(warned_tier=tier)
    )
    return told.rowcount == 1


def raise_plan_revision(connection: Connection, lineage_id: str, generation: int) -> None:
    """Say that something a compaction plan depends on has changed, so that a plan made before it is not committed."""
    connection.execute(
        update(sessions)
        .where(sessions.c.lineage_id == lineage_id, sessions.c.generation == generation)
        .values(plan_revision=sessions.c.plan_revision + 1)
    )


def add_usage(
    connection: Connection, lineage_id: str, generation: int, *, prompt: int, completion: int, usage_completion: int
) -> None:
    """Store what the provider measured, bound to the session's next seq, and add it to the totals."""
    connection.execute(
        update(sessions)
        .where(sessions.c.lineage_id == lineage_id, sessions.c.generation == generation)
        .values(
            usage_prompt=prompt,
            usage_completion=usage_completion,
            usage_seq=sessions.c.next_seq,
            prompt_tokens_total=sessions.c.prompt_tokens_total + prompt,
            completion_tokens_total=sessions.c.completion_tokens_total + completion,
        )
    )


def list_tips(
    connection: Connection,
    *,
    namespace: str | None = None,
    owner: str | None = None,
    source: str | None = None,
    open_only: bool = False,
    before: tuple[float, str] | None = None,
    limit: int = 50,
) -> list[SessionSummary]:
    """The tips of lineages, latest activity first, after the place that ``before`` names (updated_at, lineage id)."""
    statement = _listing()
    for column, value in ((lineages.c.namespace, namespace), (lineages.c.owner, owner), (lineages.c.source, source)):
        if value is not None:
            statement = statement.where(column == value)
    if open_only:
        statement = statement.where(sessions.c.ended_at.is_(None))
    if before is not None:
        at, lineage_id = to_micros(before[0]), before[1]
        older = sessions.c.updated_at < at
        statement = statement.where(or_(older, and_(sessions.c.updated_at == at, sessions.c.lineage_id < lineage_id)))
    return [_summary(row) for row in connection.execute(statement.limit(limit)).mappings()]


def _listing() -> Select[Any]:
    return (
        select(
            sessions.c.lineage_id,
            sessions.c.generation,
            sessions.c.model,
            sessions.c.flush_cursor,
            sessions.c.next_seq,
            sessions.c.context_tokens,
            sessions.c.updated_at,
            sessions.c.ended_at,
            sessions.c.end_reason,
            lineages.c.title,
            lineages.c.namespace,
            lineages.c.owner,
            lineages.c.source,
            lineages.c.created_at,
        )
        .join(lineages, lineages.c.lineage_id == sessions.c.lineage_id)
        .where(IS_TIP)
        .order_by(sessions.c.updated_at.desc(), sessions.c.lineage_id.desc())
    )


def session_record(row: Mapping[str, Any]) -> SessionRecord:
    """A row of the table as a value."""
    values = dict(row)
    for name in _TIMES:
        values[name] = from_micros_or_none(values[name])
    values["metadata"] = from_json(values["metadata"])
    return SessionRecord(**values)


def _summary(row: RowMapping) -> SessionSummary:
    return SessionSummary(
        session_id=session_id(row["lineage_id"], row["generation"]),
        lineage_id=row["lineage_id"],
        generation=row["generation"],
        title=display_title(row["title"], row["generation"]),
        namespace=row["namespace"],
        owner=row["owner"],
        source=row["source"],
        model=row["model"],
        context_messages=row["flush_cursor"],
        context_tokens=row["context_tokens"],
        log_messages=row["next_seq"],
        started_at=from_micros(row["created_at"]),
        updated_at=from_micros(row["updated_at"]),
        ended_at=from_micros_or_none(row["ended_at"]),
        end_reason=row["end_reason"],
    )


def _columns(record: SessionRecord) -> dict[str, Any]:
    return {column.name: _stored_value(column.name, getattr(record, column.name)) for column in sessions.c}


def _stored_value(name: str, value: Any) -> Any:
    if name in _TIMES:
        return to_micros_or_none(value)
    if isinstance(value, Mapping):
        return to_json(value)
    return value
