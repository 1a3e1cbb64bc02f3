"""What a search finds."""
from __future__ import annotations

from dataclasses import dataclass

from sessionstore.domain.closed_sets import Kind


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A row of some log that holds everything that was searched for.

    ``session_id`` is the generation that wrote it, ``seq`` its number for ever. ``snippet`` is the text around the first thing
    searched for, on one line. ``created_at`` is in seconds since 1970.
    """

    session_id: str
    lineage_id: str
    seq: int
    role: str
    kind: Kind
    snippet: str
    created_at: float
