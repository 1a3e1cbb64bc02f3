"""When a compaction that did not come about is worth another attempt."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sessionstore.domain.closed_sets import JobStatus

FIRST_PAUSE: Final = 30.0
"""Seconds after the first attempt that broke off; each further one doubles them."""

LONGEST_PAUSE: Final = 3_600.0
"""Seconds after which a session is tried again at the latest, however often it broke off."""

NEVER: Final = float("inf")
"""A time that doesn't come: only new messages make it worth an attempt."""


@dataclass(frozen=True, slots=True)
class LastAttempt:
    """How the newest attempt on a session ended. ``broke_off``: by an exception or with its worker, not by a decision.

    ``watermark`` is the last seq that it looked at, None when it never came so far. Times are seconds since 1970.
    """

    status: JobStatus
    broke_off: bool
    attempts: int
    watermark: int | None
    finished_at: float


def pause_after(attempts: int) -> float:
    """Seconds to wait after so many attempts in a row that broke off: 30, 60, 120, … up to an hour."""
    return float(min(FIRST_PAUSE * 2.0 ** min(attempts - 1, 30), LONGEST_PAUSE))


def earliest_retry(last: LastAttempt | None, *, last_seq: int, cooldown_until: float | None) -> float:
    """The time from which a worker may try a session again.

    One that broke off waits longer each time. One that a summariser's failure put off waits for its cool-down. What was decided
    (nothing to do, stuck, too little saved) is only decided anew when there are rows that the decision didn't see.
    """
    if last is None:
        return 0.0
    if last.broke_off:
        return last.finished_at + pause_after(last.attempts)
    if last.status == "deferred" and cooldown_until is not None:
        return cooldown_until
    return 0.0 if last.watermark is None or last_seq > last.watermark else NEVER
