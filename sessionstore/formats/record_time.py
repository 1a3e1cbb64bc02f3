"""The times that transcripts write on their records, in one unit."""
from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any, Final

_NOT_SECONDS: Final = 1e11
"""A number from here on is milliseconds: as seconds it would lie beyond the year 5000."""


def seconds_of(value: Any) -> float | None:
    """Seconds since 1970 (UTC) of an ISO 8601 text or of a number of seconds or milliseconds; None for anything else.

    A text without a zone counts as UTC.
    """
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        seconds = float(value)
    except OverflowError:
        return None
    if not math.isfinite(seconds):
        return None
    return seconds / 1000 if abs(seconds) >= _NOT_SECONDS else seconds
