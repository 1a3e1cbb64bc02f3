"""Calls whose results have not come: a ledger remembers them, so that a result that comes when they are gone finds them."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from sessionstore.domain.ledger.collector import fact_key
from sessionstore.domain.ledger.entry import OpenCall
from sessionstore.domain.messages import clean_text, json_text
from sessionstore.domain.redaction import redact
from sessionstore.domain.transcript import ToolCall, ToolResult

MOST_OPEN: Final = 64
"""Calls that are remembered, the newest of them: a transcript without any results would else be kept twice."""
_LONGEST: Final = 16_000
"""Characters of a text in the arguments above which only its key is remembered, by which its fact is found all the same."""


class OpenCalls:
    """The calls that wait for a result, by id; it begins with those of the previous ledger."""

    def __init__(self, previous: Iterable[OpenCall]) -> None:
        self._by_id: dict[str, list[OpenCall]] = {}
        for call in previous:
            self._by_id.setdefault(call.call_id, []).append(call)

    def note(self, call: ToolCall, seq: int) -> None:
        """Remember a call that has no result; one without an id could never be told from others."""
        remembered = _remembered(call, seq) if call.call_id else None
        if remembered is not None and remembered not in self._by_id.setdefault(call.call_id, []):
            self._by_id[call.call_id].append(remembered)

    def forget(self, call: ToolCall, seq: int) -> None:
        """Note that a call has its result after all."""
        waiting = self._by_id.get(call.call_id, [])
        self._by_id[call.call_id] = [other for other in waiting if other.seq != seq or other.name != call.name]

    def take(self, result: ToolResult, seq: int) -> OpenCall | None:
        """The call that a result at ``seq`` answers, which waits no longer: the first one of the nearest message before it."""
        waiting = [call for call in self._by_id.get(result.call_id, []) if call.seq < seq]
        if not waiting:
            return None
        nearest = max(call.seq for call in waiting)
        found = next(call for call in waiting if call.seq == nearest)
        self._by_id[result.call_id].remove(found)
        return found

    def newest(self) -> tuple[OpenCall, ...]:
        """What is to be remembered, in order."""
        waiting = [call for calls in self._by_id.values() for call in calls]
        return tuple(sorted(waiting, key=lambda call: call.seq)[-MOST_OPEN:])


def _remembered(call: ToolCall, seq: int) -> OpenCall | None:
    values = call.argument_values()
    # Text by text as its facts are, and then once more as a whole, which shows the names that secrets are given to.
    arguments = redact(json_text(_kept(values)) if values else _kept_text(call.arguments))
    kept = OpenCall(seq, call.call_id, call.name, clean_text(arguments))
    return kept if bool(as_call(kept).argument_values()) == bool(values) else None


def as_call(open_call: OpenCall) -> ToolCall:
    """The call again, as far as it is remembered."""
    return ToolCall(open_call.call_id, open_call.name, open_call.arguments)


def _kept(value: Any) -> Any:
    if isinstance(value, str):
        return _kept_text(value)
    if isinstance(value, dict):
        return {key: _kept(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_kept(item) for item in value]
    return value


def _kept_text(text: str) -> str:
    redacted = redact(text)
    return redacted if len(redacted) <= _LONGEST else fact_key(redacted)
