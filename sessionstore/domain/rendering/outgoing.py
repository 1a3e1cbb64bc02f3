"""A message in its provider's form, with what the order of roles depends on."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from sessionstore.domain.messages import Message
from sessionstore.domain.rendering.parts import Draft, Member

IMPORT_KEYS: Final = ("parent", "sidechain", "created_at", "requires")
"""Keys that an importer puts into a message and no provider knows."""

_FRAGMENT_KEYS: Final = ("content", "tool_calls", "function_call", "refusal", "audio")


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message to send. ``voice`` is ``tool`` when it only brings results; ``has_words``: something besides calls."""

    message: Message
    voice: Literal["user", "assistant", "tool"]
    sources: tuple[int, ...] = ()
    origin: Literal["log", "summary", "stub", "bridge"] = "log"
    has_words: bool = True


def origin_of(draft: Draft) -> Literal["log", "summary", "stub"]:
    """Whether a draft is the summary, a stub, or a row of the log."""
    if draft.kind == "summary":
        return "summary"
    return "log" if draft.sources else "stub"


def kept_fields(member: Member) -> dict[str, Any]:
    """What stays of a chat message whose content must be rebuilt: every key of its own, known or not."""
    envelope = member.envelope
    if "role" not in envelope or "type" in envelope:
        return {}
    return {key: value for key, value in envelope.items() if key not in _FRAGMENT_KEYS}


def present_ids(drafts: Iterable[Draft]) -> frozenset[str]:
    """The provider's item ids of everything that is sent."""
    envelopes = (member.envelope for draft in drafts for member in draft.members)
    return frozenset(envelope["id"] for envelope in envelopes if isinstance(envelope.get("id"), str))


def sendable(message: Message, present: frozenset[str]) -> Message:
    """The message without keys that only the importer knows; its ``id`` goes too when what it requires is not there.

    The message itself comes back when there is nothing to take away.
    """
    dropped: set[str] = {key for key in IMPORT_KEYS if key in message}
    if not dropped:
        return message
    required = message.get("requires")
    needed = [required] if isinstance(required, str) else required if isinstance(required, list) else []
    if any(item not in present for item in needed if isinstance(item, str)):
        dropped.add("id")
    return {key: value for key, value in message.items() if key not in dropped}


def is_blocks(content: Any, refused: frozenset[str]) -> bool:
    """Whether content is a list of typed blocks, none of them of a type that belongs to another provider."""
    return isinstance(content, list) and all(
        isinstance(block, Mapping) and isinstance(block.get("type"), str) and block["type"] not in refused for block in content
    )
