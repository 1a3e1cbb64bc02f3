"""Carries out a conversation with an endpoint through a provider's own client, in a sync and an async loop.

Both clients (``openai``, ``anthropic``) are built alike: a call that gives the reply before its body is read. The body is read
here, piece by piece, so that neither a slow drip nor a flood outlasts its limit.
"""
from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sessionstore.domain.summarizing import SummaryAnswer
from sessionstore.summarizers.endpoint import Conversation, NoReply, Reply, Send

_NETWORK_FAMILIES: Final = ("httpx", "httpcore", "h11", "h2")
"""Beginnings of the names of the packages that the clients send through."""


@dataclass(frozen=True, slots=True)
class ReplyLimits:
    """``timeout`` is seconds for one whole reply, ``largest_reply`` bytes of its body."""

    timeout: float
    largest_reply: int


def carry_out(conversation: Conversation, create: Callable[..., Any], limits: ReplyLimits) -> SummaryAnswer:
    """Send, wait and read until the conversation returns its answer. ``create`` is the client's streaming-response call."""
    given: Reply | NoReply | None = None
    while True:
        try:
            step = conversation.send(given)
        except StopIteration as stop:
            answer: SummaryAnswer = stop.value
            return answer
        if isinstance(step, Send):
            given = _exchange(create, step.payload, limits)
        else:
            time.sleep(step.seconds)
            given = None


async def carry_out_async(conversation: Conversation, create: Callable[..., Any], limits: ReplyLimits) -> SummaryAnswer:
    """The same on an event loop."""
    given: Reply | NoReply | None = None
    while True:
        try:
            step = conversation.send(given)
        except StopIteration as stop:
            answer: SummaryAnswer = stop.value
            return answer
        if isinstance(step, Send):
            given = await _exchange_async(create, step.payload, limits)
        else:
            await asyncio.sleep(step.seconds)
            given = None


def _exchange(create: Callable[..., Any], payload: Mapping[str, Any], limits: ReplyLimits) -> Reply | NoReply:
    begun = time.monotonic()
    try:
        with create(**payload) as response:
            body = bytearray()
            for piece in response.iter_bytes():
                body += piece
                if len(body) > limits.largest_reply:
                    return _reply(response, body, is_whole=False)
                if time.monotonic() - begun > limits.timeout:
                    return _too_slow(limits)
            return _reply(response, body)
    except Exception as error:  # noqa: BLE001 - clients and their network layers raise errors of many families
        return _outcome_of(error, limits)


async def _exchange_async(create: Callable[..., Any], payload: Mapping[str, Any], limits: ReplyLimits) -> Reply | NoReply:
    try:
        async with asyncio.timeout(limits.timeout), create(**payload) as response:
            body = bytearray()
            async for piece in response.iter_bytes():
                body += piece
                if len(body) > limits.largest_reply:
                    return _reply(response, body, is_whole=False)
            return _reply(response, body)
    except Exception as error:  # noqa: BLE001 - clients and their network layers raise errors of many families
        return _outcome_of(error, limits)


def _reply(response: Any, body: bytearray, *, is_whole: bool = True) -> Reply:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Reply(response.status_code, headers, bytes(body), is_whole)


def _too_slow(limits: ReplyLimits) -> NoReply:
    return NoReply("timeout", f"no whole reply within {limits.timeout:g} s")


def _outcome_of(error: Exception, limits: ReplyLimits) -> Reply | NoReply:
    """A client's error: the reply that it is about, or that there was none."""
    response = getattr(error, "response", None)
    if response is not None and hasattr(response, "status_code") and response.status_code >= 400:
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Reply(response.status_code, headers, bytes(response.content[: limits.largest_reply]))
    name, family = type(error).__name__, type(error).__module__.partition(".")[0]
    if isinstance(error, TimeoutError) or "Timeout" in name:
        return _too_slow(limits)
    if isinstance(error, OSError) or "Connection" in name or family.startswith(_NETWORK_FAMILIES):
        return NoReply("unreachable", f"the connection failed ({name})")
    return NoReply("failed", f"the request could not be made ({name})")
