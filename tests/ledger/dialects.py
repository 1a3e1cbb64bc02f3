"""One conversation written in each of the three message dialects, so that a test says it once."""
from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

from sessionstore.domain.transcript import Entry

Message = dict[str, Any]
Turn = tuple[str, ...]
"""``("user", text)``, ``("assistant", text)``, or ``("call", tool, arguments as JSON, result)``; a call takes two messages."""


def chat(turns: Sequence[Turn]) -> list[Message]:
    """In the form of OpenAI's chat."""
    messages: list[Message] = []
    for number, turn in enumerate(turns):
        if turn[0] != "call":
            messages.append({"role": turn[0], "content": turn[1]})
            continue
        function = {"name": turn[1], "arguments": turn[2]}
        messages.append({"role": "assistant", "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": turn[3]})
    return messages


def blocks(turns: Sequence[Turn]) -> list[Message]:
    """In the form of Anthropic's content blocks."""
    messages: list[Message] = []
    for number, turn in enumerate(turns):
        if turn[0] != "call":
            messages.append({"role": turn[0], "content": [{"type": "text", "text": turn[1]}]})
            continue
        use = {"type": "tool_use", "id": f"c{number}", "name": turn[1], "input": _given(turn[2])}
        messages.append({"role": "assistant", "content": [use]})
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": [{"type": "text", "text": turn[3]}]}
        messages.append({"role": "user", "content": [result]})
    return messages


def items(turns: Sequence[Turn]) -> list[Message]:
    """In the form of Responses items."""
    messages: list[Message] = []
    for number, turn in enumerate(turns):
        if turn[0] != "call":
            part = {"type": "input_text" if turn[0] == "user" else "output_text", "text": turn[1]}
            messages.append({"type": "message", "role": turn[0], "content": [part]})
            continue
        messages.append({"type": "function_call", "call_id": f"c{number}", "name": turn[1], "arguments": turn[2]})
        messages.append({"type": "function_call_output", "call_id": f"c{number}", "output": turn[3]})
    return messages


DIALECTS: Final[dict[str, Callable[[Sequence[Turn]], list[Message]]]] = {"chat": chat, "blocks": blocks, "items": items}


def entries(messages: Sequence[Message], *, first: int = 0) -> list[Entry]:
    """The messages as rows of a log, numbered from ``first``."""
    return [Entry(first + number, "message", message) for number, message in enumerate(messages)]


def call(tool: str, result: str, **arguments: Any) -> Turn:
    """A call with its result as a turn."""
    return ("call", tool, json.dumps(arguments, ensure_ascii=False), result)


def _given(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments
