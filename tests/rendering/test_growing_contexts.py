"""A rendering of a context that grew begins with the rendering from before: a provider's cache stays warm."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from sessionstore.domain.closed_sets import Profile
from sessionstore.domain.rendering import render_context
from sessionstore.domain.transcript import Entry

Message = dict[str, Any]


def turn(number: int) -> list[Message]:
    call = {"id": "0", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    return [
        {"role": "user", "content": f"do {number}"},
        {"role": "assistant", "content": "I look.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "0", "content": "x"},
        {"role": "assistant", "content": "done"},
        {"role": "assistant", "content": "really"},
        {"role": "user", "content": "and"},
    ]


@pytest.mark.parametrize("profile", get_args(Profile))
def test_each_rendering_begins_with_the_one_before(profile: Profile) -> None:
    """PROMPT-1, PAIR-2."""
    entries = [Entry(seq, "message", message) for seq, message in enumerate(turn(1) + turn(2))]
    before: list[Message] = []
    for length in range(1, len(entries) + 1):
        if entries[length - 1].view.calls:
            continue
        messages = render_context(entries[:length], profile=profile, system_prompt="s").messages
        assert messages[: len(before)] == before
        before = messages
