"""Keys that a provider documents for its messages, blocks and items; it refuses a request with any other.

How it is repaired: other keys are left out. Types that are not in these lists keep all their keys, since new ones come with
every new server tool. Chat messages keep unknown keys: servers that speak that form have some of their own, for reasoning
above all.
"""
from __future__ import annotations

import re
from collections.abc import Mapping
from operator import is_
from typing import Any, Final

from sessionstore.domain.closed_sets import Profile
from sessionstore.domain.messages import Message
from sessionstore.domain.rendering.identifiers import item_with_acceptable_id
from sessionstore.domain.response_items import type_of

_ANTHROPIC_MESSAGE: Final = frozenset({"role", "content"})
_ANTHROPIC_BLOCKS: Final[Mapping[str, frozenset[str]]] = {
    kind: frozenset(keys.split()) | {"type"}
    for kind, keys in {
        "text": "text cache_control citations",
        "image": "source cache_control",
        "document": "source title context citations cache_control",
        "search_result": "source title content citations cache_control",
        "thinking": "thinking signature",
        "redacted_thinking": "data",
        "tool_use": "id name input cache_control caller",
        "tool_result": "tool_use_id content is_error cache_control",
        "server_tool_use": "id name input cache_control caller",
        "mcp_tool_use": "id name input server_name cache_control",
        "mcp_tool_result": "tool_use_id content is_error cache_control",
        "container_upload": "file_id cache_control",
    }.items()
}
_ITEMS: Final[Mapping[str, frozenset[str]]] = {
    kind: frozenset(keys.split()) | {"type", "id", "status"}
    for kind, keys in {
        "message": "role content phase",
        "reasoning": "summary content encrypted_content",
        "function_call": "call_id name arguments namespace caller",
        "function_call_output": "call_id output caller",
        "custom_tool_call": "call_id name input namespace caller",
        "custom_tool_call_output": "call_id output caller",
        "local_shell_call": "call_id action",
        "local_shell_call_output": "call_id output",
        "shell_call": "call_id action environment caller",
        "shell_call_output": "call_id output max_output_length caller",
        "apply_patch_call": "call_id operation caller",
        "apply_patch_call_output": "call_id output caller",
        "computer_call": "call_id action actions pending_safety_checks",
        "computer_call_output": "call_id output acknowledged_safety_checks",
        "mcp_approval_request": "server_label name arguments",
        "mcp_approval_response": "approval_request_id approve reason",
    }.items()
}
_ITEM_PARTS: Final[Mapping[str, frozenset[str]]] = {
    "input_text": frozenset({"type", "text"}),
    "input_image": frozenset({"type", "image_url", "file_id", "detail"}),
    "input_file": frozenset({"type", "file_id", "file_url", "filename", "file_data", "detail"}),
    "output_text": frozenset({"type", "text", "annotations", "logprobs"}),
    "refusal": frozenset({"type", "refusal"}),
}
_OF_AN_ANSWER: Final = frozenset({"model", "usage", "stop_reason", "stop_sequence"})
"""What Anthropic's answer has beside the message: it comes along when an answer is stored as it was received."""

_ITEM_ID: Final[Mapping[str, re.Pattern[str]]] = {
    kind: re.compile(rf"{prefix}[A-Za-z0-9_-]{{1,60}}") for kind, prefix in (("message", "msg"), ("function_call", "fc"))
}
"""Ids that the provider gives such items. It refuses another one, and takes the item without."""


def with_documented_keys(message: Message, profile: Profile) -> Message:
    """The message with only the keys that the provider takes; the message itself when there are no others."""
    if profile == "anthropic":
        return _with_content(_only(message, _ANTHROPIC_MESSAGE), _anthropic_blocks(message.get("content")))
    if profile == "responses":
        return _item(message)
    # No calls at all are accepted, null or an empty list of them is not.
    dropped = _OF_AN_ANSWER if message.get("tool_calls", True) else _OF_AN_ANSWER | {"tool_calls"}
    return _only(message, message.keys() - dropped)


def _item(message: Message) -> Message:
    kind = "message" if "role" in message else type_of(message)
    if kind not in _ITEMS:
        return item_with_acceptable_id(message)
    dropped = message.keys() - _ITEMS[kind]
    if kind == "message" and message.get("type", kind) != kind:
        dropped |= {"type"}
    if kind in _ITEM_ID and not (message.get("type") == kind and _ITEM_ID[kind].fullmatch(str(message.get("id")))):
        dropped |= {"id"}
    if kind == "reasoning" and "summary" not in message:
        message = {**message, "summary": []}
    key = "output" if kind.endswith("_output") else "content"
    parts = _blocks(message.get(key), _ITEM_PARTS) if kind in ("message", "function_call_output") else message.get(key)
    return _with_content(_only(message, message.keys() - dropped), parts, key)


def _anthropic_blocks(content: Any) -> Any:
    written = _blocks(content, _ANTHROPIC_BLOCKS)
    if not isinstance(written, list):
        return written
    inner = [
        _with_content(block, _blocks(block["content"], _ANTHROPIC_BLOCKS))
        if type_of(block) == "tool_result" and "content" in block
        else block
        for block in written
    ]
    return written if all(map(is_, inner, written)) else inner


def _blocks(content: Any, known: Mapping[str, frozenset[str]]) -> Any:
    if not isinstance(content, list):
        return content
    written = [_only(block, known[type_of(block)]) if type_of(block) in known else block for block in content]
    return content if all(map(is_, written, content)) else written


def _only(value: Message, kept: frozenset[str] | set[str]) -> Message:
    return value if value.keys() <= kept else {key: given for key, given in value.items() if key in kept}


def _with_content(message: Message, content: Any, key: str = "content") -> Message:
    return message if message.get(key) is content else {**message, key: content}
