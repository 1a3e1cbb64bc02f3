"""A compaction that another tool made, as a compaction of the lineage: its summary, what it kept, and the facts beside it."""
from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from sessionstore.domain.closed_sets import Trigger
from sessionstore.domain.ledger import EMPTY_LEDGER, Ledger, extract_ledger
from sessionstore.domain.messages import clean_text, encode_message
from sessionstore.domain.records import CompactionRecord, SessionRecord
from sessionstore.domain.spans import spans_of
from sessionstore.domain.transcript import Entry
from sessionstore.operations.continuing import DerivedRow, open_generation
from sessionstore.storage.compaction_rows import compactions_of, insert_compaction
from sessionstore.storage.ledger_rows import find_ledger, store_ledger
from sessionstore.storage.message_rows import context_rows
from sessionstore.storage.values import from_json, to_json

IMPORTED_PROMPT = "imported"
"""Prompt version of a summary whose prompt nobody here wrote."""


def bring_in_compaction(
    connection: Connection,
    tip: SessionRecord,
    *,
    job_id: str,
    summary: str | None,
    kept: Sequence[int],
    trigger: Trigger,
    tokens_before: int | None,
    tokens_after: int | None,
    summarizer: str,
    now: float,
) -> int | None:
    """End the tip and open a continuation whose context is the summary and then the kept messages; gives the summary's seq.

    The facts of what went are extracted here as for a compaction of our own. Without a summary only the kept messages stay.
    """
    rows = context_rows(connection, tip.lineage_id, tip.generation)
    staying = set(kept)
    middle = [row for row in rows if row.seq not in staying]
    derived = []
    if summary is not None:
        derived.append(DerivedRow(encode_message({"role": "user", "content": summary}), "summary"))
    order = [*(tip.next_seq + position for position in range(len(derived))), *kept]
    child = open_generation(
        connection,
        tip,
        edge="compaction",
        spans=spans_of(order),
        derived=derived,
        prompt_digest=tip.system_prompt_digest,
        now=now,
    )
    in_context = {row.seq for row in rows}
    previous = _ledger_of(connection, tip.lineage_id, in_context)
    ledger = extract_ledger(
        [Entry(row.seq, row.kind, row.message, row.origin_seq) for row in middle], previous=previous
    )
    insert_compaction(
        connection,
        CompactionRecord(
            lineage_id=tip.lineage_id,
            job_id=job_id,
            generation=tip.generation,
            opened_generation=child.generation,
            trigger=trigger,
            status="committed",
            reason=f"imported from a transcript of {summarizer}",
            watermark=tip.next_seq - 1,
            middle=spans_of(row.seq for row in middle),
            tail=spans_of(kept),
            tokens_before=tokens_before,
            tokens_after=tokens_after,
            tokens_method=summarizer if tokens_before is not None else None,
            messages_before=len(rows),
            messages_after=len(order),
            summary_seq=tip.next_seq if derived else None,
            summary=None if summary is None else clean_text(summary),
            summarizer=summarizer,
            model=tip.model,
            prompt_version=IMPORTED_PROMPT,
            created_at=now,
            started_at=now,
            finished_at=now,
        ),
    )
    store_ledger(connection, tip.lineage_id, job_id, to_json(ledger.to_json()))
    return tip.next_seq if derived else None


def _ledger_of(connection: Connection, lineage_id: str, in_context: set[int]) -> Ledger:
    """The facts beside the summary that the context held."""
    for job in reversed(compactions_of(connection, lineage_id)):
        if job.summary_seq in in_context:
            stored = find_ledger(connection, lineage_id, job.job_id)
            return EMPTY_LEDGER if stored is None else Ledger.from_json(from_json(stored))
    return EMPTY_LEDGER
