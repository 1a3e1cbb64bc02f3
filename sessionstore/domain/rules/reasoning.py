"""Reasoning stays with what it led to, and the pieces of one answer stay together.

Where may I cut: not between a message of only reasoning and the answer behind it, not between an item and the item it requires,
not between pieces that a provider gave one id. How do I repair: ``rendering.emptiness`` leaves out lone reasoning and what is
left of an item whose reasoning was dropped, and ``rendering.outgoing`` takes the id off an item whose partner is not there.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from sessionstore.domain.messages import Message
from sessionstore.domain.transcript import Entry

EMPTY_REASONING: Final[Message] = {"type": "reasoning", "summary": []}
"""What stands in the context for a reasoning item that was dropped; no provider is sent it."""
_RESPONSE_KEYS: Final = ("id", "response_id", "llm_response_id")


def reasoning_bonds(entries: Sequence[Entry]) -> Iterator[tuple[int, int]]:
    """Pairs of indexes (first before second) that no cut may part."""
    places: dict[str, int] = {}
    for index, entry in enumerate(entries):
        required = entry.message.get("requires")
        for identity in required if isinstance(required, list) else [required]:
            if isinstance(identity, str) and identity in places:
                yield places[identity], index
        if isinstance(entry.message.get("id"), str):
            places[entry.message["id"]] = index
        if index and _is_assistant(entries[index - 1]) and _is_assistant(entry):
            before = entries[index - 1]
            if _is_only_reasoning(before) or is_same_answer(before, entry):
                yield index - 1, index


def is_same_answer(before: Entry, after: Entry) -> bool:
    """Whether two messages in a row are pieces of one answer of a provider, by the id it gave them."""
    for key in _RESPONSE_KEYS:
        identity = before.message.get(key)
        if isinstance(identity, str) and identity and identity == after.message.get(key):
            return True
    return False


def is_reasoning_item(entry: Entry) -> bool:
    """Whether a row is a reasoning item of its own, in the Responses dialect."""
    return entry.message.get("type") == "reasoning" and "role" not in entry.message


def _is_only_reasoning(entry: Entry) -> bool:
    # An encrypted item has no text of its own.
    return entry.view.is_blank and (bool(entry.view.reasoning) or is_reasoning_item(entry))


def _is_assistant(entry: Entry) -> bool:
    return entry.view.role == "assistant" and entry.kind != "summary"
