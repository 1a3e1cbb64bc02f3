"""The queue in ``compactions``: peeking at what waits, claiming it by compare-and-set, and what an abandoned job left."""
from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, bindparam, func, or_, select, update

from sessionstore.domain.back_off import LastAttempt
from sessionstore.domain.records import CompactionRecord
from sessionstore.storage.compaction_rows import compaction_record, stored_compaction_value
from sessionstore.storage.hot_statements import HotStatement
from sessionstore.storage.tables import IS_LIVE, compactions
from sessionstore.storage.values import from_micros, to_micros

_DROP = HotStatement(
    update(compactions)
    .where(
        compactions.c.lineage_id == bindparam("lineage"),
        compactions.c.generation == bindparam("of"),
        compactions.c.status == "queued",
    )
    .values(status="interrupted", reason=bindparam("why"), finished_at=bindparam("now"), lease_expires_at=None)
    .returning(compactions.c.generation)
)


def waiting_jobs(connection: Connection, *, now: float, limit: int) -> list[CompactionRecord]:
    """Queued jobs that may begin by now, the oldest first.

    ``lease_expires_at`` of a queued job is the time before which it must not begin.
    """
    statement = (
        select(compactions)
        .where(IS_LIVE, compactions.c.status == "queued")
        .where(or_(compactions.c.lease_expires_at.is_(None), compactions.c.lease_expires_at <= to_micros(now)))
        .order_by(compactions.c.created_at, compactions.c.lineage_id)
        .limit(limit)
    )
    return [compaction_record(row) for row in connection.execute(statement).mappings()]


def expired_jobs(connection: Connection, *, now: float, limit: int) -> list[CompactionRecord]:
    """Running jobs whose lease has run out."""
    statement = (
        select(compactions)
        .where(IS_LIVE, compactions.c.status == "running")
        .where(or_(compactions.c.lease_expires_at.is_(None), compactions.c.lease_expires_at <= to_micros(now)))
        .order_by(compactions.c.created_at, compactions.c.lineage_id)
        .limit(limit)
    )
    return [compaction_record(row) for row in connection.execute(statement).mappings()]


def start_queued(
    connection: Connection, lineage_id: str, job_id: str, *, fencing_token: int, **values: Any
) -> CompactionRecord | None:
    """Make a queued job a running one under the next fencing token, if it is still as it was seen; None when it isn't."""
    return _compare_and_set(
        connection, lineage_id, job_id, seen="queued", fencing_token=fencing_token, status="running", **values
    )


def queue_again(
    connection: Connection, lineage_id: str, job_id: str, *, fencing_token: int
) -> CompactionRecord | None:
    """Make a running job a queued one under the next fencing token, so that who held it can write no more."""
    return _compare_and_set(
        connection,
        lineage_id,
        job_id,
        seen="running",
        fencing_token=fencing_token,
        status="queued",
        lease_owner=None,
        lease_expires_at=None,
        started_at=None,
    )


def drop_queued(connection: Connection, lineage_id: str, generation: int, *, reason: str, now: float) -> None:
    """Settle the job that waits for a session which has ended."""
    _DROP.rows(connection, lineage=lineage_id, of=generation, why=reason, now=to_micros(now))


def highest_fencing_token(connection: Connection, lineage_id: str) -> int:
    """The highest token that a job of the lineage ever had, 0 for none."""
    statement = select(func.max(compactions.c.fencing_token)).where(compactions.c.lineage_id == lineage_id)
    return connection.execute(statement).scalar() or 0


def last_attempt(connection: Connection, lineage_id: str, generation: int, *, broke_off: str) -> LastAttempt | None:
    """How the newest settled job of a session ended; ``broke_off`` is the reason that an exception leaves."""
    statement = (
        select(
            compactions.c.status,
            compactions.c.reason,
            compactions.c.attempts,
            compactions.c.watermark,
            compactions.c.finished_at,
        )
        .where(
            compactions.c.lineage_id == lineage_id,
            compactions.c.generation == generation,
            compactions.c.finished_at.is_not(None),
        )
        .order_by(compactions.c.fencing_token.desc(), compactions.c.created_at.desc())
        .limit(1)
    )
    row = connection.execute(statement).first()
    if row is None:
        return None
    return LastAttempt(
        status=row[0],
        broke_off=row[0] == "interrupted" or row[1] == broke_off,
        attempts=row[2],
        watermark=row[3],
        finished_at=from_micros(row[4]),
    )


def _compare_and_set(
    connection: Connection, lineage_id: str, job_id: str, *, seen: str, fencing_token: int, **values: Any
) -> CompactionRecord | None:
    stored = {name: stored_compaction_value(name, value) for name, value in values.items()}
    changed = connection.execute(
        update(compactions)
        .where(
            compactions.c.lineage_id == lineage_id,
            compactions.c.job_id == job_id,
            compactions.c.fencing_token == fencing_token,
            compactions.c.status == seen,
        )
        .values(fencing_token=fencing_token + 1, **stored)
        .returning(compactions)
    )
    row = changed.mappings().first()
    return None if row is None else compaction_record(row)
