"""A fork: a copy of a lineage up to a row, under an id of its own, which stands alone from then on."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from sessionstore.domain.messages import message_digest
from sessionstore.domain.records import LineageRecord, SessionRecord
from sessionstore.domain.spans import Span, count_of, cut_after, holds
from sessionstore.errors import InvalidTargetError, SessionExistsError
from sessionstore.operations.creating import NewSession, claim_title
from sessionstore.operations.reading import LAST_SEQ, lineage_of
from sessionstore.storage.fork_rows import copy_compactions, copy_log, copy_prompts, copy_spans, copy_task
from sessionstore.storage.lineage_rows import find_lineage, insert_lineage
from sessionstore.storage.locks import lock_tip
from sessionstore.storage.memory_rows import memories_of, store_memories
from sessionstore.storage.message_rows import log_rows, row_kind
from sessionstore.storage.session_rows import insert_session, sessions_of
from sessionstore.storage.span_rows import insert_spans, spans_of_session


@dataclass(frozen=True, slots=True)
class _Cut:
    """Where the copy ends: the generation that becomes its tip, that one's context, and the last row."""

    generation: int
    spans: tuple[Span, ...]
    last_seq: int
    is_whole: bool


def fork(
    connection: Connection,
    lineage_id: str,
    new_id: str,
    *,
    at_seq: int | None,
    title: str | None,
    now: float,
) -> SessionRecord:
    """Copy a lineage up to and including a row, by default all of it, and give the copy's tip, which is open.

    The copy's tip is the newest generation that was there by then and has the row in its context, cut after it. What is shared
    by the lineage comes along: owner, metadata, prompts, pins, task, memories. Without a ``title`` it gets the original's with
    a free number. Raises ``InvalidTargetError`` for a row that no such context holds, ``SessionExistsError``,
    ``TitleTakenError``.
    """
    lock_tip(connection, lineage_id)
    original = lineage_of(connection, lineage_id)
    generations = sessions_of(connection, lineage_id)
    cut = _cut_at(connection, original, generations, at_seq)
    if find_lineage(connection, new_id) is not None:
        raise SessionExistsError(new_id)
    new_title = claim_title(
        connection,
        NewSession(
            lineage_id=new_id, namespace=original.namespace, title=title or original.title, title_is_automatic=title is None
        ),
    )
    try:
        insert_lineage(connection, _lineage(original, new_id, new_title, cut, now))
    except IntegrityError as error:
        raise SessionExistsError(new_id) from error
    copy_prompts(connection, lineage_id, new_id)
    for session in generations:
        if session.generation < cut.generation:
            insert_session(connection, replace(session, lineage_id=new_id))
    tip = _tip(connection, next(one for one in generations if one.generation == cut.generation), new_id, cut, now)
    insert_session(connection, tip)
    copy_log(connection, lineage_id, new_id, last_seq=cut.last_seq)
    copy_spans(connection, lineage_id, new_id, before_generation=cut.generation)
    insert_spans(connection, new_id, tip.generation, _closed(cut.spans, tip.start_seq), open_from=tip.start_seq)
    copy_compactions(connection, lineage_id, new_id, last_generation=cut.generation, last_seq=cut.last_seq)
    copy_task(connection, lineage_id, new_id, last_generation=cut.generation)
    kept = [memory for memory in memories_of(connection, lineage_id) if max(memory.source_seqs, default=-1) <= cut.last_seq]
    store_memories(connection, new_id, kept)
    return tip


def _cut_at(
    connection: Connection, original: LineageRecord, generations: Sequence[SessionRecord], at_seq: int | None
) -> _Cut:
    tip = next(session for session in generations if session.generation == original.tip_generation)
    if at_seq is None:
        spans = spans_of_session(connection, original.lineage_id, tip.generation)
        return _Cut(tip.generation, spans, tip.next_seq - 1, True)
    if not 0 <= at_seq <= LAST_SEQ or row_kind(connection, original.lineage_id, at_seq) is None:
        raise InvalidTargetError(tip.session_id, f"the log has no #{at_seq} to fork at", seq=at_seq)
    for session in reversed(generations):
        # A generation that began with rows behind this one was not there yet.
        if session.start_seq <= at_seq + 1:
            spans = spans_of_session(connection, original.lineage_id, session.generation)
            if holds(spans, at_seq):
                cut = cut_after(spans, at_seq)
                whole = session.generation == tip.generation and at_seq == tip.next_seq - 1 and cut == spans
                return _Cut(session.generation, cut, at_seq, whole)
    raise InvalidTargetError(tip.session_id, f"#{at_seq} is in no context that was there when it was written", seq=at_seq)


def _closed(spans: Sequence[Span], start_seq: int) -> Sequence[Span]:
    """The spans of a context without the rows that its open span gives."""
    if spans and spans[-1].first >= start_seq:
        return spans[:-1]
    return spans


def _lineage(original: LineageRecord, new_id: str, title: str | None, cut: _Cut, now: float) -> LineageRecord:
    return replace(
        original,
        lineage_id=new_id,
        title=title,
        tip_generation=cut.generation,
        pins=tuple(seq for seq in original.pins if seq <= cut.last_seq),
        strikes=0,
        strike_seq=None,
        cooldown_until=None,
        forked_from=original.lineage_id,
        forked_from_seq=cut.last_seq if cut.last_seq >= 0 else None,
        relation="fork",
        created_at=now,
        closed_at=None,
    )


def _tip(connection: Connection, source: SessionRecord, new_id: str, cut: _Cut, now: float) -> SessionRecord:
    """The copy's open tip. What was measured of the context holds for the same context only."""
    opened = replace(source, lineage_id=new_id, plan_revision=0, updated_at=now, ended_at=None, end_reason=None)
    if cut.is_whole:
        return opened
    last = cut.spans[-1].last
    return replace(
        opened,
        flush_cursor=count_of(cut.spans),
        next_seq=cut.last_seq + 1,
        tail_digest=message_digest(log_rows(connection, source.lineage_id, last, last)[0].message),
        warned_tier="ok",
        usage_prompt=None,
        usage_completion=None,
        usage_seq=None,
        context_tokens=None,
        context_tokens_method=None,
        context_tokens_seq=None,
    )
