"""A message with other outputs and arguments in it, in the dialect it was written in."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sessionstore.domain.messages import Message, clean_text, json_text
from sessionstore.domain.response_items import answer_key, arguments_key, is_answered_call, is_call_item, is_result_item
from sessionstore.domain.transcript import REASONING_TYPES, answered_id_key, is_call_block

_REASONING_KEYS = frozenset({"reasoning_content", "reasoning"})


def with_results(message: Message, replacements: Mapping[int, str]) -> Message:
    """A copy of the message in which these results (by number) have other text; every other key stays."""
    if is_result_item(message):
        return {**message, "output": replacements[0]} if 0 in replacements else message
    if message.get("role") in ("tool", "function"):
        return {**message, "content": replacements[0]} if 0 in replacements else message
    if is_answered_call(message):
        return {**message, answer_key(message): replacements[0]} if 0 in replacements else message
    content = message.get("content")
    if not isinstance(content, list):
        return message
    number = 0
    blocks: list[Any] = []
    for block in content:
        if isinstance(block, Mapping) and answered_id_key(block) is not None:
            if number in replacements:
                key = "output" if "output" in block and "content" not in block else "content"
                blocks.append({**block, key: replacements[number]})
            else:
                blocks.append(block)
            number += 1
        else:
            blocks.append(block)
    return {**message, "content": blocks}


def with_arguments(message: Message, shorten: Callable[[int, Any], Any]) -> Message:
    """A copy of the message with the arguments of its calls passed through ``shorten(number, arguments)``.

    Arguments are text or an object, as the message has them, and stay that. The same message comes back when nothing changed.
    """
    number = 0

    def once(arguments: Any) -> Any:
        nonlocal number
        shorter = shorten(number, arguments)
        number += 1
        return shorter

    if is_call_item(message) or is_answered_call(message):
        key = arguments_key(message)
        return _changed(message, key, once(message.get(key)))
    changed = message
    content = message.get("content")
    if isinstance(content, list):
        blocks = [_block(block, once) for block in content]
        if any(new is not old for new, old in zip(blocks, content, strict=True)):
            changed = {**changed, "content": blocks}
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        written = [_chat_call(call, once) if isinstance(call, Mapping) else call for call in calls]
        if any(new is not old for new, old in zip(written, calls, strict=True)):
            changed = {**changed, "tool_calls": written}
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
        shorter = _changed(legacy, "arguments", once(legacy.get("arguments")))
        if shorter is not legacy:
            changed = {**changed, "function_call": shorter}
    return changed


def without_reasoning(message: Message) -> Message:
    """A copy of the message without its reasoning; the same message when it has none, or would have nothing left."""
    changed = {key: value for key, value in message.items() if key not in _REASONING_KEYS}
    content = message.get("content")
    if isinstance(content, list):
        blocks = [block for block in content if not (isinstance(block, Mapping) and _is_reasoning(block))]
        if len(blocks) < len(content) and not blocks:
            return message
        changed["content"] = blocks
    return message if changed == message else changed


def storable(message: Message) -> Message:
    """The message with U+FFFD for lone surrogates, so that a row that the store itself writes is valid UTF-8."""
    try:
        json_text(message).encode("utf-8")
    except UnicodeEncodeError:
        cleaned: Message = _cleaned(message)
        return cleaned
    return message


def _is_reasoning(block: Mapping[str, Any]) -> bool:
    kind = block.get("type")
    return isinstance(kind, str) and kind in REASONING_TYPES


def _block(block: Any, once: Callable[[Any], Any]) -> Any:
    if not isinstance(block, dict) or not is_call_block(block) or answered_id_key(block) is not None:
        return block
    key = "input" if "input" in block else "arguments"
    return _changed(block, key, once(block.get(key)))


def _chat_call(call: Mapping[str, Any], once: Callable[[Any], Any]) -> Mapping[str, Any]:
    for holder in ("function", "custom"):
        inner = call.get(holder)
        if isinstance(inner, dict):
            key = next((name for name in ("arguments", "input", "args") if name in inner), "arguments")
            shorter = _changed(inner, key, once(inner.get(key)))
            return call if shorter is inner else {**call, holder: shorter}
    key = next((name for name in ("arguments", "input", "args") if name in call), "arguments")
    return _changed(dict(call), key, once(call.get(key))) if key in call else _kept(call, once)


def _kept(call: Mapping[str, Any], once: Callable[[Any], Any]) -> Mapping[str, Any]:
    once(None)
    return call


def _changed(holder: Message, key: str, value: Any) -> Message:
    return holder if key not in holder or value is holder[key] or value == holder[key] else {**holder, key: value}


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_text(key): _cleaned(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    return value
