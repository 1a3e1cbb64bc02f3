"""Open sessions with their counters, page by page along the index of tips, without any message."""
from __future__ import annotations

from sqlalchemy import Connection, and_, func, or_, select

from sessionstore.domain.hygiene import Gauge
from sessionstore.storage.tables import IS_TIP, lineages, sessions, system_prompts
from sessionstore.storage.values import from_micros, from_micros_or_none, to_micros


def open_gauges(connection: Connection, after: tuple[float, str] | None, *, limit: int) -> list[Gauge]:
    """A page of open sessions whose window is known, the longest quiet first, after the place (updated_at, lineage id)."""
    statement = (
        select(
            sessions.c.lineage_id,
            sessions.c.generation,
            sessions.c.context_window,
            sessions.c.flush_cursor,
            sessions.c.next_seq,
            sessions.c.context_tokens,
            sessions.c.context_tokens_method,
            sessions.c.context_tokens_seq,
            sessions.c.usage_prompt + func.coalesce(sessions.c.usage_completion, 0),
            sessions.c.tool_schema_tokens,
            func.coalesce(func.length(system_prompts.c.text), 0),
            sessions.c.updated_at,
            lineages.c.cooldown_until,
        )
        .join(lineages, lineages.c.lineage_id == sessions.c.lineage_id)
        .outerjoin(
            system_prompts,
            and_(
                system_prompts.c.lineage_id == sessions.c.lineage_id,
                system_prompts.c.digest == sessions.c.system_prompt_digest,
            ),
        )
        .where(IS_TIP, sessions.c.ended_at.is_(None), sessions.c.context_window.is_not(None))
        .order_by(sessions.c.updated_at, sessions.c.lineage_id)
        .limit(limit)
    )
    if after is not None:
        at, lineage_id = to_micros(after[0]), after[1]
        later = sessions.c.updated_at > at
        statement = statement.where(or_(later, and_(sessions.c.updated_at == at, sessions.c.lineage_id > lineage_id)))
    found = ([*row[:11], from_micros(row[11]), from_micros_or_none(row[12])] for row in connection.execute(statement))
    return [Gauge(*values) for values in found]
