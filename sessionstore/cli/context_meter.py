"""How large the contexts of a lineage are, in tokens."""
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sessionstore.operations.tracing import LineageTrace
    from sessionstore.store import SessionStore


def context_tokens_of(store: SessionStore, trace: LineageTrace) -> dict[int, int]:
    """Tokens of the whole contexts (system prompt included), by generation, as compactions recorded them.

    A generation that no compaction ended or opened is left out, but for the tip, which is counted where its row doesn't tell:
    a tokenizer takes longer to load than everything else here.
    """
    tokens: dict[int, int] = {}
    for record in trace.compactions:
        if record.status != "committed":
            continue
        if record.tokens_before is not None:
            tokens[record.generation] = record.tokens_before
        if record.tokens_after is not None and record.opened_generation is not None:
            tokens.setdefault(record.opened_generation, record.tokens_after)
    tip = trace.tip
    if tip.end_reason is None:
        recorded = tip.recorded_tokens
        tokens[tip.generation] = store.session(tip.session_id).pressure(peek=True).tokens if recorded is None else recorded
    return tokens
