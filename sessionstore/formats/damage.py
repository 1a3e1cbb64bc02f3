"""The report of what could not be read of a file."""
from __future__ import annotations

from collections.abc import Iterable

from sessionstore.formats.parsed import DamagedLine


def merge_damage(found: Iterable[DamagedLine]) -> tuple[DamagedLine, ...]:
    """One entry a line, in the order of the lines, with all that is wrong with it."""
    reasons: dict[int, list[str]] = {}
    for damaged in found:
        of_line = reasons.setdefault(damaged.line, [])
        if damaged.reason not in of_line:
            of_line.append(damaged.reason)
    return tuple(DamagedLine(line, "; ".join(reasons[line])) for line in sorted(reasons))
