"""Which sessions a worker compacts on its own, told from their counters before any message is read."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from sessionstore.domain.metering import Pressure
from sessionstore.domain.policy import CompactionPolicy

MOST_MESSAGES: Final = 5_000
"""Messages of a context above which it is compacted whatever its tokens; then pruning alone doesn't count as done."""

DEFAULT_GRACE: Final = 600.0
"""Seconds that a session may stay due before a worker takes it on: its own agent compacts at the end of a turn."""

CHARACTERS_A_TOKEN: Final = 2
"""Characters of a prompt that are one token at least, for prose in scripts of one byte a letter; used to rule sessions out."""

FirstLook = Literal["pass", "measure", "crowded"]
"""What the counters say: it can't be due; it must be measured to tell; it has too many messages, whatever their tokens."""


@dataclass(frozen=True, slots=True)
class Gauge:
    """An open session as its row shows it, without any message.

    ``tokens`` is the remembered sum of its messages, None when they were never counted; ``measured_to`` the seq it was
    counted to. ``usage`` is what the provider measured, with ``usage_to``. ``prompt_length`` is in characters.
    """

    lineage_id: str
    generation: int
    window: int
    messages: int
    next_seq: int
    tokens: int | None
    method: str | None
    measured_to: int | None
    usage: int | None
    tool_schema_tokens: int
    prompt_length: int
    updated_at: float
    cooldown_until: float | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """That a session is to be compacted, why, and from when on (seconds since 1970)."""

    reason: str
    not_before: float


def first_look(gauge: Gauge, policy: CompactionPolicy, *, method: str) -> FirstLook:
    """Judge a session by its row alone; only where that leaves a doubt is it measured, which counts what is new of it."""
    if gauge.messages > MOST_MESSAGES:
        return "crowded"
    if gauge.tokens is None or gauge.method != method or gauge.measured_to != gauge.next_seq:
        return "measure"
    estimate = gauge.tokens + gauge.tool_schema_tokens + gauge.prompt_length // CHARACTERS_A_TOKEN
    return "measure" if max(estimate, gauge.usage or 0) >= policy.threshold(gauge.window) else "pass"


def verdict(gauge: Gauge, pressure: Pressure | None, policy: CompactionPolicy, *, grace: float, now: float) -> Verdict | None:
    """Whether a worker is to compact a session; ``pressure`` is None for one that is too crowded to be measured first."""
    if gauge.messages > MOST_MESSAGES:
        return Verdict(f"its context has {gauge.messages:,} messages", now)
    if pressure is None or not pressure.due:
        return None
    if pressure.tokens >= policy.hygiene_ratio * gauge.window:
        return Verdict(f"its context has {pressure.tokens:,} tokens of a window of {gauge.window:,}", now)
    # Whatever made it due was written by then: a context only grows while its session is open. A writer's clock may be ahead.
    return Verdict(f"it has been due since it had {pressure.tokens:,} tokens", min(gauge.updated_at, now) + grace)
