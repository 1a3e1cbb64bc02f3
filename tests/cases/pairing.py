"""An independent reading of calls and results in the three dialects: it knows nothing of how the library pairs or renders."""
from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Message = Mapping[str, Any]

_ITEM_CALLS = frozenset({"function_call", "custom_tool_call"})
_ITEM_RESULTS = frozenset({"function_call_output", "custom_tool_call_output"})
_TEXT_TYPES = frozenset({"text", "input_text", "output_text"})


@dataclass(frozen=True)
class Call:
    """A call as it stands in a message; ``arguments`` is a JSON text or an object, as given."""

    id: str
    arguments: Any


def calls_of(message: Message) -> list[Call]:
    """The calls of a message, in order."""
    found = [
        Call(str(call.get("id", "")), call.get("function", call.get("custom", {})).get("arguments"))
        for call in message.get("tool_calls") or ()
    ]
    if message.get("type") in _ITEM_CALLS:
        found.append(Call(str(message.get("call_id", "")), message.get("arguments", message.get("input"))))
    found += [Call(str(block["id"]), block.get("input")) for block in blocks_of(message) if block.get("type") == "tool_use"]
    return found


def result_ids_of(message: Message) -> list[str]:
    """Ids of the calls that a message answers, in order."""
    if message.get("role") == "tool":
        return [str(message.get("tool_call_id", ""))]
    if message.get("type") in _ITEM_RESULTS:
        return [str(message.get("call_id", ""))]
    return [str(block.get("tool_use_id", "")) for block in blocks_of(message) if block.get("type") == "tool_result"]


def result_texts_of(message: Message) -> list[str]:
    """The text of each result in a message."""
    if message.get("role") == "tool":
        return [plain_text(message.get("content"))]
    if message.get("type") in _ITEM_RESULTS:
        return [plain_text(message.get("output"))]
    return [plain_text(block.get("content")) for block in blocks_of(message) if block.get("type") == "tool_result"]


def blocks_of(message: Message) -> list[Mapping[str, Any]]:
    """The content blocks of a message; text as content is none."""
    content = message.get("content")
    return [block for block in content if isinstance(block, Mapping)] if isinstance(content, list) else []


def plain_text(content: Any) -> str:
    """The text in a content, its text blocks joined by line breaks; results within are not part of it."""
    if isinstance(content, str):
        return content
    texts = []
    for block in content if isinstance(content, list) else ():
        if isinstance(block, str):
            texts.append(block)
        elif isinstance(block, Mapping) and block.get("type", "text") in _TEXT_TYPES:
            texts.append(str(block.get("text", "")))
    return "\n".join(texts)


def spoken_text(message: Message) -> str:
    """What a message says itself: its text without calls, results and reasoning."""
    return "" if message.get("role") == "tool" else plain_text(message.get("content"))


def all_text(value: Any) -> str:
    """Every string in a message: contents, blocks, arguments, as it is and not as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "\n".join(all_text(item) for item in value.values())
    if isinstance(value, list | tuple):
        return "\n".join(all_text(item) for item in value)
    return ""


def has_content(message: Message) -> bool:
    """Whether a message has text that isn't blank, a call, a result or another block that isn't empty."""
    if calls_of(message) or result_ids_of(message) or plain_text(message.get("content")).strip():
        return True
    if "role" not in message and message.get("type") not in (None, "message"):
        return True
    return any(block.get("type") not in _TEXT_TYPES and len(block) > 1 for block in blocks_of(message))


def pair_faults(messages: Sequence[Message]) -> list[str]:
    """Calls that aren't followed by exactly their results, and results without a call; those of the last answer may wait."""
    faults: list[str] = []
    open_ids: list[str] = []
    answering = False
    for index, message in enumerate(messages):
        results, calls = result_ids_of(message), calls_of(message)
        for result in results:
            answering = True
            if result in open_ids:
                open_ids.remove(result)
            else:
                faults.append(f"message {index}: a result {result!r} without its call")
        if results and not calls and not spoken_text(message).strip():
            continue
        # The items of one answer stand one after the other until its first output.
        of_the_answer = "role" not in message and not answering
        if open_ids and not of_the_answer:
            faults.append(f"message {index} comes before the results of {open_ids}")
            open_ids = []
        if calls:
            answering = False
        open_ids += [call.id for call in calls]
    return faults


def block_faults(messages: Sequence[Message]) -> list[str]:
    """Blocks that name another block by an ``…_id`` and come without it, or before it, or the other way round."""
    faults: list[str] = []
    named: dict[str, int] = {}
    made: dict[str, int] = {}
    for index, block in _all_blocks(messages):
        if isinstance(block.get("id"), str):
            made.setdefault(block["id"], index)
        for key, value in block.items():
            if key.endswith("_id") and isinstance(value, str):
                named.setdefault(value, index)
                if value not in made:
                    faults.append(f"block {index} ({block.get('type')}) names {value!r}, which isn't before it")
    return faults + [f"nothing answers the block {name!r}" for name in made if name not in named]


def _all_blocks(messages: Sequence[Message]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    index = 0
    for message in messages:
        for block in blocks_of(message):
            yield index, block
            index += 1


def argument_value(arguments: Any) -> dict[str, Any] | None:
    """The arguments as an object, None where they aren't one."""
    if isinstance(arguments, Mapping):
        return dict(arguments)
    try:
        value = json.loads(arguments)
    except (TypeError, ValueError):
        return None
    return value if isinstance(value, dict) else None
