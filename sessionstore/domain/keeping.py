"""What keeping a database tells: its size in numbers, a backup, and what retention would remove."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoreStats:
    """A database in numbers.

    ``messages`` counts what was said, ``summaries`` and ``renditions`` what compactions added. ``compactions`` counts attempts
    by status. ``tokens_saved`` is the sum over committed ones. ``bytes`` is the size of the database with its write-ahead log.
    Times are seconds since 1970, None in an empty database.
    """

    lineages: int
    open_lineages: int
    sessions: int
    messages: int
    summaries: int
    renditions: int
    compactions: Mapping[str, int]
    tokens_saved: int
    oldest: float | None
    last_activity: float | None
    bytes: int


@dataclass(frozen=True, slots=True)
class BackupReport:
    """A backup that was compared with the database row by row: where it is, its size, and how many rows it has."""

    path: str
    bytes: int
    rows: int


@dataclass(frozen=True, slots=True)
class PrunedLineage:
    """A conversation that retention removes, with the time of its last activity (seconds since 1970) and its size."""

    lineage_id: str
    title: str | None
    last_activity: float
    messages: int
