"""Pins: messages that stay verbatim in every context of their lineage."""
from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection

from sessionstore.domain.records import LogRow
from sessionstore.domain.rules.pairs import units
from sessionstore.domain.spans import holds
from sessionstore.domain.transcript import Entry
from sessionstore.errors import InvalidTargetError
from sessionstore.operations.reading import LAST_SEQ, lineage_of, session_of
from sessionstore.storage.lineage_rows import change_lineage
from sessionstore.storage.locks import lock_lineage
from sessionstore.storage.message_rows import context_rows, log_rows_at, row_kind
from sessionstore.storage.session_rows import raise_plan_revision
from sessionstore.storage.span_rows import spans_of_session


def pin(connection: Connection, lineage_id: str, generation: int, seqs: Collection[int]) -> None:
    """Pin messages of the log. One that has left the context comes back with the next compaction or undo.

    Raises ``InvalidTargetError`` for a row that is no message.
    """
    lock_lineage(connection, lineage_id)
    session = session_of(connection, lineage_id, generation)
    for seq in seqs:
        if not 0 <= seq <= LAST_SEQ or row_kind(connection, lineage_id, seq) != "message":
            raise InvalidTargetError(session.session_id, f"#{seq} is no message of its log to pin", seq=seq)
    lineage = lineage_of(connection, lineage_id)
    change_lineage(connection, lineage_id, pins=sorted({*lineage.pins, *seqs}))
    raise_plan_revision(connection, lineage_id, lineage.tip_generation)


def unpin(connection: Connection, lineage_id: str, generation: int, seqs: Collection[int]) -> None:
    """Take pins away; a seq that has none is no error."""
    lock_lineage(connection, lineage_id)
    session_of(connection, lineage_id, generation)
    lineage = lineage_of(connection, lineage_id)
    change_lineage(connection, lineage_id, pins=sorted({*lineage.pins} - {*seqs}))
    raise_plan_revision(connection, lineage_id, lineage.tip_generation)


def with_pinned_rows(
    connection: Connection, lineage_id: str, rows: Sequence[LogRow], pins: Collection[int]
) -> Sequence[LogRow]:
    """A context with the pinned messages back in it that had left it: each before the first row that was written after it.

    A pinned message whose shorter form is there takes its place. A call and its results come back together.
    """
    present = {row.seq for row in rows}
    missing = sorted(seq for seq in pins if seq not in present)
    if not missing:
        return rows
    originals = {row.seq: row for row in log_rows_at(connection, lineage_id, missing)}
    whole = [originals.get(row.origin_seq, row) if row.origin_seq is not None else row for row in rows]
    present = {row.seq for row in whole}
    for seq in missing:
        if seq in originals and seq not in present:
            unit = [row for row in _unit_of(connection, lineage_id, originals[seq]) if row.seq not in present]
            place = next((index for index, row in enumerate(whole) if row.seq > seq), 0)
            whole[place:place] = unit
            present.update(row.seq for row in unit)
    return whole


def drop_pins_behind(connection: Connection, lineage_id: str, seq: int, kept: Collection[int]) -> None:
    """Take away the pins of messages behind a row, apart from those that are kept."""
    lineage = lineage_of(connection, lineage_id)
    pins = [pinned for pinned in lineage.pins if pinned <= seq or pinned in kept]
    if len(pins) < len(lineage.pins):
        change_lineage(connection, lineage_id, pins=pins)


def _unit_of(connection: Connection, lineage_id: str, row: LogRow) -> Sequence[LogRow]:
    """The rows that belong together with one, as the newest context has them that held it."""
    for generation in range(lineage_of(connection, lineage_id).tip_generation, 0, -1):
        if holds(spans_of_session(connection, lineage_id, generation), row.seq):
            rows = context_rows(connection, lineage_id, generation)
            for first, last in units([Entry(one.seq, one.kind, one.message, one.origin_seq) for one in rows]):
                if any(one.seq == row.seq for one in rows[first : last + 1]):
                    return rows[first : last + 1]
    return [row]
