"""No message without content, and no reasoning without the answer it led to.

How it is repaired: what has nothing to say is left out. Reasoning stays beside its partner unchanged, or goes with it.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from sessionstore.domain.closed_sets import Profile
from sessionstore.domain.rendering.parts import Draft, Part
from sessionstore.domain.rendering.repairs import Repair
from sessionstore.domain.response_items import type_of
from sessionstore.domain.rules.reasoning import EMPTY_REASONING


def drop_empty(drafts: Sequence[Draft], *, profile: Profile) -> tuple[list[Draft], list[Repair]]:
    """The drafts that have something to say to the provider, and in them only the reasoning that it takes back.

    Reasoning blocks go to ``anthropic`` when they carry their signature (or are encrypted), reasoning items to ``responses``
    when a call or text of the same answer follows them. A chat message keeps the fields it was given, and loses such blocks.
    """
    kept: list[Draft] = []
    requested: set[str] = set()
    repairs: list[Repair] = []
    for draft in drafts:
        parts = draft.parts
        if profile == "responses" and (lost := _unasked_approval(parts, requested)) is not None:
            repairs.append(lost)
            continue
        if not any(_speaks(part, profile) for part in parts):
            repairs.append(_left_out(draft))
            continue
        stays = [number for number in range(len(parts)) if _stays(parts, number, profile)]
        while profile == "anthropic" and stays and parts[stays[-1]].kind == "reasoning":
            # What it led to was blank: no answer may end in reasoning.
            repairs.append(_lone(parts[stays.pop()]))
        chosen = frozenset(stays)
        remaining = draft if len(chosen) == len(parts) else draft.select(chosen)
        if remaining is not None:
            kept.append(remaining)
    return kept, repairs


def _unasked_approval(parts: Sequence[Part], requested: set[str]) -> Repair | None:
    """What says that a draft answers a request for approval that is not before it; None for any other. Notes requests."""
    for part in parts:
        raw = part.raw if part.kind == "item" else {}
        if type_of(raw) == "mcp_approval_request":
            requested.add(str(raw.get("id")))
        elif type_of(raw) == "mcp_approval_response" and str(asked := raw.get("approval_request_id")) not in requested:
            text = f"the approval of #{part.seq} answers {asked!r}, which nothing before it asks for; it was left out"
            return Repair("orphan_result", None, part.seq, text)
    return None


def _stays(parts: Sequence[Part], number: int, profile: Profile) -> bool:
    part = parts[number]
    if part.kind == "text" and isinstance(part.raw, Mapping) and not part.is_visible:
        return False
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


def _lone(part: Part) -> Repair:
    return Repair("lone_reasoning", None, part.seq, f"reasoning of #{part.seq} led to nothing and was left out")


def _left_out(draft: Draft) -> Repair:
    seq = draft.parts[0].seq
    if any(part.kind == "reasoning" for part in draft.parts):
        return Repair("lone_reasoning", None, seq, f"#{seq} has only reasoning and was left out")
    return Repair("empty_message", None, seq, f"#{seq} has nothing that this provider takes and was left out")
