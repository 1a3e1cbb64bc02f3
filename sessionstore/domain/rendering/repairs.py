"""What a rendering reports: each repair by its kind, with the call and the row it concerns."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from sessionstore.domain.messages import Message

RepairKind = Literal[
    "unanswered_call", "covered_result", "orphan_result", "moved_result", "renamed_call", "empty_message", "lone_reasoning",
    "bridge",
]
"""unanswered_call: a stub stands for a result that never came. covered_result: a stub stands for a result in a summary.
orphan_result: a result without a call was left out. moved_result: a result was put behind its call. renamed_call: a repeated or
unusable call id or tool name was replaced. empty_message: a message with nothing in it was left out. lone_reasoning: reasoning
without its partner was left out. bridge: a message was put in to keep the roles in order."""

UNANSWERED_STUB: Final = "[no result: the call was never answered]"
"""Stands where the result of a dead call would be."""

USER_BRIDGE: Final = "Continue."
"""Text of a message of role user that is there only because the provider wants one."""

ASSISTANT_BRIDGE: Final = "[no reply]"
"""Text of a message of role assistant that is there only because the provider wants one."""


@dataclass(frozen=True, slots=True)
class Repair:
    """One repair. ``call_id`` and ``seq`` are None where there is no call or row; ``text`` is a sentence for a person."""

    kind: RepairKind
    call_id: str | None
    seq: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Rendering:
    """What goes to a model.

    ``sources`` has, for each message, the seqs of the rows it was made of; none for the system prompt, stubs and bridges. A row
    that one provider wants as two messages (``strict``: words and calls apart) is named by both.
    """

    messages: list[Message]
    repairs: tuple[Repair, ...]
    sources: tuple[tuple[int, ...], ...]


def covered_stub(first: int, last: int) -> str:
    """Stands where a result would be that a summary replaced."""
    return f"[result is covered by the summary of #{first}–#{last}]"
