"""Call ids and tool names that a provider takes: none empty, too long or of foreign characters, no id twice where it counts.

How it is repaired: a repeated id gets a number, a long one ends in a digest, call and result alike. What is made of an id
depends on what stands before it only, so every rendering of a growing context gives the same ids.
"""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from operator import is_
from typing import Any, Final

from sessionstore.domain.closed_sets import Profile
from sessionstore.domain.messages import Message, clean_text
from sessionstore.domain.rendering.parts import Draft, Key, Member, Part
from sessionstore.domain.rendering.repairs import Repair

_FOREIGN: Final = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True)
class _Limits:
    """What a provider takes: the longest id and tool name, and whether an id may have any character."""

    longest_id: int
    longest_name: int
    any_character: bool = False


_LIMITS: Final[Mapping[Profile, _Limits]] = {
    "openai": _Limits(40, 64, any_character=True),
    "strict": _Limits(40, 64, any_character=True),
    "anthropic": _Limits(64, 128),
    "responses": _Limits(64, 128),
}
"""Servers that speak the chat form make ids such as ``functions.run:0`` and take them back."""


def acceptable_names(drafts: Sequence[Draft], *, profile: Profile) -> tuple[list[Draft], list[Repair]]:
    """The drafts with call ids and tool names as the profile wants them, and what was replaced.

    Ids are unique within a message, for ``anthropic`` in the whole context. A call of the old form ``function_call`` has no id
    and needs none, as long as what answers it is of the old form too.
    """
    limits = _LIMITS[profile]
    results = {part.key: part.raw for draft in drafts for part in draft.parts if part.kind == "result"}
    chosen: dict[Key, tuple[str, str]] = {}
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
            if part.kind != "call" or part.key is None or part.call is None:
                continue
            name = part.call.name if part.inline else tool_name(part.call.name, limits.longest_name)
            if profile == "openai" and name == part.call.name and _is_of_old_form(part.raw, results.get(part.key)):
                final = part.given_id
            else:
                final = _free(_id(part.given_id, limits), used, reserved - {part.given_id}, limits)
                used.add(final)
            chosen[part.key] = (final, name)
            if final != part.given_id:
                text = f"call {part.given_id!r} of #{part.seq} is handed out as {final!r}"
                repairs.append(Repair("renamed_call", part.given_id, part.seq, text))
            if name != part.call.name:
                text = f"tool {part.call.name!r} of #{part.seq} is handed out as {name!r}"
                repairs.append(Repair("renamed_call", part.given_id, part.seq, text))
    return [_with_names(draft, chosen, limits) for draft in drafts], repairs


def tool_name(given: str, longest: int) -> str:
    """The name of a tool as a provider takes it: letters, digits, ``_`` and ``-``, and not too many."""
    return _shortened(_FOREIGN.sub("_", given), given, longest) or "unknown_tool"


def item_with_acceptable_id(item: Message) -> Message:
    """A Responses item of a type that nobody here knows with its call id as the provider takes it; the item itself where it is.

    An item and what answers it have one id, of which the same is made.
    """
    given = item.get("call_id")
    if not isinstance(given, str) or given == (taken := _id(given, _LIMITS["responses"])):
        return item
    return {**item, "call_id": taken}


def _id(given: str, limits: _Limits) -> str:
    wanted = given if limits.any_character else _FOREIGN.sub("_", given)
    return _shortened(wanted, given, limits.longest_id) or "call"


def _shortened(wanted: str, given: str, longest: int) -> str:
    if len(wanted) <= longest:
        return wanted
    # What makes an id its own often stands at its end.
    return f"{wanted[: longest - 9]}_{blake2b(clean_text(given).encode(), digest_size=4).hexdigest()}"


def _free(wanted: str, used: set[str], reserved: set[str], limits: _Limits) -> str:
    candidate, number = wanted, 1
    while candidate in used or candidate in reserved:
        number += 1
        ending = f"_{number}"
        candidate = wanted[: limits.longest_id - len(ending)] + ending
    return candidate


def _is_of_old_form(call: Any, result: Any) -> bool:
    is_old_call = isinstance(call, Mapping) and not call.keys() & {"id", "call_id", "type", "function", "custom"}
    return is_old_call and (result is None or (isinstance(result, Mapping) and result.get("role") == "function"))


def _with_names(draft: Draft, chosen: Mapping[Key, tuple[str, str]], limits: _Limits) -> Draft:
    members = tuple(_renamed(member, chosen, limits) for member in draft.members)
    return draft if all(map(is_, members, draft.members)) else replace(draft, members=members)


def _renamed(member: Member, chosen: Mapping[Key, tuple[str, str]], limits: _Limits) -> Member:
    parts = tuple(_with_name(part, chosen, limits) for part in member.parts)
    return member if all(map(is_, parts, member.parts)) else replace(member, parts=parts)


def _with_name(part: Part, chosen: Mapping[Key, tuple[str, str]], limits: _Limits) -> Part:
    if part.key is None or part.key not in chosen:
        return part
    call_id, name = chosen[part.key]
    call, result = part.call, part.result
    if call is not None and call.name != name:
        call = replace(call, name=name)
    if result is not None and result.name is not None and not part.inline:
        written = tool_name(result.name, limits.longest_name)
        result = result if written == result.name else replace(result, name=written)
    if call_id == part.call_id and call is part.call and result is part.result:
        return part
    return replace(part, call_id=call_id, call=call, result=result)
