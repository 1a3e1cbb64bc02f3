"""What the checks of a lineage go by: its rows without any body, as one consistent reading."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sessionstore.domain.closed_sets import JobStatus, Kind
from sessionstore.domain.health.finding import Diagnosis, Finding, FindingCode, Remedy
from sessionstore.domain.records import LineageRecord, SessionRecord
from sessionstore.domain.session_ids import session_id
from sessionstore.domain.spans import Span
from sessionstore.domain.transcript import Entry


class StoredSpan(NamedTuple):
    """A row of ``context_spans``; ``last`` None: it is open."""

    first: int
    last: int | None


class LogShare(NamedTuple):
    """The rows of the log that say that a generation wrote them."""

    generation: int
    rows: int
    first: int
    last: int


class DerivedEvidence(NamedTuple):
    """A row of the log that nobody said."""

    seq: int
    kind: Kind
    origin_seq: int | None


class JobEvidence(NamedTuple):
    """A row of ``compactions`` without its texts. Times are seconds since 1970."""

    job_id: str
    generation: int
    opened_generation: int | None
    status: JobStatus
    summary_seq: int | None
    has_ledger: bool
    lease_expires_at: float | None
    finished: bool


class ReaderEvidence(NamedTuple):
    """A row of ``readers``."""

    reader: str
    generation: int
    history_offset: int
    last_seq: int


class CallRow(NamedTuple):
    """A row of the log with calls or results in it: its role and the ids, without its body."""

    seq: int
    role: str
    call_ids: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything about one lineage that the checks look at.

    ``breaks`` are seqs above 0 whose predecessor is missing. ``titles`` are (namespace, title) of the rows that name the
    lineage; ``title_holder`` is who holds the title that the lineage says it has. ``tail_digests`` are those of the last rows
    of contexts as computed now, by generation. ``calls`` are the tip's rows with calls or results, parsed, if there is doubt.
    """

    lineage: LineageRecord
    sessions: Sequence[SessionRecord]
    spans: Mapping[int, Sequence[StoredSpan]]
    shares: Sequence[LogShare]
    breaks: Sequence[int]
    derived: Sequence[DerivedEvidence]
    jobs: Sequence[JobEvidence]
    prompts: frozenset[str]
    titles: frozenset[tuple[str, str]]
    title_holder: str | None
    readers: Sequence[ReaderEvidence]
    call_rows: Sequence[CallRow]
    unreadable: Sequence[int]
    now: float
    tail_digests: Mapping[int, str | None] = field(default_factory=dict)
    calls: Sequence[Entry] = ()

    @property
    def lineage_id(self) -> str:
        """Id of the lineage."""
        return self.lineage.lineage_id

    @property
    def tip(self) -> SessionRecord | None:
        """The highest generation that is there."""
        return self.sessions[-1] if self.sessions else None

    @property
    def end(self) -> int:
        """The seq behind the last row of the log."""
        return max((share.last + 1 for share in self.shares), default=0)

    def context(self, session: SessionRecord) -> tuple[Span, ...]:
        """A session's context as closed spans; the open one is left out while it is empty."""
        closed = (
            Span(span.first, session.next_seq - 1 if span.last is None else span.last)
            for span in self.spans.get(session.generation, ())
        )
        return tuple(span for span in closed if span.last >= span.first)

    def diagnosis(
        self,
        code: FindingCode,
        message: str,
        *remedies: Remedy,
        generation: int | None = None,
        seq: int | None = None,
    ) -> Diagnosis:
        """A finding about this lineage."""
        named = None if generation is None else session_id(self.lineage_id, generation)
        return Diagnosis(Finding(code, self.lineage_id, named, seq, message), remedies)


def set_session(generation: int, **values: object) -> Remedy:
    """A remedy that sets columns of a session."""
    return Remedy("set", "sessions", {"generation": generation}, values)
