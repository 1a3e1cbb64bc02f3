"""The last requests of the user stay verbatim, after the summary.

Where may I cut: anywhere, but a request that falls out of the tail becomes a piece of its own between summary and tail, and
the head ends before it. How do I repair: nothing to repair, a user's message is never edited.
"""
from __future__ import annotations

from collections.abc import Sequence

from sessionstore.domain.transcript import Entry


def last_requests(entries: Sequence[Entry], count: int) -> tuple[int, ...]:
    """Indexes of the last ``count`` messages that a person wrote, in order."""
    found: list[int] = []
    for index in range(len(entries) - 1, -1, -1):
        if len(found) >= count:
            break
        if entries[index].is_request:
            found.append(index)
    return tuple(reversed(found))
