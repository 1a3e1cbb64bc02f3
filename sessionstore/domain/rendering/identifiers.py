"""Call ids that a provider takes: no two equal where it wants them unique, none empty, no foreign characters.

How it is repaired: a repeated id gets a number, call and result alike. The number depends on what stands before it only, so
every rendering of a growing context gives the same ids.
"""
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sessionstore.domain.closed_sets import Profile
from sessionstore.domain.rendering.parts import Draft, Part
from sessionstore.domain.rendering.repairs import Repair

_FOREIGN: Final = re.compile(r"[^A-Za-z0-9_-]")


def unique_call_ids(drafts: Sequence[Draft], *, profile: Profile) -> tuple[list[Draft], list[Repair]]:
    """The drafts with ids as the profile wants them.

    ``openai``: as given. ``strict`` and ``responses``: unique within a message. ``anthropic``: unique in the whole context,
    and of letters, digits, ``_`` and ``-`` only.
    """
    if profile == "openai":
        return list(drafts), []
    chosen: dict[tuple[int, int], str] = {}
    repairs: list[Repair] = []
    used: set[str] = set()
    for draft in drafts:
        if draft.voice != "assistant":
            continue
        if profile != "anthropic":
            used = set()
        # An id that some call was given is never taken for another one of the same message.
        reserved = {part.given_id for part in draft.parts if part.kind == "call"}
        for part in draft.parts:
            if part.kind != "call" or part.key is None:
                continue
            wanted = _FOREIGN.sub("_", part.given_id) if profile == "anthropic" else part.given_id
            final = _free(wanted or "call", used, reserved - {part.given_id})
            used.add(final)
            chosen[part.key] = final
            if final != part.given_id:
                text = f"call {part.given_id!r} of #{part.seq} is handed out as {final!r}"
                repairs.append(Repair("renamed_call", part.given_id, part.seq, text))
    return [_with_ids(draft, chosen) for draft in drafts], repairs


def _free(wanted: str, used: set[str], reserved: set[str]) -> str:
    candidate, number = wanted, 1
    while candidate in used or candidate in reserved:
        number += 1
        candidate = f"{wanted}_{number}"
    return candidate


def _with_ids(draft: Draft, chosen: dict[tuple[int, int], str]) -> Draft:
    if not any(part.key in chosen and chosen[part.key] != part.call_id for part in draft.parts if part.key is not None):
        return draft
    members = tuple(
        replace(member, parts=tuple(_with_id(part, chosen) for part in member.parts)) for member in draft.members
    )
    return replace(draft, members=members)


def _with_id(part: Part, chosen: dict[tuple[int, int], str]) -> Part:
    return part if part.key is None else replace(part, call_id=chosen.get(part.key, part.call_id))
