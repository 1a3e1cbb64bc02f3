"""Numbers about a whole database, and conversations by their last activity."""
from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, and_, exists, func, select, text

from sessionstore.domain.keeping import PrunedLineage, StoreStats
from sessionstore.storage.tables import IS_TIP, compactions, lineages, messages, sessions
from sessionstore.storage.values import from_micros, from_micros_or_none, to_micros


def read_stats(connection: Connection) -> StoreStats:
    """Count everything; messages are counted along their key, no body is read."""
    kinds = dict(_pairs(connection, select(messages.c.kind, func.count()).group_by(messages.c.kind)))
    statuses = dict(_pairs(connection, select(compactions.c.status, func.count()).group_by(compactions.c.status)))
    gain = func.sum(compactions.c.tokens_before - compactions.c.tokens_after)
    saved = select(gain).where(compactions.c.status == "committed")
    tips = select(func.count()).select_from(sessions).where(IS_TIP, sessions.c.ended_at.is_(None))
    return StoreStats(
        lineages=connection.execute(select(func.count()).select_from(lineages)).scalar_one(),
        open_lineages=connection.execute(tips).scalar_one(),
        sessions=connection.execute(select(func.count()).select_from(sessions)).scalar_one(),
        messages=kinds.get("message", 0),
        summaries=kinds.get("summary", 0),
        renditions=kinds.get("rendition", 0),
        compactions=dict(sorted(statuses.items())),
        tokens_saved=int(connection.execute(saved).scalar() or 0),
        oldest=from_micros_or_none(connection.execute(select(func.min(lineages.c.created_at))).scalar()),
        last_activity=from_micros_or_none(connection.execute(select(func.max(sessions.c.updated_at))).scalar()),
        bytes=_size(connection),
    )


def quiet_lineages(
    connection: Connection, *, before: float, namespace: str | None, ended_only: bool, limit: int
) -> list[PrunedLineage]:
    """Conversations whose last activity was before a time, the longest quiet first; none in which a compaction runs."""
    running = exists().where(compactions.c.lineage_id == sessions.c.lineage_id, compactions.c.status == "running")
    statement = (
        select(sessions.c.lineage_id, lineages.c.title, sessions.c.updated_at, sessions.c.next_seq)
        .join(
            lineages,
            and_(lineages.c.lineage_id == sessions.c.lineage_id, lineages.c.tip_generation == sessions.c.generation),
        )
        .where(IS_TIP, sessions.c.updated_at < to_micros(before), ~running)
        .order_by(sessions.c.updated_at, sessions.c.lineage_id)
        .limit(limit)
    )
    if namespace is not None:
        statement = statement.where(lineages.c.namespace == namespace)
    if ended_only:
        statement = statement.where(sessions.c.ended_at.is_not(None))
    return [PrunedLineage(row[0], row[1], from_micros(row[2]), row[3]) for row in connection.execute(statement)]


def is_quiet(connection: Connection, lineage_id: str, *, before: float) -> bool:
    """Whether nothing has happened in a conversation since a time, and no compaction runs in it."""
    newest = select(func.max(sessions.c.updated_at)).where(sessions.c.lineage_id == lineage_id)
    running = select(compactions.c.job_id).where(compactions.c.lineage_id == lineage_id, compactions.c.status == "running")
    at = connection.execute(newest).scalar()
    return at is not None and at < to_micros(before) and connection.execute(running).first() is None


def _pairs(connection: Connection, statement: object) -> list[tuple[str, int]]:
    return [(row[0], row[1]) for row in connection.execute(statement)]  # type: ignore[call-overload]  # any two columns


def _size(connection: Connection) -> int:
    if connection.dialect.name != "sqlite":
        return int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one())
    pages = connection.execute(text("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")).scalar_one()
    file = connection.execute(text("SELECT file FROM pragma_database_list WHERE name = 'main'")).scalar()
    log = Path(f"{file}-wal")
    return int(pages) + (log.stat().st_size if file and log.exists() else 0)
