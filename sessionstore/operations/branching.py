"""Opening a generation that goes back: undo of a compaction, and rewind to a message."""
from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from sessionstore.domain.records import SessionRecord
from sessionstore.domain.spans import Span, cut_after, holds, seqs_of, spans_of
from sessionstore.errors import InvalidTargetError, SessionEndedError
from sessionstore.operations.continuing import open_generation
from sessionstore.operations.pinning import drop_pins_behind, with_pinned_rows
from sessionstore.operations.reading import LAST_SEQ, lineage_of, session_of
from sessionstore.storage.locks import lock_tip
from sessionstore.storage.message_rows import context_kinds, log_rows_at, row_kind
from sessionstore.storage.session_rows import sessions_of
from sessionstore.storage.span_rows import spans_of_session


def undo_compaction(connection: Connection, lineage_id: str, *, now: float) -> SessionRecord:
    """Take back the newest compaction in force: its parent's context comes back, followed by what was said since.

    Undoing again goes further back; pinned messages come along. Raises ``InvalidTargetError`` when no compaction is in force.
    """
    tip = _open_tip(connection, lineage_id)
    generations = {session.generation: session for session in sessions_of(connection, lineage_id)}
    compacted = _newest_in_force(tip, generations)
    if compacted is None or compacted.parent_generation is None:
        raise InvalidTargetError(tip.session_id, "no compaction is in force that could be undone")
    restored = generations[compacted.parent_generation]
    before = spans_of_session(connection, lineage_id, restored.generation)
    since = [
        seq
        for seq, kind in context_kinds(connection, lineage_id, tip.generation)
        if kind == "message" and seq >= compacted.start_seq
    ]
    return open_generation(
        connection,
        tip,
        edge="undo",
        spans=_with_pins(connection, lineage_id, (*before, *spans_of(since))),
        prompt_digest=restored.system_prompt_digest,
        basis_generation=restored.generation,
        now=now,
    )


def rewind(connection: Connection, lineage_id: str, seq: int, *, now: float) -> SessionRecord:
    """Go back to a message, which stays: the newest context that held it comes back, cut after it.

    A pinned message that is left behind is no longer pinned: going back was asked for, and meant it too. Raises
    ``InvalidTargetError`` when the row is no message, or in no context.
    """
    tip = _open_tip(connection, lineage_id)
    kind = row_kind(connection, lineage_id, seq) if 0 <= seq <= LAST_SEQ else None
    if kind is None:
        raise InvalidTargetError(tip.session_id, f"the log has no #{seq} to rewind to", seq=seq)
    if kind != "message":
        raise InvalidTargetError(tip.session_id, f"#{seq} is a {kind}, not a message to rewind to", seq=seq)
    for generation in range(tip.generation, 0, -1):
        spans = spans_of_session(connection, lineage_id, generation)
        if holds(spans, seq):
            kept = cut_after(spans, seq)
            drop_pins_behind(connection, lineage_id, seq, set(seqs_of(kept)))
            return open_generation(
                connection,
                tip,
                edge="rewind",
                spans=kept,
                prompt_digest=session_of(connection, lineage_id, generation).system_prompt_digest,
                basis_generation=generation,
                now=now,
            )
    raise InvalidTargetError(tip.session_id, f"#{seq} is in no context of the lineage", seq=seq)


def rewind_to_spans(connection: Connection, lineage_id: str, spans: Sequence[Span], *, now: float) -> SessionRecord:
    """Go back to a context that is given as it is: what an imported conversation went back to when it was to no message."""
    tip = _open_tip(connection, lineage_id)
    return open_generation(
        connection, tip, edge="rewind", spans=spans, prompt_digest=tip.system_prompt_digest, basis_generation=None, now=now
    )


def _with_pins(connection: Connection, lineage_id: str, spans: Sequence[Span]) -> Sequence[Span]:
    pins = lineage_of(connection, lineage_id).pins
    if all(holds(spans, seq) for seq in pins):
        return spans
    order = list(seqs_of(spans))
    rows = {row.seq: row for row in log_rows_at(connection, lineage_id, order)}
    return spans_of(row.seq for row in with_pinned_rows(connection, lineage_id, [rows[seq] for seq in order], pins))


def _open_tip(connection: Connection, lineage_id: str) -> SessionRecord:
    lock_tip(connection, lineage_id)
    tip = session_of(connection, lineage_id, lineage_of(connection, lineage_id).tip_generation)
    if tip.end_reason is not None:
        raise SessionEndedError(tip.session_id, end_reason=tip.end_reason)
    return tip


def _newest_in_force(tip: SessionRecord, generations: dict[int, SessionRecord]) -> SessionRecord | None:
    """The generation that the newest compaction opened whose summary the tip's context still builds on."""
    session: SessionRecord | None = tip
    while session is not None and session.edge != "compaction":
        basis = session.basis_generation
        session = None if basis is None else generations.get(basis)
    return session
