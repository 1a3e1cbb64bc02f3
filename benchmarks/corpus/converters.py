"""A few lines a format: records of other programs as messages, for the formats that the library has no importer for."""
from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from benchmarks.payloads import Message

Converter = Callable[[list[Any]], Iterator[list[Message]]]
"""From the JSON documents of a file to its conversations."""


def pi(documents: list[Any]) -> Iterator[list[Message]]:
    """pi sessions: blocks of its own, results with a role of their own; compactions are left out, the log is whole."""
    messages: list[Message] = []
    for record in documents:
        message = record.get("message") or {}
        role, content = message.get("role"), message.get("content")
        if role == "user":
            messages.append({"role": "user", "content": _texts(content)})
        elif role == "assistant":
            blocks = [block for block in content or () if block["type"] == "toolCall"]
            calls = [_call(block["id"], block["name"], block["arguments"]) for block in blocks]
            messages.append(_said(_texts(content), calls))
        elif role == "toolResult":
            messages.append(_result(message["toolCallId"], _texts(content)))
        elif role == "bashExecution":
            messages.append({"role": "user", "content": f"$ {message['command']}\n{message['output']}"})
    yield messages


def codex(documents: list[Any]) -> Iterator[list[Message]]:
    """Codex rollouts: the Responses items as they went over the wire, without developer messages."""
    items = [record["payload"] for record in documents if record.get("type") == "response_item"]
    yield [item for item in items if item.get("role") not in ("developer", "system") and item.get("type") != "ghost_snapshot"]


def gemini(documents: list[Any]) -> Iterator[list[Message]]:
    """Gemini CLI chats: call and result in one object."""
    records = documents[0].get("messages", documents)
    messages: list[Message] = []
    for record in records:
        if record.get("type") == "user":
            messages.append({"role": "user", "content": _texts(record["content"])})
        elif record.get("type") == "gemini":
            calls = record.get("toolCalls") or []
            messages.append(_said(_texts(record["content"]), [_call(one["id"], one["name"], one["args"]) for one in calls]))
            messages += [_result(one["id"], json.dumps(one.get("result"))) for one in calls]
    yield messages


def copilot(documents: list[Any]) -> Iterator[list[Message]]:
    """Copilot CLI events."""
    messages: list[Message] = []
    for record in documents:
        kind, data = record.get("type"), record.get("data", {})
        if kind == "user.message":
            messages.append({"role": "user", "content": data["content"]})
        elif kind == "assistant.message":
            calls = [_call(one["toolCallId"], one["name"], one["arguments"]) for one in data.get("toolRequests") or ()]
            messages.append(_said(data["content"], calls))
        elif kind == "tool.execution_complete":
            messages.append(_result(data["toolCallId"], json.dumps(data.get("result") or data.get("error"))))
    yield messages


def openhands(documents: list[Any]) -> Iterator[list[Message]]:
    """OpenHands V0 evaluations, an instance each: actions with their tool's call, observations as results."""
    for instance in documents:
        messages: list[Message] = []
        for event in instance["history"]:
            call = event.get("tool_call_metadata") or {}
            if "observation" in event and call:
                messages.append(_result(call["tool_call_id"], event.get("content") or ""))
            elif "action" in event and call:
                messages.append(_said(None, [_call(call["tool_call_id"], call["function_name"], event.get("args") or {})]))
            elif event.get("action") == "message" or "observation" in event or event.get("command"):
                said = event.get("content") or event.get("command") or event.get("message") or event.get("thought") or "."
                role = "user" if event.get("source", "user") != "agent" and "command" not in event else "assistant"
                messages.append({"role": role, "content": str(said)})
        yield messages


def swe_agent(documents: list[Any]) -> Iterator[list[Message]]:
    """SWE-agent trajectories: the history, whose results name their call in a list."""
    messages: list[Message] = []
    for record in documents[0]["history"]:
        if record["role"] == "tool":
            messages.append(_result(record["tool_call_ids"][0], _texts(record["content"])))
        elif record["role"] != "system":
            messages.append({key: record[key] for key in ("role", "content", "tool_calls") if record.get(key) is not None})
    yield messages


