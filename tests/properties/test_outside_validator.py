"""Somebody else's validator can refuse: a property that it never objects to anything would prove nothing."""
from __future__ import annotations

from typing import Any

import pytest

from tests.properties.outside_validator import refusal

Message = dict[str, Any]
CALL = {"id": "a", "type": "function", "function": {"name": "terminal", "arguments": "{}"}}
ASKED: list[Message] = [
    {"role": "system", "content": "s"},
    {"role": "user", "content": "u"},
    {"role": "assistant", "tool_calls": [CALL]},
]
ANSWER: Message = {"role": "tool", "tool_call_id": "a", "content": "r"}


def test_it_takes_a_call_with_its_result_and_one_in_flight() -> None:
    """PAIR-1, PAIR-3."""
    assert refusal([*ASKED, ANSWER, {"role": "user", "content": "thanks"}]) is None
    assert refusal(ASKED) is None


@pytest.mark.parametrize(
    ("messages", "fault"),
    [
        ([*ASKED, {"role": "assistant", "content": "never mind"}], "Not the same number"),
        ([*ASKED, ANSWER, ANSWER, {"role": "assistant", "content": "done"}], "Not the same number"),
        ([*ASKED[:2], ANSWER], "Unexpected role 'tool'"),
        ([*ASKED, ANSWER, {"role": "system", "content": "late"}], "Unexpected role 'system'"),
        ([*ASKED[:2], {"role": "assistant", "tool_calls": [{**CALL, "function": {"name": "a b", "arguments": ""}}]}], "name"),
    ],
)
def test_it_refuses_what_no_provider_takes(messages: list[Message], fault: str) -> None:
    """PAIR-1, ROLE-1."""
    assert fault in (refusal(messages) or "")
