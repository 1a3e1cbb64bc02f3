"""Turns that one provider writes, or an agent stores, and another provider refuses."""

from __future__ import annotations

from typing import Any

Message = dict[str, Any]
ASK: Message = {"role": "user", "content": "look"}
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
LONG_ID = "call_" + "x" * 70 + "|fc:1"
LONG_NAME = "mcp__" + "server" * 25


def calling(*calls: Message) -> Message:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def function(name: str = "run", arguments: Any = "{}", **more: Any) -> Message:
    return {"type": "function", "function": {"name": name, "arguments": arguments}, **more}


def use(**more: Any) -> Message:
    return {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "run", "input": {}, **more}]}


def result(content: Any, **more: Any) -> Message:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": content, **more}]}


def blank(kind: str) -> Message:
    return {"type": kind, "text": " "}


LOCAL_SHELL: Message = {
    "type": "local_shell_call",
    "id": "lsh_1",
    "call_id": "s",
    "action": {"type": "exec", "command": ["ls"]},
}
CUSTOM: Message = {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "x"}
CALL_ITEM: Message = {"type": "function_call", "call_id": "c", "name": "run", "arguments": "{}"}
SIGNED = {"type": "thinking", "thinking": "t", "signature": "S"}
OF_AN_ANSWER: Message = {
    "type": "message",
    "id": "msg_1",
    "model": "m",
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 1},
}

REFUSED: dict[str, list[Message]] = {
    "a picture in a tool message": [
        calling(function(id="a")),
        {"role": "tool", "tool_call_id": "a", "content": [{"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}]},
    ],
    "a picture in a result": [use(), result([{"type": "text", "text": "see"}, PICTURE])],
    "a failure without words": [use(), result("", is_error=True)],
    "a picture by the assistant": [{"role": "assistant", "content": [{"type": "text", "text": "x"}, PICTURE]}],
    "a picture by the assistant, in chat": [
        {"role": "assistant", "content": [{"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}]}
    ],
    "a picture by the assistant, as an item": [
        {"type": "message", "role": "assistant", "content": [{"type": "input_image", "image_url": "https://x.test/a.png"}]}
    ],
    "input by the assistant": [{"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}],
    "output by a user": [{"role": "user", "content": [{"type": "output_text", "text": "x"}]}],
    "a document by the assistant": [
        {"role": "assistant", "content": [{"type": "document", "source": {"type": "text", "data": "d"}}]}
    ],
    "the reasoning of a chat server": [
        {"role": "assistant", "content": "x", "reasoning_content": "r", "reasoning_details": [{}]}
    ],
    "an answer as it was received": [{"role": "assistant", "content": [{"type": "text", "text": "x"}], **OF_AN_ANSWER}],
    "an answer as it was received, in chat": [
        {"role": "assistant", "content": "x", "tool_calls": None, "function_call": None, "audio": None, "refusal": None}
    ],
    "the name of a user": [{"role": "user", "content": "x", "name": "ana"}],
    "foreign keys in blocks": [
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "x", "parsed": None}, {**SIGNED, "index": 0}, *use(index=1)["content"]],
        },
        result([{"type": "text", "text": "x", "mime": "text/plain"}], name="run"),
    ],
    "foreign keys in items": [
        {**CALL_ITEM, "parsed_arguments": {}},
        {"type": "function_call_output", "call_id": "c", "output": "x", "name": "run"},
        {"type": "reasoning", "id": "rs_1"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "x", "parsed": 1}]},
    ],
    "blank text beside a picture": [{"role": "user", "content": [blank("text"), PICTURE]}],
    "blank text beside a result": [use(), {"role": "user", "content": [*result("r")["content"], blank("text")]}],
    "blank text in a result": [use(), result([blank("text")])],
    "blank text beside text in a result": [use(), result([{"type": "text", "text": ""}, {"type": "text", "text": "r"}])],
    "thinking before blank text": [{"role": "assistant", "content": [{"type": "text", "text": "a"}, SIGNED, blank("text")]}],
    "arguments as an object": [
        calling(function(arguments={"x": 1}, id="a")),
        {"role": "tool", "tool_call_id": "a", "content": "r"},
    ],
    "no arguments": [calling({"id": "a", "function": {"name": "run"}}), {"role": "tool", "tool_call_id": "a", "content": "r"}],
    "an item with arguments as an object": [
        {**CALL_ITEM, "arguments": {"x": 1}},
        {"type": "function_call_output", "call_id": "c", "output": {"ok": True}},
    ],
    "calls without ids": [
        calling(function(), function()),
        {"role": "tool", "content": "r"},
        {"role": "tool", "content": "r"},
        ASK,
    ],
    "a call of the old form": [
        {"role": "assistant", "content": None, "function_call": {"name": "run", "arguments": "{}"}},
        {"role": "tool", "content": "r"},
    ],
    "a dead call of the old form": [
        {"role": "assistant", "content": None, "function_call": {"name": "run", "arguments": "{}"}},
        {"role": "assistant", "content": "x"},
    ],
    "equal ids": [calling(function(id="a"), function(id="a")), *[{"role": "tool", "tool_call_id": "a", "content": "r"}] * 2],
    "long equal ids": [calling(*[function(id=LONG_ID)] * 3), *[{"role": "tool", "tool_call_id": LONG_ID, "content": "r"}] * 3],
    "a long id of an item": [
        {**CALL_ITEM, "call_id": LONG_ID},
        {"type": "function_call_output", "call_id": LONG_ID, "output": "r"},
    ],
    "a name with a dot": [
        calling(function("my.tool name", id="a")),
        {"role": "tool", "tool_call_id": "a", "name": "my.tool name", "content": "r"},
    ],
    "a long name": [use(name=LONG_NAME), result("r")],
    "a long name of an item": [
        {**CALL_ITEM, "name": LONG_NAME},
        {"type": "function_call_output", "call_id": "c", "output": "r"},
    ],
    "a local shell without an answer": [LOCAL_SHELL, ASK],
    "a local shell with the answer of a function": [
        LOCAL_SHELL,
        {"type": "function_call_output", "call_id": "s", "output": "a.txt"},
    ],
    "a custom tool with the answer of a function": [CUSTOM, {"type": "function_call_output", "call_id": "c", "output": "r"}],
    "a function with the answer of a custom tool": [
        CALL_ITEM,
        {"type": "custom_tool_call_output", "call_id": "c", "output": "r"},
    ],
    "a custom tool and a function of one id": [
        CUSTOM,
        CALL_ITEM,
        {"type": "function_call_output", "call_id": "c", "output": "f"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "c"},
    ],
    "an approval that nothing asked for": [{"type": "mcp_approval_response", "approval_request_id": "mcpr_0", "approve": True}],
    "an item of a foreign id": [
        {**CALL_ITEM, "id": "toolu_1"},
        {"type": "function_call_output", "call_id": "c", "output": "r"},
    ],
}
