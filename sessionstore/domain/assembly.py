"""How the rows of a continuation fit together: the role that its summary takes."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sessionstore.domain.closed_sets import Profile
from sessionstore.domain.rendering import to_provider
from sessionstore.domain.rendering.alternation import next_bridge, side_after
from sessionstore.domain.rendering.outgoing import Outgoing
from sessionstore.domain.rendering.parts import Voice
from sessionstore.domain.rules.instructions import is_instruction
from sessionstore.domain.transcript import Entry

_CANDIDATES: Final[tuple[Voice, Voice]] = ("assistant", "user")


def summary_role(before: Sequence[Entry], after: Sequence[Entry], profile: Profile) -> Voice:
    """The role of a summary that stands between these rows: assistant unless that collides with a neighbour, then user.

    Neighbours are taken as the provider sees them: for ``anthropic`` a tool's result is the user's side and the first message
    must be a user's, for ``strict`` tool traffic doesn't count, ``openai`` and ``responses`` take any order. When both roles
    collide it is assistant, and the rendering puts a bridge beside it; so it is when no person wrote anything, because the
    rendering then needs a message of the user's in any case.
    """
    if profile in ("openai", "responses") or not any(entry.is_request for entry in (*before, *after)):
        return "assistant"
    last: Voice | None = None
    for message in _outgoing(before, profile):
        last = side_after(last, message, profile)
    following = next(iter(_outgoing(after, profile)), None)
    for voice in _CANDIDATES:
        summary = Outgoing({}, voice, origin="summary")
        if next_bridge(last, summary, profile) is not None:
            continue
        if following is None or next_bridge(side_after(last, summary, profile), following, profile) is None:
            return voice
    return "assistant"


def _outgoing(entries: Sequence[Entry], profile: Profile) -> list[Outgoing]:
    return to_provider([entry for entry in entries if not is_instruction(entry)], profile=profile)[0]
