"""A lineage as the document that ``sessionstore lineage --json`` prints."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from sessionstore.cli.figures import iso_time
from sessionstore.domain.records import CompactionRecord
from sessionstore.domain.session_ids import session_id

if TYPE_CHECKING:
    from sessionstore.operations.tracing import LineageTrace

_TIMES: Final = frozenset({"created_at", "started_at", "finished_at", "lease_expires_at"})
_SPANS: Final = frozenset({"head", "middle", "tail"})
_RENAMED: Final = {"generation": "session_id", "opened_generation": "continuation_id"}


def lineage_json(trace: LineageTrace, context_tokens: Mapping[int, int]) -> dict[str, Any]:
    """The document: times in ISO 8601 (UTC), an open span's end null; ``context_tokens`` by generation."""
    lineage = trace.lineage
    return {
        "lineage_id": lineage.lineage_id,
        "tip": trace.tip.session_id,
        "title": lineage.title,
        "sessions": [
            {
                "id": session.session_id,
                "generation": session.generation,
                "parent_session_id": session.parent_session_id,
                "edge": session.edge,
                "started_at": iso_time(session.started_at),
                "ended_at": iso_time(session.ended_at),
                "end_reason": session.end_reason,
                "messages": session.flush_cursor,
                "context_tokens": context_tokens.get(session.generation),
                "spans": [list(span) for span in trace.spans.get(session.generation, ())],
            }
            for session in trace.sessions
        ],
        "compactions": [_compaction(record, trace.ledgers.get(record.job_id)) for record in trace.compactions],
    }


def _compaction(record: CompactionRecord, ledger: Mapping[str, Any] | None) -> dict[str, Any]:
    described: dict[str, Any] = {}
    for column in fields(record):
        value = getattr(record, column.name)
        if column.name in _RENAMED:
            generation = value
            value = None if generation is None else session_id(record.lineage_id, generation)
        elif column.name in _TIMES:
            value = iso_time(value)
        elif column.name in _SPANS:
            value = [list(span) for span in value]
        elif isinstance(value, tuple):
            value = list(value)
        described[_RENAMED.get(column.name, column.name)] = value
    return {**described, "ledger": ledger}
