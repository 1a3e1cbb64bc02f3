"""Turns in the making: what one side says, with the messages that bring the results of its calls."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from sessionstore.domain.rendering.parts import Draft, Key, Part
from sessionstore.domain.response_items import type_of

_SERVERS_CALLS: Final = frozenset({"server_tool_use", "mcp_tool_use"})
"""Types of calls that the provider runs itself. Where the answer asks for a tool of the caller's too, it may do so only once it
has that one's result, and tells what came of it in its next answer."""


@dataclass(slots=True)
class Turn:
    """A draft, the messages that answer its calls, and which calls have their answer."""

    draft: Draft
    answers: list[Draft] = field(default_factory=list)
    answered: set[Key] = field(default_factory=set)

    @property
    def calls(self) -> list[Part]:
        """The calls that it makes, in order."""
        return [part for part in self.draft.parts if part.kind == "call"]

    @property
    def only_asks(self) -> bool:
        """Whether it asks for tools of the caller's, and nobody but these has spoken since."""
        brought = [part for answer in self.answers for part in answer.parts]
        return any(not is_of_server(part) for part in self.calls) and all(part.kind == "result" for part in brought)

    def makes_servers_call(self, key: Key | None) -> bool:
        """Whether one of its calls, which the provider runs itself, has this key."""
        return any(part.key == key and is_of_server(part) for part in self.calls)

    def keep_inline(self, key: Key | None) -> None:
        """Leave a call, and what answers it, as the provider wrote them."""
        members = tuple(
            replace(member, parts=tuple(replace(part, inline=True) if part.key == key else part for part in member.parts))
            for member in self.draft.members
        )
        self.draft = replace(self.draft, members=members)


def goes_on_since(turn: Turn, turns: Sequence[Turn]) -> bool:
    """Whether the turns since one wait for tools of the caller's: so may a server's tool that was called there."""
    for later in reversed(turns):
        if not later.only_asks:
            return False
        if later is turn:
            return True
    return False


def leave_servers_calls_open(turns: Sequence[Turn]) -> None:
    """Keep as they are the calls that the provider itself will answer when it is sent these turns."""
    last = turns[-1] if turns else None
    callers = {_caller_of(part) for part in last.calls} if last is not None else set()
    for turn in turns:
        for part in turn.calls:
            goes_on = turn is last or (part.given_id in callers and goes_on_since(turn, turns))
            if goes_on and part.key not in turn.answered and is_of_server(part):
                turn.keep_inline(part.key)


def is_of_server(call: Part) -> bool:
    """Whether the provider runs a call itself."""
    return type_of(call.raw) in _SERVERS_CALLS


def _caller_of(call: Part) -> str | None:
    """The id of the server's call whose code asked for a tool of the caller's, if it did."""
    caller = call.raw.get("caller") if isinstance(call.raw, Mapping) else None
    identity = caller.get("tool_id") if isinstance(caller, Mapping) else None
    return identity if isinstance(identity, str) else None
