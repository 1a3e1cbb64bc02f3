"""One odd message never keeps the others from being rendered (LOG-3)."""
from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessionstore.domain.closed_sets import Profile
from sessionstore.domain.rendering import render_context
from sessionstore.domain.transcript import Entry

Message = dict[str, Any]
PROFILES: tuple[Profile, ...] = get_args(Profile)
TYPES = [
    "text", "image", "document", "tool_use", "tool_result", "server_tool_use", "mcp_tool_use", "mcp_tool_result", "thinking",
    "reasoning", "message", "function_call", "function_call_output", "custom_tool_call", "local_shell_call", "mcp_call",
    "local_shell_call_output", "web_search_call", "compaction", "",
]  # fmt: skip
ID_KEYS = ("id", "call_id", "tool_use_id", "tool_call_id", "toolCallId")
IDS = st.sampled_from(["c1", "c2", "\x00c1", "\ud800", "", "a b"])
ODD = st.sampled_from([None, 0, True, "", "x", [], {}, [None, "x", 3], {"type": "text", "text": "x"}, "{}"])


def shapes(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Message]:
    keys: dict[str, st.SearchStrategy[Any]] = dict.fromkeys(ID_KEYS, IDS)
    others = ("name", "input", "arguments", "output", "text", "action", "tool_calls", "function_call", "error")
    keys |= dict.fromkeys(others, ODD)
    keys |= {"type": st.sampled_from(TYPES), "content": st.one_of(ODD, st.lists(inner, max_size=3))}
    return st.fixed_dictionaries({}, optional=keys)


BLOCKS = shapes(shapes(ODD))
MESSAGES = st.builds(
    lambda shape, role: shape if role is None else {**shape, "role": role},
    shapes(BLOCKS), st.sampled_from([None, "user", "assistant", "tool", "function", "odd"]),
)  # fmt: skip


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    "odd",
    [
        [{"type": "mcp_call", "content": [{"tool_use_id": "c2"}, {"call_id": "c2"}]}],
        [{"type": "mcp_call", "content": [{"id": "c2", "name": "n", "input": {}}, {"id": "c3", "name": "n", "input": {}}]}],
        [{"type": "mcp_call", "id": "m", "name": "n", "arguments": "{}", "output": "o", "content": "odd"}],
        [
            {"role": "assistant", "content": [{"type": "server_tool_use", "id": "\ud800", "name": "n", "input": {}}]},
            {"role": "assistant", "content": [{"type": "x_tool_result", "tool_use_id": "\ud800", "content": "odd"}]},
        ],
    ],
)
def test_what_stands_around_an_odd_message_is_rendered(odd: list[Message], profile: Profile) -> None:
    messages = [{"role": "user", "content": "first"}, *odd, {"role": "user", "content": "last"}]
    entries = [Entry(seq, "message", message) for seq, message in enumerate(messages)]
    rendering = render_context(entries, profile=profile, system_prompt=None)
    assert rendering.messages[0]["content"] == "first"
    assert rendering.messages[-1]["content"] == "last"


@given(messages=st.lists(MESSAGES, max_size=4), profile=st.sampled_from(PROFILES))
@settings(max_examples=300, deadline=None)
def test_no_message_is_too_odd_to_be_rendered(messages: list[Message], profile: Profile) -> None:
    entries = [Entry(seq, "message", message) for seq, message in enumerate(messages)]
    render_context(entries, profile=profile, system_prompt=None)
