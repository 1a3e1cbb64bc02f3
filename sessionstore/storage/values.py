"""How values look in a column: times as microseconds, JSON as compact text."""
from __future__ import annotations

import json
from typing import Any


def to_micros(seconds: float) -> int:
    """Seconds since 1970 as the integer that is stored."""
    return round(seconds * 1_000_000)


def to_micros_or_none(seconds: float | None) -> int | None:
    """The same for a time that may be absent."""
    return None if seconds is None else to_micros(seconds)


def from_micros(micros: int) -> float:
    """A stored time as seconds since 1970."""
    return micros / 1_000_000


def from_micros_or_none(micros: int | None) -> float | None:
    """The same for a time that may be absent."""
    return None if micros is None else from_micros(micros)


def to_json(value: Any) -> str:
    """A value as compact JSON text with its keys in order; only ASCII, so lone surrogates are no trouble."""
    return json.dumps(value, separators=(",", ":"))


def to_json_or_none(value: Any) -> str | None:
    """The same, with None for an absent value in place of JSON's null."""
    return None if value is None else to_json(value)


def from_json(text: str) -> Any:
    """The value of a JSON column."""
    return json.loads(text)


def from_json_or_none(text: str | None) -> Any:
    """The same for a column that may be empty."""
    return None if text is None else json.loads(text)
