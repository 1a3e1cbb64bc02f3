"""No message without content, and no reasoning without the answer it led to.

How it is repaired: what has nothing to say is left out. Reasoning stays beside its partner unchanged, or goes with it.
"""
from __future__ import annotations

from collections.abc import Sequence

from sessionstore.domain.closed_sets import Profile
from sessionstore.domain.rendering.parts import Draft, Part
from sessionstore.domain.rendering.repairs import Repair
from sessionstore.domain.rules.reasoning import EMPTY_REASONING


def drop_empty(drafts: Sequence[Draft], *, profile: Profile) -> tuple[list[Draft], list[Repair]]:
    """The drafts that have something to say to the provider, and in them only the reasoning that it takes back.

    Reasoning blocks go to ``anthropic`` when they carry their signature (or are encrypted), reasoning items to ``responses``
    when a call or text of the same answer follows them. A chat message keeps the fields it was given, and loses such blocks.
    """
    kept: list[Draft] = []
    repairs: list[Repair] = []
    for draft in drafts:
        parts = draft.parts
        if not any(_speaks(part, profile) for part in parts):
            repairs.append(_left_out(draft))
            continue
        chosen = frozenset(number for number in range(len(parts)) if _stays(parts, number, profile))
        remaining = draft if len(chosen) == len(parts) else draft.select(chosen)
        if remaining is not None:
            kept.append(remaining)
    return kept, repairs


def _stays(parts: Sequence[Part], number: int, profile: Profile) -> bool:
    part = parts[number]
    if part.kind != "reasoning":
        return part.kind != "item" or profile == "responses"
    kind, raw = part.raw.get("type"), part.raw
    if profile == "anthropic":
        if kind == "redacted_thinking":
            return isinstance(raw.get("data"), str)
        return kind == "thinking" and isinstance(raw.get("signature"), str) and bool(raw["signature"])
    if profile == "responses":
        if raw == EMPTY_REASONING:
            return False
        following = next((later for later in parts[number + 1 :] if later.kind != "reasoning"), None)
        return kind == "reasoning" and "text" not in raw and following is not None and _speaks(following, profile)
    return False


def _speaks(part: Part, profile: Profile) -> bool:
    # Items such as a provider's own web search mean something to that provider only.
    return part.is_visible or (part.kind == "item" and profile == "responses")


def _left_out(draft: Draft) -> Repair:
    seq = draft.parts[0].seq
    if any(part.kind == "reasoning" for part in draft.parts):
        return Repair("lone_reasoning", None, seq, f"#{seq} has only reasoning and was left out")
    return Repair("empty_message", None, seq, f"#{seq} has nothing that this provider takes and was left out")
