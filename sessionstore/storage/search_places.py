"""What goes into the search index, and where what was found stands."""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

Document = tuple[int, Sequence[str]]
"""The seq of a row, and its words."""


class Place(NamedTuple):
    """A row of some log, with its time in microseconds since 1970."""

    created_at: int
    lineage_id: str
    seq: int

    @property
    def order(self) -> tuple[int, str, int]:
        """Sorts the newest first; at equal times by lineage, and in a lineage from its end."""
        return -self.created_at, self.lineage_id, -self.seq
