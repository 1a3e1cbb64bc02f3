"""Numbers, times and ranges as people read them, and as programs do."""
from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

UNKNOWN: Final = "–"
"""Stands where a figure is not known."""

_STEPS: Final = ((60.0, "s"), (60.0, "min"), (24.0, "h"), (365.0, "days"))
_JUST_NOW: Final = 5.0
"""Seconds that are not worth a number."""


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: ``1 message``, ``1,204 messages``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def figure(number: int | None) -> str:
    """A number with its thousands apart; a dash for one that is not known."""
    return UNKNOWN if number is None else f"{number:,}"


def saving(before: int, after: int) -> str:
    """How much smaller something became, rounded down to whole per cent: ``70% saved``."""
    return f"{max(before - after, 0) * 100 // before}% saved" if before > 0 else "nothing saved"


def spans_text(spans: Iterable[tuple[int, int]]) -> str:
    """Ranges of the log: ``#0–#2, #180``; ``nothing`` for none."""
    listed = [f"#{first}" if first == last else f"#{first}–#{last}" for first, last in spans]
    return ", ".join(listed) or "nothing"


def duration(seconds: float) -> str:
    """A span of time: ``8 ms``, ``1.4 s``, ``3 min 20 s``."""
    if seconds < 1:
        return f"{max(seconds, 0) * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"


def ago(then: float, now: float) -> str:
    """A time as its distance from now: ``just now``, ``3 min ago``; the date when it is more than 30 days."""
    passed = now - then
    if passed < _JUST_NOW:
        return "just now" if passed > -_JUST_NOW else local_time(then)
    if passed > 30 * 86_400:
        return local_time(then)[:10]
    for size, unit in _STEPS:
        if passed < size or unit == "days":
            number = int(passed)
            return f"{number} {'day' if unit == 'days' and number == 1 else unit} ago"
        passed /= size
    raise AssertionError("the last unit takes every length of time")


def local_time(seconds: float) -> str:
    """A time in this machine's time zone, to the second: ``2025-07-08 09:12:16``."""
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def iso_time(seconds: float | None) -> str | None:
    """A time in UTC as programs read it: ``2025-07-08T09:12:16.250000Z``; None where there is none."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
