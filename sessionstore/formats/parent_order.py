"""The order of records that name their parents: each after its parent, and otherwise as in the file."""
from __future__ import annotations

from collections.abc import Sequence


def order_by_parents(links: Sequence[tuple[str | None, str | None]]) -> tuple[list[int], frozenset[int]]:
    """The indexes of records in an order in which every record follows its parent, and those that stand in a cycle.

    ``links`` are (own id, parent's id). A record is moved only when its parent stands below it. A parent that is not among
    the records counts as none; a cycle is entered at its first record, so every index occurs exactly once. Linear in time.
    """
    first_with: dict[str, int] = {}
    for index, (own, _parent) in enumerate(links):
        if own is not None:
            first_with.setdefault(own, index)
    order: list[int] = []
    placed = [False] * len(links)
    waiting: dict[int, list[int]] = {}

    def place(index: int) -> None:
        ready = [index]
        while ready:
            current = ready.pop()
            placed[current] = True
            order.append(current)
            ready.extend(reversed(waiting.pop(current, ())))

    cyclic: set[int] = set()
    parents = [None if parent is None else first_with.get(parent) for _own, parent in links]
    for index, parent in enumerate(parents):
        if parent is None or placed[parent]:
            place(index)
        elif parent == index:
            cyclic.add(index)
            place(index)
        else:
            waiting.setdefault(parent, []).append(index)
    # What still waits hangs on a cycle; placing one record of the cycle releases the whole of it.
    for index in range(len(links)):
        if placed[index]:
            continue
        cycle = _cycle_above(index, parents)
        cyclic.update(cycle)
        entry = min(cycle)
        waiting[_parent_of(entry, parents)].remove(entry)
        place(entry)
    return order, frozenset(cyclic)


def _cycle_above(start: int, parents: Sequence[int | None]) -> list[int]:
    seen: dict[int, None] = {}
    current = start
    while current not in seen:
        seen[current] = None
        current = _parent_of(current, parents)
    path = list(seen)
    return path[path.index(current) :]


def _parent_of(index: int, parents: Sequence[int | None]) -> int:
    parent = parents[index]
    return index if parent is None else parent
