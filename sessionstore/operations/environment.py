"""What the outside gives a store: its database, clock, ids, counter, hooks and limits, as one frozen value."""
from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from sessionstore.domain.messages import DEFAULT_MAX_MESSAGE_BYTES, Message
from sessionstore.domain.policy import DEFAULT_IMAGE_TOKENS, CompactionPolicy
from sessionstore.domain.token_counter import TokenCounter
from sessionstore.storage.engines import Database
from sessionstore.storage.store_clock import store_time

if TYPE_CHECKING:
    from sessionstore.domain.plan import CompactionPlan

Clock = Callable[[], float]
"""Gives the time in seconds since 1970, as ``time.time`` does."""

IdSource = Callable[[], str]
"""Gives a new id at every call that no other process gives too."""


_Facts = Sequence[str] | None


@dataclass(frozen=True, slots=True)
class PromptContext:
    """What a framework's own prompt builder is told when a compaction rebuilds the system prompt.

    ``session_id`` is the session that was compacted, ``parts`` are the named parts of its stored prompt in order, ``memories``
    the facts that are kept for the lineage.
    """

    session_id: str
    lineage_id: str
    parts: Mapping[str, str]
    memories: Sequence[str]


@dataclass(frozen=True, slots=True)
class CompactionHooks:
    """What a framework may do around a compaction; every hook is optional and runs while no transaction is open.

    With the async front a hook may be an async function, which is awaited on the event loop; a plain one runs in a thread.

    ``flush_memories`` gets the messages of the context before anything is summarised and answers facts to keep. It and
    ``before_compact``, which gets the plan, may raise ``CompactionVetoedError``. ``build_system_prompt`` answers the text of
    the continuation's system prompt, which is stored as it is. ``after_commit`` gets the ids of the compacted session and of
    its continuation; what it raises reaches the caller, the compaction stays committed.
    """

    flush_memories: Callable[[Sequence[Message]], _Facts | Awaitable[_Facts]] | None = None
    before_compact: Callable[[CompactionPlan], Awaitable[None] | None] | None = None
    after_commit: Callable[[str, str], Awaitable[None] | None] | None = None
    build_system_prompt: Callable[[PromptContext], str | Awaitable[str]] | None = None


@dataclass(frozen=True, slots=True)
class Environment:
    """Everything that a front hands to the units of work and the jobs it runs. Without a ``clock`` there are two: see below."""

    database: Database
    clock: Clock | None
    ids: IdSource
    counter: TokenCounter
    hooks: CompactionHooks = field(default_factory=CompactionHooks)
    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    owner: str = ""

    def now(self) -> float:
        """The time of what this process writes, in seconds since 1970, by the clock that was passed in or the machine's."""
        return float((self.clock or time.time)())

    def shared_time(self, connection: Connection) -> float:
        """The time that all processes go by, in seconds since 1970, for leases and pauses: the server's without a ``clock``.

        It costs a question of its own on a server, so appends go without it.
        """
        return store_time(connection) if self.clock is None else self.now()


def meter_method(counter: TokenCounter, policy: CompactionPolicy) -> str:
    """How token numbers were got: the counter's method, and the price of an image where it isn't the usual one."""
    usual = policy.image_tokens == DEFAULT_IMAGE_TOKENS
    return counter.method if usual else f"{counter.method}, image={policy.image_tokens}"
