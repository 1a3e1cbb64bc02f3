"""Tokens of a context from cached counts; bodies are read only of rows that were never counted."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from sessionstore.domain.records import LogRow, SessionRecord
from sessionstore.operations.prompting import prompt_of
from sessionstore.storage.message_rows import context_seqs, log_rows, log_rows_at
from sessionstore.storage.session_rows import change_session
from sessionstore.storage.token_rows import cached_tokens, store_tokens


@dataclass(frozen=True, slots=True)
class MeterReading:
    """What is known of a context's tokens: a sum that needs no counting, and the rows that have to be counted.

    ``counted`` are tokens of rows; ``since_usage`` those of them that came after the provider's own measurement, by seq.
    """

    session: SessionRecord
    prompt_text: str | None
    counted: int
    uncounted: Sequence[LogRow]
    tokens_since_usage: Mapping[int, int]


def read_meter(connection: Connection, session: SessionRecord, method: str) -> MeterReading:
    """Look up the tokens of a session's context that were counted in this way.

    Where the session remembers a sum, only rows that came after it are looked at; else the cached count of every row is.
    """
    prompt = prompt_of(connection, session)
    prompt_text = None if prompt is None else prompt.text
    remembered = session.context_tokens_seq
    if session.context_tokens is not None and session.context_tokens_method == method and remembered is not None:
        counted, seqs = session.context_tokens, list(range(remembered, session.next_seq))
    else:
        counted, seqs = 0, context_seqs(connection, session.lineage_id, session.generation)
    cached = cached_tokens(connection, session.lineage_id, method, first=min(seqs, default=0)) if seqs else {}
    counted += sum(cached.get(seq, 0) for seq in seqs)
    missing = [seq for seq in seqs if seq not in cached]
    if missing and len(missing) == missing[-1] - missing[0] + 1:
        uncounted = log_rows(connection, session.lineage_id, missing[0], missing[-1])
    else:
        uncounted = list(log_rows_at(connection, session.lineage_id, missing))
    since = {}
    if session.usage_seq is not None:
        since = cached_tokens(connection, session.lineage_id, method, first=session.usage_seq)
    return MeterReading(session, prompt_text, counted, uncounted, since)


def remember_meter(
    connection: Connection, session: SessionRecord, method: str, counts: Mapping[int, int], *, total: int
) -> None:
    """Store fresh counts beside their rows, and the sum on the session, for the context that was read."""
    if counts:
        store_tokens(connection, session.lineage_id, method, counts)
    change_session(
        connection,
        session.lineage_id,
        session.generation,
        context_tokens=total,
        context_tokens_method=method,
        context_tokens_seq=session.next_seq,
    )
