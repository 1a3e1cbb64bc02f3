"""Carries out a conversation with an endpoint through a provider's own client, on an event loop.

Both clients (``openai``, ``anthropic``) are built alike: a call that gives the reply before its body is read. The body is read
here, piece by piece, and that of an error by a hook before the client would read all of it, so no flood outlasts the largest
reply. A slow drip, be it of the head, the body or an error's body, ends with the time for the whole reply, which only an event
loop can cut off anywhere; so who waits without one gets one (``wait_apart``).
"""
from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass
from threading import Thread
from typing import Any, Final, TypeVar

from sessionstore.domain.summarizing import SummaryAnswer
from sessionstore.summarizers.endpoint import Conversation, NoReply, Reply, Send

T = TypeVar("T")

_NETWORK_FAMILIES: Final = ("httpx", "httpcore", "h11", "h2")
"""Beginnings of the names of the packages that the clients send through."""


@dataclass(frozen=True, slots=True)
class ReplyLimits:
    """``timeout`` is seconds for one whole reply, ``largest_reply`` bytes of its body."""

    timeout: float
    largest_reply: int


class _ErrorReply(Exception):  # noqa: N818 - no error of ours: it carries an endpoint's through its client
    """A reply with an error's status, its body read up to the limit."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply: Final = reply


def error_reader(limits: ReplyLimits) -> Callable[[Any], Awaitable[None]]:
    """A hook for a client's replies: reads an error's body, which the client would do without a limit."""

    async def read_error(response: Any) -> None:
        if response.status_code >= 400:
            raise _ErrorReply(await _read(response, limits))

    return read_error


async def carry_out(conversation: Conversation, create: Callable[..., Any], limits: ReplyLimits) -> SummaryAnswer:
    """Send, wait and read until the conversation returns its answer. ``create`` is the client's streaming-response call."""
    given: Reply | NoReply | None = None
    while True:
        try:
            step = conversation.send(given)
        except StopIteration as stop:
            answer: SummaryAnswer = stop.value
            return answer
        if isinstance(step, Send):
            given = await _exchange(create, step.payload, limits)
        else:
            await asyncio.sleep(step.seconds)
            given = None


def wait_apart(begin: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine on an event loop in a thread of its own and wait for its result, also where another loop is running.

    What interrupts the wait (Ctrl-C) cancels the coroutine and is raised at once.
    """
    outcome: Future[T] = Future()
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[None]]] = []

    async def settle() -> None:
        task = asyncio.current_task()
        assert task is not None
        running.append((asyncio.get_running_loop(), task))
        try:
            result = await begin()
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            outcome.set_exception(error)
        else:
            outcome.set_result(result)

    Thread(target=copy_context().run, args=(asyncio.run, settle()), name="sessionstore-endpoint", daemon=True).start()
    try:
        return outcome.result()
    finally:
        if running and not outcome.done():
            loop, task = running[0]
            loop.call_soon_threadsafe(task.cancel)


async def _exchange(create: Callable[..., Any], payload: Mapping[str, Any], limits: ReplyLimits) -> Reply | NoReply:
    try:
        async with asyncio.timeout(limits.timeout), create(**payload) as response:
            return await _read(response, limits)
    except Exception as error:  # noqa: BLE001 - clients and their network layers raise errors of many families
        return _outcome_of(error, limits)


async def _read(response: Any, limits: ReplyLimits) -> Reply:
    headers = {name.lower(): value for name, value in response.headers.items()}
    body = bytearray()
    pieces = response.aiter_bytes() if hasattr(response, "aiter_bytes") else response.iter_bytes()
    async for piece in pieces:
        body += piece
        if len(body) > limits.largest_reply:
            return Reply(response.status_code, headers, bytes(body), is_whole=False)
    return Reply(response.status_code, headers, bytes(body))


def _outcome_of(error: Exception, limits: ReplyLimits) -> Reply | NoReply:
    """A client's error: the reply that it is about, or that there was none."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, _ErrorReply):
            return cause.reply
        cause = cause.__cause__
    name, family = type(error).__name__, type(error).__module__.partition(".")[0]
    if isinstance(error, TimeoutError) or "Timeout" in name:
        return NoReply("timeout", f"no whole reply within {limits.timeout:g} s")
    if isinstance(error, OSError) or "Connection" in name or family.startswith(_NETWORK_FAMILIES):
        return NoReply("unreachable", f"the connection failed ({name})")
    return NoReply("failed", f"the request could not be made ({name})")
