"""The lineage of a session: its generations, what their contexts list, and every compaction."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from sessionstore.domain.records import CompactionRecord, LineageRecord, SessionRecord
from sessionstore.operations.reading import lineage_of
from sessionstore.operations.resolving import resolve_lineage
from sessionstore.storage.compaction_rows import compactions_of
from sessionstore.storage.ledger_rows import ledgers_of
from sessionstore.storage.session_rows import sessions_of
from sessionstore.storage.span_rows import spans_of_lineage
from sessionstore.storage.values import from_json


@dataclass(frozen=True, slots=True)
class LineageTrace:
    """A conversation for life, without its messages.

    ``sessions`` are its generations, oldest first; ``spans`` lists, by generation, the (first, last) seqs of its context, the
    last one open (None); ``compactions`` are all attempts, oldest first; ``ledgers`` has, by job id, the facts beside their
    summaries as JSON values, and nothing unless they were asked for.
    """

    lineage: LineageRecord
    sessions: Sequence[SessionRecord]
    spans: Mapping[int, Sequence[tuple[int, int | None]]]
    compactions: Sequence[CompactionRecord]
    ledgers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def tip(self) -> SessionRecord:
        """The generation that takes appends."""
        return next(session for session in self.sessions if session.generation == self.lineage.tip_generation)


def trace_lineage(
    connection: Connection, reference: str, *, namespace: str | None = None, ledgers: bool = False
) -> LineageTrace:
    """The lineage that answers to an id of any generation, a title, or part of an id."""
    lineage_id = resolve_lineage(connection, reference, namespace=namespace)
    return LineageTrace(
        lineage=lineage_of(connection, lineage_id),
        sessions=sessions_of(connection, lineage_id),
        spans=spans_of_lineage(connection, lineage_id),
        compactions=compactions_of(connection, lineage_id),
        ledgers={job: from_json(text) for job, text in ledgers_of(connection, lineage_id).items()} if ledgers else {},
    )
