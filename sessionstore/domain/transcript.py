"""One view over the three message dialects, and the pairing of calls with their results.

Everything that analyses a transcript reads this view; the body itself is kept as it was given.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sessionstore.domain.closed_sets import Kind
from sessionstore.domain.message_view import (
    REASONING_TYPES,
    MessageView,
    ToolCall,
    ToolResult,
    answered_id_key,
    is_call_block,
    view_message,
)
from sessionstore.domain.messages import Message
from sessionstore.domain.notices import without_notices
from sessionstore.domain.payloads import IMAGE_TYPES

__all__ = [
    "IMAGE_TYPES",
    "REASONING_TYPES",
    "Entry",
    "MessageView",
    "PairedCall",
    "Pairing",
    "ToolCall",
    "ToolResult",
    "answered_id_key",
    "is_call_block",
    "pair_calls",
    "view_message",
]


@dataclass(frozen=True)
class Entry:
    """A row of the log as the analysis sees it: its seq, kind, message and view, and its tokens (0 when not counted)."""

    seq: int
    kind: Kind
    message: Message
    origin_seq: int | None = None
    tokens: int = 0

    @property
    def written_seq(self) -> int:
        """The seq under which its facts are known and it can be read: that of the message it renders, else its own."""
        return self.seq if self.origin_seq is None else self.origin_seq

    @cached_property
    def view(self) -> MessageView:
        """The message in the form that is the same for all dialects."""
        return view_message(self.message)

    @cached_property
    def is_request(self) -> bool:
        """Whether a person wrote it: a message of role user with content of its own, not a summary, not only tool results.

        Any content will do, but pictures and files beside tool results are the tool's.
        """
        view = self.view
        if self.kind == "summary" or view.role != "user":
            return False
        if not view.results and (view.images or not all(one.is_from_tool for one in view.attachments)):
            return True
        labels = {attachment.label for attachment in view.attachments}
        return any(piece not in labels and without_notices(piece).strip() for piece in view.pieces)

    @cached_property
    def spoken(self) -> str:
        """The text of it without what a harness put there: what a person wrote, where a person did."""
        return "\n".join(said for piece in self.view.pieces if (said := without_notices(piece).strip()))


@dataclass(frozen=True, slots=True)
class PairedCall:
    """A call with the place of its result; indexes point into the list of entries that was paired."""

    call: ToolCall
    call_index: int
    result: ToolResult | None
    result_index: int | None


@dataclass(frozen=True, slots=True)
class Pairing:
    """Which result answers which call, and which results have none.

    ``calls`` are in the order they were made. ``orphans`` are (index, result) of results without an open call before them.
    """

    calls: tuple[PairedCall, ...]
    orphans: tuple[tuple[int, ToolResult], ...]

    def unanswered(self) -> tuple[PairedCall, ...]:
        """The calls that have no result (yet)."""
        return tuple(call for call in self.calls if call.result_index is None)


def pair_calls(entries: Sequence[Entry]) -> Pairing:
    """Match each result to the nearest open call before it that has its id.

    Ids may repeat, across turns and inside one. Within the message nearest before the result the first open call of that id
    is taken, so parallel calls that share an id are answered in the order they were made.
    """
    calls: list[PairedCall] = []
    open_by_id: dict[str, list[int]] = {}
    orphans: list[tuple[int, ToolResult]] = []
    for index, entry in enumerate(entries):
        for call in entry.view.calls:
            open_by_id.setdefault(call.call_id, []).append(len(calls))
            calls.append(PairedCall(call, index, None, None))
        for result in entry.view.results:
            position = _nearest_open(open_by_id.get(result.call_id, []), calls)
            if position is None:
                orphans.append((index, result))
                continue
            open_by_id[result.call_id].remove(position)
            made = calls[position]
            calls[position] = PairedCall(made.call, made.call_index, result, index)
    return Pairing(tuple(calls), tuple(orphans))


def _nearest_open(positions: Sequence[int], calls: Sequence[PairedCall]) -> int | None:
    if not positions:
        return None
    nearest = calls[positions[-1]].call_index
    return next(position for position in positions if calls[position].call_index == nearest)
