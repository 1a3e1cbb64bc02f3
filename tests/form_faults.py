"""What a provider refuses in one message by itself: keys, parts, ids and names. Read as ``tests.validity`` reads."""

from __future__ import annotations

import re
from typing import Any

Message = dict[str, Any]
NAME = re.compile(r"[A-Za-z0-9_-]{1,128}")
SHORT_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
ID = re.compile(r"[A-Za-z0-9_-]{1,64}")

BLOCK_KEYS = {
    "text": {"text", "cache_control", "citations"},
    "image": {"source", "cache_control"},
    "thinking": {"thinking", "signature"},
    "redacted_thinking": {"data"},
    "tool_use": {"id", "name", "input", "cache_control", "caller"},
    "tool_result": {"tool_use_id", "content", "is_error", "cache_control"},
}
ITEM_KEYS = {
    "message": {"role", "content", "id", "status", "phase"},
    "reasoning": {"id", "summary", "content", "encrypted_content", "status"},
    "function_call": {"id", "call_id", "name", "arguments", "status", "namespace", "caller"},
    "function_call_output": {"id", "call_id", "output", "status", "caller"},
    "custom_tool_call": {"id", "call_id", "name", "input", "namespace", "caller", "status"},
    "custom_tool_call_output": {"id", "call_id", "output", "caller", "status"},
    "local_shell_call_output": {"id", "call_id", "output", "status"},
}
ITEM_PARTS = {
    "user": {"input_text", "input_image", "input_file"},
    "assistant": {"output_text", "refusal"},
    "output": {"input_text", "input_image", "input_file"},
}
CHAT_PARTS = {
    "user": {"text", "image_url", "input_audio", "file"},
    "assistant": {"text", "refusal"},
    "tool": {"text"},
}


def chat_faults(message: Message) -> list[str]:
    """What is wrong with a chat message."""
    role = str(message.get("role"))
    found = _parts(message.get("content"), CHAT_PARTS.get(role, set()))
    if {"model", "usage", "stop_reason", "stop_sequence"} & message.keys():
        found.append(f"keys of an answer {sorted(message)}")
    if role == "tool":
        content = message.get("content")
        found += [] if isinstance(content, str | list) and content != [] else [f"content of a tool {content!r}"]
        named = message.get("name")
        return found + ([] if named is None or SHORT_NAME.fullmatch(named) else [f"name {named!r}"])
    if "tool_calls" not in message:
        return found
    calls = message["tool_calls"]
    if not isinstance(calls, list) or not calls:
        return [*found, f"calls {calls!r}"]
    ids = [call.get("id") for call in calls]
    if len(set(ids)) != len(ids) or not all(isinstance(one, str) and 0 < len(one) <= 40 for one in ids):
        found.append(f"ids {ids}")
    for call in calls:
        asked = call.get("function") or call.get("custom") or {}
        if call.get("type") not in ("function", "custom") or not SHORT_NAME.fullmatch(str(asked.get("name"))):
            found.append(f"call {call}")
        if not isinstance(asked.get("arguments", asked.get("input")), str):
            found.append(f"arguments of {call}")
    return found


def block_message_faults(message: Message) -> list[str]:
    """What is wrong with a message of Anthropic's."""
    found = _keys(message, {"role", "content"})
    content = message.get("content")
    if not isinstance(content, list):
        return found if isinstance(content, str) else [*found, f"content {content!r}"]
    for block in content:
        kind = block.get("type")
        found += _keys(block, BLOCK_KEYS.get(kind, set(block)) | {"type"})
        if kind == "text" and not block["text"].strip():
            found.append("blank text")
        if kind in ("image", "document") and message["role"] == "assistant":
            found.append(f"{kind} of an assistant")
        if kind == "tool_use" and not (ID.fullmatch(block["id"]) and NAME.fullmatch(str(block["name"]))):
            found.append(f"call {block}")
        if kind == "tool_result":
            found += _result_faults(block)
    if content and content[-1]["type"] in ("thinking", "redacted_thinking"):
        found.append("ends in thinking")
    return found


def item_faults(item: Message) -> list[str]:
    """What is wrong with an item of Responses."""
    kind = item.get("type", "message")
    found = _keys(item, ITEM_KEYS.get(kind, set(item)) | {"type"})
    if kind == "message":
        found += _parts(item.get("content"), ITEM_PARTS[item["role"]], blank=False)
    if kind == "function_call_output":
        found += _parts(item["output"], ITEM_PARTS["output"])
        found += [] if isinstance(item["output"], str | list) else [f"output {item['output']!r}"]
    if kind in ("message", "function_call") and "id" in item and not re.match("msg|fc", item["id"]):
        found.append(f"id {item['id']!r}")
    if "call_id" in item and not ID.fullmatch(item["call_id"]):
        found.append(f"call id {item['call_id']!r}")
    if kind in ("function_call", "custom_tool_call") and not NAME.fullmatch(str(item["name"])):
        found.append(f"name {item['name']!r}")
    if kind == "function_call" and not isinstance(item["arguments"], str):
        found.append(f"arguments {item['arguments']!r}")
    if kind == "local_shell_call_output" and not (item.get("id") and isinstance(item["output"], str)):
        found.append(f"output of a shell {item}")
    return found


def _result_faults(block: Message) -> list[str]:
    content = block.get("content")
    if not content:
        return ["a failure without a word"] if block.get("is_error") else []
    if isinstance(content, str):
        return []
    found = _parts(content, {"text", "image", "document", "search_result", "tool_reference"})
    return found + [fault for inner in content for fault in _keys(inner, BLOCK_KEYS.get(inner["type"], set(inner)) | {"type"})]


def _parts(content: Any, allowed: set[str], *, blank: bool = True) -> list[str]:
    if not isinstance(content, list):
        return []
    found = [f"part {part.get('type')}" for part in content if part.get("type") not in allowed]
    if blank:
        found += ["blank part" for part in content if part.get("type") == "text" and not str(part.get("text")).strip()]
    return found


def _keys(value: Message, known: set[str]) -> list[str]:
    return [f"keys {sorted(value.keys() - known)}"] if value.keys() - known else []
