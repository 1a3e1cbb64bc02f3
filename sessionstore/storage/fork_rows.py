"""Copying a lineage's rows under another id, inside the database: no body passes through the program."""
from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Table, and_, exists, insert, literal, null, or_, select

from sessionstore.storage.tables import (
    compactions,
    context_spans,
    ledgers,
    message_tokens,
    messages,
    system_prompts,
    task_states,
)

_LEASE: Final = frozenset({"lease_owner", "lease_expires_at"})


def copy_prompts(connection: Connection, source: str, target: str) -> None:
    """Copy every system prompt."""
    _copy(connection, system_prompts, source, target)


def copy_log(connection: Connection, source: str, target: str, *, last_seq: int) -> None:
    """Copy the log up to a row, with its cached token counts; seqs stay what they are."""
    _copy(connection, messages, source, target, messages.c.seq <= last_seq)
    _copy(connection, message_tokens, source, target, message_tokens.c.seq <= last_seq)


def copy_spans(connection: Connection, source: str, target: str, *, before_generation: int) -> None:
    """Copy the contexts of the generations below one."""
    _copy(connection, context_spans, source, target, context_spans.c.generation < before_generation)


def copy_compactions(connection: Connection, source: str, target: str, *, last_generation: int, last_seq: int) -> None:
    """Copy every attempt that ended, as far as it had seen no later row and opened no later generation, with its ledger."""
    wanted = and_(
        compactions.c.generation <= last_generation,
        compactions.c.status.not_in(("queued", "running")),
        or_(compactions.c.opened_generation.is_(None), compactions.c.opened_generation <= last_generation),
        or_(compactions.c.watermark.is_(None), compactions.c.watermark <= last_seq),
    )
    _copy(connection, compactions, source, target, wanted)
    of_one = exists().where(
        compactions.c.lineage_id == ledgers.c.lineage_id, compactions.c.job_id == ledgers.c.job_id, wanted
    )
    _copy(connection, ledgers, source, target, of_one)


def copy_task(connection: Connection, source: str, target: str, *, last_generation: int) -> None:
    """Copy the versions of the task that the generations up to one wrote."""
    _copy(connection, task_states, source, target, task_states.c.generation <= last_generation)


def _copy(
    connection: Connection, table: Table, source: str, target: str, condition: ColumnElement[bool] | None = None
) -> None:
    columns = [column.name for column in table.c]
    changed: dict[str, Any] = {"lineage_id": literal(target), **dict.fromkeys(_LEASE, null())}
    wanted = select(*(changed.get(column.name, column) for column in table.c)).where(table.c.lineage_id == source)
    if condition is not None:
        wanted = wanted.where(condition)
    connection.execute(insert(table).from_select(columns, wanted))
