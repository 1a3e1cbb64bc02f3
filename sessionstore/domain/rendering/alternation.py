"""The order of roles that a provider wants (ROLE-1): who may speak first, and who after whom.

How it is repaired: a short bridging message of constant text is put in between. Results that stand together become one user
message for Anthropic. A person's message is never touched, and a summary never merged.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sessionstore.domain.closed_sets import Profile
from sessionstore.domain.rendering.outgoing import Outgoing
from sessionstore.domain.rendering.parts import Voice
from sessionstore.domain.rendering.repairs import ASSISTANT_BRIDGE, USER_BRIDGE, Repair

_USER: Final = Outgoing({"role": "user", "content": USER_BRIDGE}, "user", origin="bridge")
_ASSISTANT: Final = Outgoing({"role": "assistant", "content": ASSISTANT_BRIDGE}, "assistant", origin="bridge")


def order_roles(messages: Sequence[Outgoing], *, profile: Profile) -> tuple[list[Outgoing], list[Repair]]:
    """The messages in an order of roles that the profile accepts, with at least one user message among them."""
    found = _with_a_user(messages)
    if profile in ("anthropic", "strict"):
        found = _alternate(found, profile)
    repairs = [
        Repair("bridge", None, None, f"a bridging {message.voice} message is message {index} after the system prompt")
        for index, message in enumerate(found, 1)
        if message.origin == "bridge"
    ]
    return [_copy(message) if message.origin == "bridge" else message for message in found], repairs


def next_bridge(last: Voice | None, message: Outgoing, profile: Profile) -> Outgoing | None:
    """The bridge that must stand before a message, after the side that spoke last (None: nobody has); None when none.

    For ``anthropic`` a tool's result is the user's side. For ``strict`` tool messages and messages with only calls don't count
    as speaking, but a call still wants a user before it: that way no user ever has to be put between a result and an answer.
    """
    if message.voice == "assistant":
        return None if last == "user" else _USER
    if message.voice == "tool" and profile == "strict":
        return None
    return _ASSISTANT if last == "user" else None


def side_after(last: Voice | None, message: Outgoing, profile: Profile) -> Voice | None:
    """The side that has spoken last once this message is sent, as the profile sees it."""
    if message.voice == "tool":
        return last if profile == "strict" else "user"
    if message.voice == "assistant" and profile == "strict" and not message.has_words:
        return last
    return message.voice


def _with_a_user(messages: Sequence[Outgoing]) -> list[Outgoing]:
    if any(message.voice == "user" and message.origin != "summary" for message in messages):
        return list(messages)
    # Behind the summary, in a place that doesn't move when the context grows.
    place = next((index for index, message in enumerate(messages) if message.origin != "summary"), len(messages))
    return [*messages[:place], _USER, *messages[place:]]


def _alternate(messages: Sequence[Outgoing], profile: Profile) -> list[Outgoing]:
    found: list[Outgoing] = []
    last: Voice | None = None
    for message in messages:
        if profile == "anthropic" and found and found[-1].voice == message.voice == "tool":
            found[-1] = _merge(found[-1], message)
            continue
        if (bridge := next_bridge(last, message, profile)) is not None:
            found.append(bridge)
            last = "user" if bridge is _USER else "assistant"
        found.append(message)
        last = side_after(last, message, profile)
    return found


def _merge(first: Outgoing, second: Outgoing) -> Outgoing:
    content: list[Any] = [*first.message["content"], *second.message["content"]]
    sources = tuple(dict.fromkeys((*first.sources, *second.sources)))
    return Outgoing({"role": "user", "content": content}, "tool", sources, first.origin if first.sources else second.origin)


def _copy(message: Outgoing) -> Outgoing:
    # Each bridge is a dict of its own, so that a caller who writes into one doesn't write into all.
    return Outgoing(dict(message.message), message.voice, origin="bridge")
