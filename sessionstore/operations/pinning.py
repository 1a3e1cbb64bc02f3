"""Pins: messages that stay verbatim in every context of their lineage."""
from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection

from sessionstore.errors import InvalidTargetError
from sessionstore.operations.reading import lineage_of, session_of
from sessionstore.storage.lineage_rows import change_lineage
from sessionstore.storage.message_rows import context_kinds
from sessionstore.storage.session_rows import raise_plan_revision


def pin(connection: Connection, lineage_id: str, generation: int, seqs: Collection[int]) -> None:
    """Pin messages of a context. Raises ``InvalidTargetError`` for a row that is no message of it."""
    session = session_of(connection, lineage_id, generation)
    kinds = dict(context_kinds(connection, lineage_id, generation))
    for seq in seqs:
        if kinds.get(seq) != "message":
            raise InvalidTargetError(session.session_id, f"#{seq} is no message of its context to pin", seq=seq)
    lineage = lineage_of(connection, lineage_id)
    change_lineage(connection, lineage_id, pins=sorted({*lineage.pins, *seqs}))
    raise_plan_revision(connection, lineage_id, lineage.tip_generation)


def unpin(connection: Connection, lineage_id: str, generation: int, seqs: Collection[int]) -> None:
    """Take pins away; a seq that has none is no error."""
    session_of(connection, lineage_id, generation)
    lineage = lineage_of(connection, lineage_id)
    change_lineage(connection, lineage_id, pins=sorted({*lineage.pins} - {*seqs}))
    raise_plan_revision(connection, lineage_id, lineage.tip_generation)
