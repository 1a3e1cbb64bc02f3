"""How large the contexts of a lineage are, in tokens."""
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sessionstore.operations.tracing import LineageTrace
    from sessionstore.store import SessionStore


def context_tokens_of(store: SessionStore, trace: LineageTrace) -> dict[int, int]:
    """Tokens of every generation's whole context (system prompt included), by generation.

    A compacted generation has the number that its compaction was decided by; the others are counted, which is remembered.
    """
    tokens = {
        record.generation: record.tokens_before
        for record in trace.compactions
        if record.status == "committed" and record.tokens_before is not None
    }
    for session in trace.sessions:
        if session.generation not in tokens:
            tokens[session.generation] = store.session(session.session_id).pressure().tokens
    return tokens
