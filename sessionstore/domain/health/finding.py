"""What a check of a database finds: a fault by its code, and where it is."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

FindingCode = Literal[
    "ended_without_child",
    "open_with_child",
    "half_ended",
    "missing_parent",
    "fork",
    "parent_cycle",
    "tip_mismatch",
    "sequence_gap",
    "row_of_other_generation",
    "span_outside_log",
    "row_twice_in_context",
    "cursor_outside_context",
    "tail_digest_stale",
    "meter_ahead",
    "reader_ahead",
    "dangling_pin",
    "call_without_result",
    "result_without_call",
    "two_summaries",
    "summary_without_ledger",
    "dangling_origin",
    "prompt_missing",
    "stale_job",
    "job_mismatch",
    "title_mismatch",
    "unreadable_body",
    "unreadable_row",
    "orphan_rows",
    "search_index_stale",
    "schema_drift",
    "damaged_file",
]
"""Every fault that is looked for.

``ended_without_child``: a session says that a later one took over, and there is none. ``open_with_child``: the other way
round. ``half_ended``: a time of its end without a reason, or a reason without a time. ``missing_parent``, ``fork`` (two
continuations of one session), ``parent_cycle``, ``tip_mismatch``: the generations don't form one line that ends at the tip.
``sequence_gap``: the log isn't 0, 1, 2, … up to what its tip says. ``row_of_other_generation``: a row is numbered outside what
its generation wrote. ``span_outside_log``: a context lists rows that aren't there, or isn't closed by one open span.
``row_twice_in_context``, ``two_summaries``, ``cursor_outside_context`` (the cursor isn't the context's length),
``tail_digest_stale``, ``meter_ahead``, ``reader_ahead``, ``dangling_pin``: the same for what counts or names rows.
``call_without_result`` and ``result_without_call`` in the tip's context are oddities: a rendering mends them.
``summary_without_ledger``: a summary that no compaction stands behind with its facts. ``dangling_origin``: a rendition of
nothing. ``prompt_missing``, ``title_mismatch``, ``job_mismatch``: what a row names isn't there, or names another.
``stale_job``: a job that is live though its worker is gone or its session has ended. ``unreadable_body``, ``unreadable_row``:
no JSON where there must be. ``orphan_rows``: rows whose lineage or session is gone. ``search_index_stale``, ``schema_drift``,
``damaged_file``: of the whole database.
"""

FINDING_CODES: Final = get_args(FindingCode)

ODDITIES: Final = frozenset({"call_without_result", "result_without_call"})
"""Codes of what a caller wrote so: every rendering mends it, and nothing in the database is wrong."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of a database.

    ``lineage_id``, ``session_id`` and ``seq`` say where it is, None where that has no meaning. ``message`` is a sentence for a
    person. ``repaired`` says whether it is gone now.
    """

    code: FindingCode
    lineage_id: str | None
    session_id: str | None
    seq: int | None
    message: str
    repaired: bool = False

    @property
    def is_damage(self) -> bool:
        """Whether an invariant is broken; else it is a remark on what a caller wrote."""
        return self.code not in ODDITIES


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """What a check of a database found, in the order of the lineages; ``lineages`` counts those that were looked at.

    It is a sequence of its findings.
    """

    findings: Sequence[Finding]
    lineages: int

    @property
    def is_healthy(self) -> bool:
        """Whether no damage is left: none was found, or all of it was repaired."""
        return not any(finding.is_damage and not finding.repaired for finding in self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, index: int) -> Finding:
        return self.findings[index]


@dataclass(frozen=True, slots=True)
class Remedy:
    """One change of one row that mends a fault; rows of the log and of contexts are never changed.

    ``set`` gives columns new values, ``add`` writes a row, ``drop`` deletes it. ``key`` names the row within its lineage
    (titles: within the store). Values are as the column holds them.
    """

    action: Literal["set", "add", "drop"]
    table: Literal["lineages", "sessions", "compactions", "readers", "titles"]
    key: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A finding, and what mends it; no remedies: nothing here can."""

    finding: Finding
    remedies: tuple[Remedy, ...] = ()
