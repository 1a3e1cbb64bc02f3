"""How full a session is: cached counts are read, what is new is counted with no transaction open, the sum is remembered."""
from __future__ import annotations

from dataclasses import replace

from sessionstore.domain.closed_sets import TIERS, Tier
from sessionstore.domain.metering import Pressure, message_tokens, prompt_tokens
from sessionstore.domain.policy import CompactionPolicy
from sessionstore.operations.environment import Environment, meter_method
from sessionstore.operations.measuring import MeterReading, read_meter, remember_meter
from sessionstore.operations.reading import session_of
from sessionstore.operations.steps import Steps, call, read, write
from sessionstore.storage.session_rows import warn_of_tier

PROVIDER: str = "provider"
"""The method of a number that the model's provider measured, with an estimate for what came after it."""


def warning_pressure_of(
    environment: Environment, lineage_id: str, generation: int, policy: CompactionPolicy
) -> Steps[Pressure]:
    """Measure a session's context for whoever works in it, and remember the highest tier that was told."""
    found = yield from pressure_of(environment, lineage_id, generation, policy)
    if not found.is_new_tier:
        return found
    is_new = yield from write(lambda c: warn_of_tier(c, lineage_id, generation, found.tier))
    return replace(found, is_new_tier=is_new)


def pressure_of(environment: Environment, lineage_id: str, generation: int, policy: CompactionPolicy) -> Steps[Pressure]:
    """Measure a session's context against a policy."""
    method = meter_method(environment.counter, policy)
    found = yield from read(lambda c: read_meter(c, session_of(c, lineage_id, generation), method))
    counts = yield from call(lambda: _count(environment, found, policy))
    total = found.counted + sum(counts.values())
    if counts or found.session.context_tokens_seq != found.session.next_seq:
        yield from write(lambda c: remember_meter(c, found.session, method, counts, total=total), repeatable=True)
    prompt = yield from call(lambda: prompt_tokens(found.prompt_text, environment.counter))
    return pressure(found, counts, history=total, prompt=prompt, method=method, policy=policy)


def pressure(
    found: MeterReading,
    counts: dict[int, int],
    *,
    history: int,
    prompt: int,
    method: str,
    policy: CompactionPolicy,
) -> Pressure:
    """Put the figures together; the provider's own measurement, with what came after it, beats the estimate."""
    session = found.session
    tools = session.tool_schema_tokens
    if session.usage_prompt is not None and session.usage_seq is not None:
        since = {**found.tokens_since_usage, **counts}
        newer = sum(tokens for seq, tokens in since.items() if seq >= session.usage_seq)
        measured = session.usage_prompt + (session.usage_completion or 0) + newer
        history = max(measured - prompt - tools, 0)
        method = f"{PROVIDER}, then {method}" if newer else PROVIDER
    tokens = prompt + tools + history
    window = session.context_window
    tier: Tier = "ok" if window is None else policy.tier(tokens, window)
    return Pressure(
        tokens=tokens,
        parts={"system": prompt, "tools": tools, "history": history},
        method=method,
        window=window,
        threshold=None if window is None else policy.threshold(window),
        tier=tier,
        is_new_tier=TIERS.index(tier) > TIERS.index(session.warned_tier),
    )


def _count(environment: Environment, found: MeterReading, policy: CompactionPolicy) -> dict[int, int]:
    return {
        row.seq: message_tokens(row.message, environment.counter, image_tokens=policy.image_tokens)
        for row in found.uncounted
    }
