"""What a compaction looks at: one consistent reading of a session, with the tokens of every row."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from sessionstore.domain.metering import message_tokens, prompt_tokens
from sessionstore.domain.policy import CompactionPolicy
from sessionstore.domain.records import CompactionRecord, LineageRecord, LogRow, SessionRecord, SystemPrompt
from sessionstore.domain.spans import Span, spans_of
from sessionstore.domain.token_counter import TokenCounter
from sessionstore.domain.transcript import Entry
from sessionstore.operations.pinning import with_pinned_rows
from sessionstore.operations.prompting import prompt_of
from sessionstore.operations.reading import lineage_of, session_of
from sessionstore.storage.compaction_rows import compactions_of
from sessionstore.storage.memory_rows import memories_of
from sessionstore.storage.message_rows import context_rows
from sessionstore.storage.session_rows import find_session
from sessionstore.storage.token_rows import cached_tokens


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A session as a compaction finds it.

    ``watermark`` is the last seq written so far: what comes after it stays in the continuation. ``opened_by`` is the compaction
    that the session began with; ``previous`` the one whose summary its context holds. ``window_before`` is the model's window
    that the session before it had.
    """

    lineage: LineageRecord
    session: SessionRecord
    rows: Sequence[LogRow]
    cached: Mapping[int, int]
    prompt: SystemPrompt | None
    memories: tuple[str, ...]
    opened_by: CompactionRecord | None
    previous: CompactionRecord | None
    jobs: Sequence[CompactionRecord]
    window_before: int | None = None

    @property
    def watermark(self) -> int:
        """The last seq of the log at the time."""
        return self.session.next_seq - 1

    def covered_with(self, middle: Sequence[Span]) -> tuple[Span, ...]:
        """The messages that a summary of this middle stands for: where it holds an older summary, what that one stands for
        too."""
        by_summary = {job.summary_seq: job.middle for job in self.jobs if job.summary_seq is not None}
        waiting, seqs = list(middle), set[int]()
        while waiting:
            for seq in range(*_bounds(waiting.pop())):
                if seq in by_summary:
                    waiting.extend(by_summary[seq])
                else:
                    seqs.add(seq)
        return spans_of(sorted(seqs))

    @property
    def has_smaller_window(self) -> bool:
        """Whether the session has a model with less room than the one it was compacted for."""
        now = self.session.context_window
        return now is not None and self.window_before is not None and now < self.window_before

    @property
    def previous_summary(self) -> str | None:
        """The text of the summary in the context, None when there is none."""
        return None if self.previous is None else self.previous.summary


@dataclass(frozen=True, slots=True)
class Metering:
    """The rows of a snapshot as counted entries, and what was counted anew (tokens by seq)."""

    entries: tuple[Entry, ...]
    fresh: Mapping[int, int]
    fixed_tokens: int
    method: str

    @property
    def history_tokens(self) -> int:
        """Tokens of the messages."""
        return sum(entry.tokens for entry in self.entries)


def load_snapshot(connection: Connection, lineage_id: str, generation: int, *, method: str) -> Snapshot:
    """Read everything that a compaction decides by, in one transaction.

    Pinned messages that have left the context are among the rows: the continuation gets them back.
    """
    session = session_of(connection, lineage_id, generation)
    lineage = lineage_of(connection, lineage_id)
    rows = with_pinned_rows(connection, lineage_id, context_rows(connection, lineage_id, generation), lineage.pins)
    jobs = compactions_of(connection, lineage_id)
    opened_by = next((job for job in jobs if job.opened_generation == generation), None)
    before = None if opened_by is None else find_session(connection, lineage_id, opened_by.generation)
    summaries = {row.seq for row in rows if row.kind == "summary"}
    return Snapshot(
        lineage=lineage,
        session=session,
        rows=rows,
        cached=cached_tokens(connection, lineage_id, method, first=min((row.seq for row in rows), default=0)),
        prompt=prompt_of(connection, session),
        memories=tuple(memory.fact for memory in memories_of(connection, lineage_id)),
        opened_by=opened_by,
        previous=next((job for job in reversed(jobs) if job.summary_seq in summaries), None),
        jobs=jobs,
        window_before=None if before is None else before.context_window,
    )


def _bounds(span: Span) -> tuple[int, int]:
    return span.first, span.last + 1


def meter_snapshot(snapshot: Snapshot, *, policy: CompactionPolicy, counter: TokenCounter, method: str) -> Metering:
    """Count what was never counted, and give every row as an entry."""
    fresh: dict[int, int] = {}
    entries = []
    for row in snapshot.rows:
        tokens = snapshot.cached.get(row.seq)
        if tokens is None:
            tokens = fresh[row.seq] = message_tokens(row.message, counter, image_tokens=policy.image_tokens)
        entries.append(Entry(row.seq, row.kind, row.message, row.origin_seq, tokens))
    fixed = snapshot.session.tool_schema_tokens + prompt_tokens(
        None if snapshot.prompt is None else snapshot.prompt.text, counter
    )
    return Metering(tuple(entries), fresh, fixed, method)
