"""Opening the next generation of a lineage: the one transaction behind every compaction, undo and rewind."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from sessionstore.domain.closed_sets import Edge, Kind, Tier
from sessionstore.domain.messages import EncodedMessage, message_digest
from sessionstore.domain.records import LogRow, SessionRecord
from sessionstore.domain.spans import Span, count_of, joined
from sessionstore.domain.tool_columns import tool_columns
from sessionstore.errors import ConflictError
from sessionstore.storage.job_rows import drop_queued
from sessionstore.storage.lineage_rows import move_tip
from sessionstore.storage.message_rows import insert_rows, log_rows
from sessionstore.storage.session_rows import end_session, insert_session
from sessionstore.storage.span_rows import insert_spans


@dataclass(frozen=True, slots=True)
class DerivedRow:
    """A row that a compaction adds to the log: the summary, or a rendition of the row ``origin_seq``."""

    encoded: EncodedMessage
    kind: Kind
    origin_seq: int | None = None


@dataclass(frozen=True, slots=True)
class Metered:
    """Tokens of a new context and how they were counted."""

    tokens: int
    method: str


def open_generation(
    connection: Connection,
    parent: SessionRecord,
    *,
    edge: Edge,
    spans: Sequence[Span],
    derived: Sequence[DerivedRow] = (),
    prompt_digest: str | None,
    now: float,
    basis_generation: int | None = None,
    metered: Metered | None = None,
    warned_tier: Tier = "ok",
) -> SessionRecord:
    """End the tip, write the rows that its successor adds, and open the successor with its whole context.

    ``spans`` are the successor's context; derived rows are numbered from the parent's ``next_seq`` on and must be in them. What
    the parent was given is inherited, measurements of the provider are not. Raises ``ConflictError`` when somebody else
    opened a generation meanwhile.
    """
    first = parent.next_seq
    start = first + len(derived)
    child_generation = parent.generation + 1
    if not end_session(connection, parent.lineage_id, parent.generation, reason=edge, now=now):
        raise ConflictError(parent.session_id, expected=parent.flush_cursor, found=parent.flush_cursor)
    drop_queued(connection, parent.lineage_id, parent.generation, reason=f"its session ended ({edge})", now=now)
    cursor = count_of(spans)
    child = replace(
        parent,
        generation=child_generation,
        parent_generation=parent.generation,
        basis_generation=basis_generation,
        edge=edge,
        system_prompt_digest=prompt_digest,
        flush_cursor=cursor,
        next_seq=start,
        start_seq=start,
        tail_digest=_tail_digest(connection, parent.lineage_id, spans, derived, first),
        plan_revision=0,
        warned_tier=warned_tier,
        usage_prompt=None,
        usage_completion=None,
        usage_seq=None,
        context_tokens=None if metered is None else metered.tokens,
        context_tokens_method=None if metered is None else metered.method,
        context_tokens_seq=None if metered is None else start,
        started_at=now,
        updated_at=now,
        ended_at=None,
        end_reason=None,
    )
    try:
        insert_session(connection, child)
    except IntegrityError as error:
        raise ConflictError(parent.session_id, expected=parent.flush_cursor, found=parent.flush_cursor) from error
    _insert_derived(connection, child, derived, first=first, now=now)
    insert_spans(connection, parent.lineage_id, child_generation, joined(spans), open_from=start)
    if not move_tip(connection, parent.lineage_id, from_generation=parent.generation, to_generation=child_generation):
        raise ConflictError(parent.session_id, expected=parent.flush_cursor, found=parent.flush_cursor)
    return child


def _insert_derived(
    connection: Connection, child: SessionRecord, derived: Sequence[DerivedRow], *, first: int, now: float
) -> None:
    rows = [
        LogRow(
            seq=seq,
            kind=row.kind,
            role=row.encoded.role,
            generation=child.generation,
            created_at=now,
            message=row.encoded.message,
            body=row.encoded.body,
            origin_seq=row.origin_seq,
        )
        for seq, row in enumerate(derived, start=first)
    ]
    insert_rows(connection, child.lineage_id, rows, searchable=[tool_columns(row.message) for row in rows])


def _tail_digest(
    connection: Connection, lineage_id: str, spans: Sequence[Span], derived: Sequence[DerivedRow], first: int
) -> str | None:
    """Digest of the last message of a context, which may be a row that is about to be written."""
    if not spans:
        return None
    last = spans[-1].last
    if last >= first:
        return message_digest(derived[last - first].encoded.message)
    return message_digest(log_rows(connection, lineage_id, last, last)[0].message)
