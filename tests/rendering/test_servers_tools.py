"""Calls that Anthropic runs itself: handed on as they are wherever it may have answered, or will answer, in a later message."""
from __future__ import annotations

from typing import Any

import pytest

from sessionstore.domain.rendering import UNANSWERED_STUB, render_context
from sessionstore.domain.transcript import Entry
from tests.validity import faults

Message = dict[str, Any]
CODE: Message = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "code_execution", "input": {"code": "run()"}}
RAN: Message = {
    "type": "code_execution_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": {"type": "code_execution_result", "stdout": "1", "stderr": "", "return_code": 0, "content": []},
}
MCP: Message = {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "find", "server_name": "docs", "input": {}}
DONE: Message = {"type": "text", "text": "done"}
FOUND: Message = {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": False, "content": [DONE]}


def user(*blocks: Message | str) -> Message:
    return {"role": "user", "content": blocks[0] if isinstance(blocks[0], str) else list(blocks)}


def model(*blocks: Message) -> Message:
    return {"role": "assistant", "content": list(blocks)}


def asks(call_id: str) -> Message:
    return {
        "type": "tool_use", "id": call_id, "name": "query", "input": {},
        "caller": {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"},
    }  # fmt: skip


def answer(call_id: str) -> Message:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "row"}


def rendered(*messages: Message) -> list[Message]:
    entries = [Entry(seq, "message", message) for seq, message in enumerate(messages)]
    found = render_context(entries, profile="anthropic", system_prompt=None).messages
    assert faults(found, "anthropic") == []
    return found


@pytest.mark.parametrize(
    "messages",
    [
        [user("q"), model(CODE)],
        [user("q"), model(DONE, MCP)],
        [user("q"), model(CODE, asks("a")), user(answer("a"))],
        [user("q"), model(CODE, asks("a")), user(answer("a")), model(asks("b"))],
        [user("q"), model(CODE, asks("a")), user(answer("a")), model(RAN, DONE), user("more")],
        [user("q"), model(CODE, asks("a")), user(answer("a")), model(asks("b")), user(answer("b")), model(RAN, DONE)],
        [user("q"), model(MCP, asks("a")), user(answer("a")), model(DONE, FOUND, DONE), user("more")],
        [user("q"), model(MCP, CODE, asks("a")), user(answer("a")), model(RAN, FOUND, DONE), user("more")],
        [user("q"), model(CODE, RAN, asks("a")), user(answer("a"), {"type": "text", "text": "go"}), model(DONE), user("more")],
    ],
)
def test_a_call_that_the_server_answers_later_is_handed_on_as_it_is(messages: list[Message]) -> None:
    assert rendered(*messages) == messages


def test_pieces_of_an_answer_that_was_paused_are_one_message() -> None:
    messages = [user("q"), model(DONE, MCP), model(FOUND, DONE), user("more")]
    assert rendered(*messages) == [user("q"), model(DONE, MCP, FOUND, DONE), user("more")]


@pytest.mark.parametrize("between", [user("wait"), model(DONE)])
def test_a_result_that_comes_when_the_turn_is_over_is_that_of_a_tool(between: Message) -> None:
    messages = rendered(user("q"), model(CODE, asks("a")), user(answer("a")), between, model(RAN), user("more"))
    kinds = [block["type"] for message in messages if isinstance(message["content"], list) for block in message["content"]]
    assert kinds[:4] == ["tool_use", "tool_use", "tool_result", "tool_result"]


@pytest.mark.parametrize("call", [CODE, MCP])
def test_a_call_that_nobody_will_answer_any_more_is_told_as_one_without_result(call: Message) -> None:
    messages = rendered(user("q"), model(call), user("never mind"))
    assert messages[1]["content"][0]["type"] == "tool_use"
    assert UNANSWERED_STUB in str(messages[2])
