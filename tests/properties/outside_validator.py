"""Mistral's own validator of requests, on renderings for ``strict``.

What it minds that no other provider of that profile does, and what it doesn't look at:

* call ids must be nine letters or digits: only its own models ask for that, so ids are renamed, equal ones alike;
* calls of the very first message are not counted: every rendering here begins with a system message;
* a list may not end on an assistant's message, nor with calls in flight, when it is to be answered: a context is rendered at
  any time, so the mode is used that has no rule for the end;
* a lone surrogate is no text for it, nor could any request carry one: U+FFFD stands in its place;
* keys that it doesn't know are refused (``reasoning_content``, or what a framework put there): they are taken off.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mistral_common.exceptions import MistralCommonException
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.validator import MistralRequestValidatorV5, ValidationMode

Message = dict[str, Any]

_KEYS = {
    "system": ("role", "content"),
    "user": ("role", "content"),
    "assistant": ("role", "content", "tool_calls"),
    "tool": ("role", "content", "tool_call_id", "name"),
}


def refusal(messages: Sequence[Message]) -> str | None:
    """What Mistral's validator has against a message list; None when it takes it."""
    names: dict[str, str] = {}
    known = [_known(message, names) for message in messages]
    request = ChatCompletionRequest.from_openai(messages=known)
    try:
        MistralRequestValidatorV5(ValidationMode.agnostic).validate_request(request)
    except MistralCommonException as error:
        return f"{type(error).__name__}: {error}"
    return None


def _known(message: Message, names: dict[str, str]) -> Message:
    kept = {key: _text(message[key]) for key in _KEYS[message["role"]] if message.get(key) is not None}
    if "tool_call_id" in kept:
        kept["tool_call_id"] = _renamed(kept["tool_call_id"], names)
    if "tool_calls" in kept:
        kept["tool_calls"] = [{**call, "id": _renamed(call["id"], names)} for call in kept["tool_calls"]]
    return kept


def _renamed(call_id: str, names: dict[str, str]) -> str:
    return names.setdefault(call_id, f"call{len(names):05}")


def _text(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_text(item) for item in value]
    if isinstance(value, dict):
        return {key: _text(item) for key, item in value.items()}
    return value
