"""The columns of tools and calls beside a body say what its view says, by whichever way they are read."""
from __future__ import annotations

from typing import Any

import pytest

from sessionstore.domain.tool_columns import tool_columns
from sessionstore.domain.transcript import view_message

CALL = {"id": "a", "type": "function", "function": {"name": "run", "arguments": "{}"}}


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "hi"},
        {"type": "mcp_call", "id": "m", "name": "berths", "arguments": "{}", "output": "two"},
        {"type": "web_search_call", "id": "w", "action": {"type": "search", "query": "tides"}},
        {"role": "assistant", "content": None, "tool_calls": [CALL, {**CALL, "id": "b"}]},
        {"role": "assistant", "content": "", "tool_calls": []},
        {"role": "assistant", "content": "x", "tool_calls": [CALL, {"id": "c", "name": "bare", "args": {}}]},
        {"role": "assistant", "content": "x", "tool_calls": [{"id": 7, "function": {"name": None}}]},
        {"role": "assistant", "content": "x", "tool_calls": {"id": "a"}},
        {"role": "assistant", "content": "x", "tool_calls": ["a", None]},
        {"role": "assistant", "content": "x", "tool_calls": [{"id": "a\x00b", "function": {"name": "r\ud800"}}]},
        {"role": "assistant", "content": None, "function_call": {"name": "old", "arguments": "{}"}},
        {"role": "tool", "tool_call_id": "a", "content": "out"},
        {"role": "tool", "tool_call_id": "a", "name": "run", "content": "out"},
        {"role": "tool", "tool_call_id": "a", "tool_name": "run", "content": [{"type": "text", "text": "out"}]},
        {"role": "tool", "tool_call_ids": ["a", "b"], "content": "out"},
        {"role": "tool", "content": "nobody's"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "run", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "out"}]},
        {"type": "function_call", "call_id": "a", "name": "run", "arguments": "{}"},
    ],
)
def test_the_columns_say_what_the_view_says(message: dict[str, Any]) -> None:
    view = view_message(message)
    names = [call.name for call in view.calls] + [result.name for result in view.results if result.name]
    ids = [call.call_id for call in view.calls] + [result.call_id for result in view.results]
    found = tuple(" ".join(dict.fromkeys(word for word in words if word)) or None for words in (names, ids))
    assert tool_columns(message) == found
