"""A call and all its results are on one side of a cut (PAIR-1, PAIR-2, PAIR-3).

Where may I cut: between units. A message with calls and everything up to its last result is one unit; so are blocks of any type
where one has an ``id`` and a later one names it. An unanswered call at the end is in flight and its unit reaches to the end; an
unanswered call elsewhere is dead and holds nothing together. How do I repair: ``rendering.results``.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from sessionstore.domain.rules.reasoning import reasoning_bonds
from sessionstore.domain.transcript import Entry, answered_id_key, is_call_block, pair_calls


def units(entries: Sequence[Entry]) -> tuple[tuple[int, int], ...]:
    """The parts of a context that must stay whole: index ranges with both ends included, which cover it in order."""
    reach = list(range(len(entries)))
    for bonds in (call_bonds(entries), block_bonds(entries), reasoning_bonds(entries)):
        for first, last in bonds:
            reach[first] = max(reach[first], last)
    found: list[tuple[int, int]] = []
    start = 0
    while start < len(entries):
        end = reach[start]
        index = start
        while index < end:
            index += 1
            end = max(end, reach[index])
        found.append((start, end))
        start = end + 1
    return tuple(found)


def with_units(indexes: Iterable[int], pieces: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """These indexes with all that must stay on the same side as one of them, in order."""
    wanted = set(indexes)
    return tuple(
        index for first, last in pieces if not wanted.isdisjoint(range(first, last + 1)) for index in range(first, last + 1)
    )


def in_flight_index(entries: Sequence[Entry]) -> int | None:
    """Index of the last message with calls when one of them is still open and nothing but results follows; None otherwise."""
    for index in range(len(entries) - 1, -1, -1):
        view = entries[index].view
        if view.calls:
            # Items of one Responses answer: parallel calls stand in several rows.
            first = index
            while first and "role" not in entries[first].message and entries[first - 1].view.calls:
                first -= 1
            paired = pair_calls(entries[first:])
            return first if paired.unanswered() else None
        if not view.results or view.role == "assistant" or entries[index].is_request:
            return None
    return None


def call_bonds(entries: Sequence[Entry]) -> Iterator[tuple[int, int]]:
    """Pairs of indexes of a call and its result, and of a call in flight and the end of the context."""
    for paired in pair_calls(entries).calls:
        if paired.result_index is not None:
            yield paired.call_index, paired.result_index
    if (first := in_flight_index(entries)) is not None:
        yield first, len(entries) - 1


def block_bonds(entries: Sequence[Entry]) -> Iterator[tuple[int, int]]:
    """Pairs of indexes of a content block or item with an ``id`` and a later one with a key ``…_id`` that equals it.

    Calls and their results are not among them: those may repeat an id, and the pairing knows how to tell them apart.
    """
    places: dict[str, int] = {}
    for index, entry in enumerate(entries):
        content = entry.message.get("content")
        item = entry.message.get("call_id")
        if isinstance(item, str) and "role" not in entry.message and not (entry.view.calls or entry.view.results):
            # A Responses item of a type that nobody here knows, and its output: both carry the id of the call.
            if (name := f"item {item}") in places:
                yield places[name], index
            places[name] = index
        # A request for approval, the answer to it and the call that it allowed are items, each with an id of its own.
        items = [] if "role" in entry.message else [entry.message]
        for block in [*items, *(content if isinstance(content, list) else ())]:
            if not isinstance(block, Mapping):
                continue
            if block is not entry.message and (answered_id_key(block) is not None or is_call_block(block)):
                continue
            # An item may name the one before it as its parent, which binds nothing.
            endings = ("_request_id",) if block is entry.message else ("_id", "Id")
            for key, value in block.items():
                if isinstance(key, str) and key.endswith(endings) and isinstance(value, str) and value in places:
                    yield places[value], index
            identity = block.get("id")
            if isinstance(identity, str) and identity:
                places[identity] = index
