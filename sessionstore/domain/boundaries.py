"""Where a context is cut: head, tail, and what stays between them."""
from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from sessionstore.domain.policy import CompactionPolicy
from sessionstore.domain.rules.instructions import leading_instructions
from sessionstore.domain.rules.last_request import last_requests
from sessionstore.domain.rules.pairs import units, with_units
from sessionstore.domain.rules.pins import pinned_indexes
from sessionstore.domain.transcript import Entry

Unit = tuple[int, int]
_INSTRUCTIONS_PART: Final = 2
"""The part of the threshold, one in so many, that instructions at the beginning may keep for ever."""


@dataclass(frozen=True, slots=True)
class Partition:
    """Every index of a context in exactly one part; the parts in the order of the new context, the middle left out.

    ``head`` at the start, ``pins`` that fell out of head and tail, ``middle`` to be compacted, ``apart`` the last requests that
    stand between summary and tail, and the ``tail``.
    """

    head: tuple[int, ...]
    pins: tuple[int, ...]
    middle: tuple[int, ...]
    apart: tuple[int, ...]
    tail: tuple[int, ...]


def partition(
    entries: Sequence[Entry], *, policy: CompactionPolicy, window: int, pins: Collection[int] = ()
) -> Partition:
    """Cut a context by the policy, with every rule asked where it may be cut.

    The head is the first ``head_messages``, none once the context holds a summary, which is in the middle as soon as anything
    is. The tail is walked back from the end until its budget is used, then moved to the nearest edge of a unit that keeps it
    within the soft ceiling. The last requests stay behind the summary, instructions at the beginning where they are.
    """
    pieces = units(entries)
    requests = last_requests(entries, policy.keep_user_turns)
    cut = _tail_start(entries, pieces, policy, window)
    first_request = requests[0] if requests else len(entries)
    fits = policy.tail_messages is None and _tokens(entries, first_request) <= policy.tail_ceiling * policy.tail_budget(window)
    if first_request < cut and fits:
        cut = _unit_at(pieces, first_request)[0]
    summary = max((index for index, entry in enumerate(entries) if entry.kind == "summary"), default=None)
    if summary is None:
        head_end = _head_end(pieces, min(policy.head_messages, cut, first_request))
    else:
        head_end, cut = 0, cut and max(cut, summary + 1)
    apart = tuple(index for index in with_units(requests, pieces) if head_end <= index < cut)
    led = range(leading_instructions(entries, most=policy.threshold(window) // _INSTRUCTIONS_PART))
    pinned = tuple(
        index for index in sorted({*led, *pinned_indexes(entries, pins, pieces)})
        if head_end <= index < cut and index not in apart
    )
    staying = {*apart, *pinned}
    return Partition(
        head=tuple(range(head_end)),
        pins=pinned,
        middle=tuple(index for index in range(head_end, cut) if index not in staying),
        apart=apart,
        tail=tuple(range(cut, len(entries))),
    )


def _head_end(pieces: Sequence[Unit], wanted: int) -> int:
    """The last edge of a unit that leaves at most so many messages in the head."""
    end = 0
    for _, last in pieces:
        if last + 1 > wanted:
            break
        end = last + 1
    return end


def _tail_start(entries: Sequence[Entry], pieces: Sequence[Unit], policy: CompactionPolicy, window: int) -> int:
    count = len(entries)
    if not count:
        return 0
    least = min(policy.min_tail_messages, count)
    if policy.tail_messages is not None:
        return _unit_at(pieces, count - min(max(policy.tail_messages, least), count))[0]
    budget = policy.tail_budget(window)
    start, used = count, 0
    while start > 0 and (used + entries[start - 1].tokens <= budget or count - start < least):
        start -= 1
        used += entries[start].tokens
    if start in (0, count):
        # Not even the last message fits: its unit stays all the same, since an empty tail loses the thread.
        return _unit_at(pieces, count - 1)[0] if start == count and budget > 0 else start
    return _nearest_edge(entries, pieces, start, ceiling=policy.tail_ceiling * budget, least=least)


def _nearest_edge(entries: Sequence[Entry], pieces: Sequence[Unit], start: int, *, ceiling: float, least: int) -> int:
    first, last = _unit_at(pieces, start)
    if first == start:
        return start
    behind = last + 1
    grows = _tokens(entries, first) <= ceiling
    if len(entries) - behind < max(least, 1):
        return first
    if not grows:
        return behind
    nearer_before = sum(entry.tokens for entry in entries[first:start]) <= sum(
        entry.tokens for entry in entries[start:behind]
    )
    return first if nearer_before else behind


def _unit_at(pieces: Sequence[Unit], index: int) -> Unit:
    """The unit that holds an index; past the end, an empty one there."""
    return next((unit for unit in pieces if unit[0] <= index <= unit[1]), (index, index))


def _tokens(entries: Sequence[Entry], start: int) -> int:
    return sum(entry.tokens for entry in entries[start:])
