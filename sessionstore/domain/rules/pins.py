"""A pinned message stays verbatim in every context, and a call does not part from its results for it.

Where may I cut: anywhere, but the pinned row, with the unit of call and results that it belongs to, stays, before the summary.
How do I repair: nothing to repair.
"""
from __future__ import annotations

from collections.abc import Collection, Sequence

from sessionstore.domain.transcript import Entry


def pinned_indexes(
    entries: Sequence[Entry], pins: Collection[int], units: Sequence[tuple[int, int]]
) -> tuple[int, ...]:
    """Indexes of the rows that stay because one of their unit is pinned, in order."""
    if not pins:
        return ()
    kept: list[int] = []
    for first, last in units:
        rows = range(first, last + 1)
        if any(entries[index].seq in pins or entries[index].origin_seq in pins for index in rows):
            kept.extend(rows)
    return tuple(kept)