def sharegpt(documents: list[Any]) -> Iterator[list[Message]]:
    """The ShareGPT family, Hermes' trajectories among it: turns by from and value, calls as text or as blocks."""
    roles = {"human": "user", "gpt": "assistant", "observation": "tool", "function_call": "call"}
    for document in _flattened(documents):
        messages: list[Message] = []
        for number, turn in enumerate(document.get("conversations") or document.get("messages") or ()):
            role = roles.get(turn.get("from") or turn["role"], turn.get("from") or turn.get("role"))
            blocks = turn.get("value") or turn.get("content") or ""
            if isinstance(blocks, str):
                blocks = [{"type": "text", "value": blocks}]
            text = "\n".join(block["value"] for block in blocks if block["type"] == "text")
            calls = [block["value"] for block in blocks if block["type"] == "tool_call"]
            if role == "call":
                calls, text = [text], ""
            if role == "tool":
                messages.append(_result(f"call_{number - 1}", text))
            elif role in ("assistant", "call"):
                listed = [json.loads(call) for call in calls]
                messages.append(_said(text, [_call(f"call_{number}", one["name"], one["arguments"]) for one in listed]))
            elif role == "user":
                messages.append({"role": "user", "content": text})
        yield messages


def langchain(documents: list[Any]) -> Iterator[list[Message]]:
    """LangChain's serialised messages."""
    messages: list[Message] = []
    for record in _flattened(documents):
        kind, about = record["id"][-1], record["kwargs"]
        if kind == "HumanMessage":
            messages.append({"role": "user", "content": _texts(about["content"])})
        elif kind == "AIMessage":
            calls = [_call(one["id"], one["name"], one["args"]) for one in about.get("tool_calls") or ()]
            messages.append(_said(_texts(about["content"]), calls))
        elif kind == "ToolMessage":
            messages.append(_result(about["tool_call_id"], _texts(about["content"])))
    yield messages


def goose(documents: list[Any]) -> Iterator[list[Message]]:
    """Goose sessions, requests and responses of tools as blocks."""
    messages: list[Message] = []
    for record in documents:
        blocks = record.get("content") or ()
        calls = [block for block in blocks if block["type"] == "toolRequest"]
        results = [block for block in blocks if block["type"] == "toolResponse"]
        values = [(block["id"], block["toolCall"]["value"]) for block in calls]
        if record.get("role") == "assistant":
            messages.append(_said(_texts(blocks), [_call(name, one["name"], one["arguments"]) for name, one in values]))
        elif results:
            messages += [_result(block["id"], _texts(block["toolResult"].get("value"))) for block in results]
        elif record.get("role") == "user":
            messages.append({"role": "user", "content": _texts(blocks)})
    yield messages


def cline(documents: list[Any]) -> Iterator[list[Message]]:
    """Cline's messages are Anthropic's, but for blocks with a file, which are text here."""
    messages: list[Message] = []
    for record in documents[0]["messages"]:
        content = record["content"]
        if not isinstance(content, str):
            content = [{"type": "text", "text": block["content"]} if block["type"] == "file" else block for block in content]
        messages.append({"role": record["role"], "content": content})
    yield messages


def aider(text: str) -> Iterator[list[Message]]:
    """Aider's chat history: level-four headings are the user, quotes are the program, the rest is the assistant."""
    messages: list[Message] = []
    for line in text.splitlines():
        if line.startswith("> "):
            continue
        role = "user" if line.startswith("#### ") else "assistant"
        said = re.sub(r"^#### ", "", line)
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += f"\n{said}"
        elif said.strip():
            messages.append({"role": role, "content": said})
    yield messages


CONVERTERS: dict[str, Converter] = {
    "pi": pi,
    "codex": codex,
    "gemini-cli": gemini,
    "copilot-cli": copilot,
    "openhands": openhands,
    "swe-agent": swe_agent,
    "sharegpt": sharegpt,
    "hermes": sharegpt,
    "langchain": langchain,
    "goose": goose,
    "cline": cline,
}
"""By the name of the folder that such files are in."""


def _call(identifier: str, name: str, arguments: Any) -> Message:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": text}}


def _said(text: str | None, calls: list[Message]) -> Message:
    return {"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}


def _result(identifier: str, text: str) -> Message:
    return {"role": "tool", "tool_call_id": identifier, "content": text}


def _texts(content: Any) -> str:
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    return "\n".join(block if isinstance(block, str) else str(block.get("text") or "") for block in content)


def _flattened(documents: list[Any]) -> Iterable[Any]:
    return documents[0] if len(documents) == 1 and isinstance(documents[0], list) else documents
