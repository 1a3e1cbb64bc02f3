"""One view over the three message dialects, and the pairing of calls with their results.

OpenAI chat messages, Anthropic content blocks and Responses items say the same things in different places. Everything that
analyses a transcript reads this view; the body itself is kept as it was given.
"""
from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from sessionstore.domain.closed_sets import Kind
from sessionstore.domain.messages import Message, clean_text, json_text
from sessionstore.domain.notices import is_injected, without_notices
from sessionstore.domain.response_items import arguments_key, is_call_item, is_result_item, tool_name

_TEXT_KEYS: Final = ("text", "refusal", "thinking")
REASONING_TYPES: Final = frozenset({"thinking", "redacted_thinking", "reasoning"})
"""Types of content blocks that hold a model's reasoning."""

IMAGE_TYPES: Final = frozenset({"image", "image_url", "input_image", "computer_screenshot"})
"""Types of content blocks that hold a picture."""

@dataclass(frozen=True, slots=True)
class ToolCall:
    """A request of the model to run a tool. ``arguments`` is text: JSON where the model wrote JSON."""

    call_id: str
    name: str
    arguments: str

    def argument_values(self) -> dict[str, Any]:
        """The arguments as a dict; empty when they are no JSON object."""
        try:
            value = json.loads(self.arguments)
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answered. ``is_error`` is what the message says of itself, None where it says nothing."""

    call_id: str
    name: str | None
    text: str
    is_error: bool | None
    images: int


@dataclass(frozen=True, slots=True)
class MessageView:
    """What one message says: its visible text, calls, results, reasoning and images, in every dialect."""

    role: str
    text: str
    calls: tuple[ToolCall, ...]
    results: tuple[ToolResult, ...]
    reasoning: tuple[str, ...]
    images: int

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing in it that a provider would accept as content."""
        return not (self.text.strip() or self.calls or self.results or self.images)


@dataclass(frozen=True)
class Entry:
    """A row of the log as the analysis sees it: its seq, kind, message and view, and its tokens (0 when not counted)."""

    seq: int
    kind: Kind
    message: Message
    origin_seq: int | None = None
    tokens: int = 0

    @cached_property
    def view(self) -> MessageView:
        """The message in the form that is the same for all dialects."""
        return view_message(self.message)

    @property
    def is_request(self) -> bool:
        """Whether a person wrote it: a message of role user with content of its own, not a summary, not only tool results."""
        view = self.view
        if self.kind == "summary" or view.role != "user":
            return False
        spoken = without_notices(view.text).strip()
        return not is_injected(spoken) and (bool(spoken) or (view.images > 0 and not view.results))


@dataclass(frozen=True, slots=True)
class PairedCall:
    """A call with the place of its result; indexes point into the list of entries that was paired."""

    call: ToolCall
    call_index: int
    result: ToolResult | None
    result_index: int | None


@dataclass(frozen=True, slots=True)
class Pairing:
    """Which result answers which call, and which results have none.

    ``calls`` are in the order they were made. ``orphans`` are (index, result) of results without an open call before them.
    """

    calls: tuple[PairedCall, ...]
    orphans: tuple[tuple[int, ToolResult], ...]

    def unanswered(self) -> tuple[PairedCall, ...]:
        """The calls that have no result (yet)."""
        return tuple(call for call in self.calls if call.result_index is None)


def view_message(message: Mapping[str, Any]) -> MessageView:
    """Read a message of any dialect into the common view."""
    reader = _Reader()
    item_type = _text(message.get("type"))
    if is_call_item(message):
        arguments = _arguments(message.get(arguments_key(message)))
        reader.calls.append(ToolCall(_text(message.get("call_id")), _text(tool_name(message)), arguments))
        return reader.view("assistant")
    if is_result_item(message):
        reader.result(message, message.get("output"))
        return reader.view("tool")
    if item_type == "reasoning" and "role" not in message:
        reader.reasoning.extend(_reasoning_item(message))
        return reader.view("assistant")
    role = _text(message.get("role")) or "assistant"
    if role in ("tool", "function"):
        reader.result(message, message.get("content"))
        return reader.view("tool")
    reader.content(message.get("content"))
    if isinstance(message.get("refusal"), str) and message["refusal"]:
        reader.texts.append(message["refusal"])
    for key in ("reasoning_content", "reasoning"):
        if isinstance(message.get(key), str):
            reader.reasoning.append(message[key])
    for call in _sequence(message.get("tool_calls")):
        reader.openai_call(call)
    legacy = message.get("function_call")
    if isinstance(legacy, Mapping):
        reader.calls.append(ToolCall("", _text(legacy.get("name")), _arguments(legacy.get("arguments"))))
    return reader.view("system" if role == "developer" else role)


def pair_calls(entries: Sequence[Entry]) -> Pairing:
    """Match each result to the nearest open call before it that has its id.

    Ids may repeat, across turns and inside one. Within the message nearest before the result the first open call of that id
    is taken, so parallel calls that share an id are answered in the order they were made.
    """
    calls: list[PairedCall] = []
    open_by_id: dict[str, list[int]] = {}
    orphans: list[tuple[int, ToolResult]] = []
    for index, entry in enumerate(entries):
        for call in entry.view.calls:
            open_by_id.setdefault(call.call_id, []).append(len(calls))
            calls.append(PairedCall(call, index, None, None))
        for result in entry.view.results:
            position = _nearest_open(open_by_id.get(result.call_id, []), calls)
            if position is None:
                orphans.append((index, result))
                continue
            open_by_id[result.call_id].remove(position)
            made = calls[position]
            calls[position] = PairedCall(made.call, made.call_index, result, index)
    return Pairing(tuple(calls), tuple(orphans))


def _nearest_open(positions: Sequence[int], calls: Sequence[PairedCall]) -> int | None:
    if not positions:
        return None
    nearest = calls[positions[-1]].call_index
    return next(position for position in positions if calls[position].call_index == nearest)


class _Reader:
    """Collects what a message says while its parts are walked."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.calls: list[ToolCall] = []
        self.results: list[ToolResult] = []
        self.reasoning: list[str] = []
        self.images = 0

    def view(self, role: str) -> MessageView:
        return MessageView(
            role=role,
            text=clean_text("\n".join(self.texts)),
            calls=tuple(self.calls),
            results=tuple(self.results),
            reasoning=tuple(self.reasoning),
            images=self.images,
        )

    def content(self, content: Any) -> None:
        if isinstance(content, str):
            self.texts.append(content)
            return
        for block in _sequence(content):
            if isinstance(block, str):
                self.texts.append(block)
            elif isinstance(block, Mapping):
                self.block(block)

    def block(self, block: Mapping[str, Any]) -> None:
        kind = _text(block.get("type"))
        if kind in REASONING_TYPES:
            self.reasoning.append(_text(block.get("thinking", block.get("text", block.get("data")))))
        elif kind in IMAGE_TYPES:
            self.images += 1
        elif (key := answered_id_key(block)) is not None:
            self.result(block, block.get("content", block.get("output")), key)
        elif is_call_block(block):
            arguments = block.get("input", block.get("arguments"))
            self.calls.append(ToolCall(_text(block.get("id")), _text(block.get("name")), _arguments(arguments)))
        else:
            self.texts.extend(_text(block[key]) for key in _TEXT_KEYS if isinstance(block.get(key), str))

    def openai_call(self, call: Any) -> None:
        if not isinstance(call, Mapping):
            return
        function = call.get("function")
        function = function if isinstance(function, Mapping) else call.get("custom")
        function = function if isinstance(function, Mapping) else call
        arguments = function.get("arguments", function.get("input", function.get("args")))
        self.calls.append(ToolCall(_text(call.get("id")), _text(function.get("name")), _arguments(arguments)))

    def result(self, holder: Mapping[str, Any], content: Any, key: str | None = None) -> None:
        inner = _Reader()
        inner.content(content if not isinstance(content, Mapping) else [content])
        text = "\n".join(inner.texts)
        if isinstance(content, Mapping | list) and content and not text and not inner.images:
            text = json_text(content)
        name = holder.get("name", holder.get("tool_name"))
        error = holder.get("is_error", holder.get("isError"))
        # One answer may be to several calls (SWE-agent's lists): the first has it, the others say where it is.
        together = [_text(one) for one in _sequence(holder.get("tool_call_ids"))]
        call_id = _text(holder.get(key or "tool_call_id", holder.get("call_id", together[0] if together else "")))
        self.results.append(
            ToolResult(
                call_id=call_id,
                name=clean_text(name) if isinstance(name, str) else None,
                text=clean_text(text),
                is_error=error if isinstance(error, bool) else None,
                images=inner.images,
            )
        )
        self.results.extend(
            ToolResult(one, None, f"[answered together with call {call_id}]", None, 0) for one in together if one != call_id
        )


def is_call_block(block: Mapping[str, Any]) -> bool:
    """Whether a content block asks for a tool, whatever its type is called: it has an id, a name and an input."""
    return isinstance(block.get("id"), str) and "name" in block and ("input" in block or "arguments" in block)


def answered_id_key(block: Mapping[str, Any]) -> str | None:
    """The key of a content block that names the call it answers (``tool_use_id`` and its like), None when it has none."""
    for key in ("tool_use_id", "tool_call_id", "call_id", "toolCallId"):
        if isinstance(block.get(key), str):
            return key
    return None


def _reasoning_item(item: Mapping[str, Any]) -> Iterator[str]:
    for key in ("summary", "content"):
        for part in _sequence(item.get(key)):
            if isinstance(part, Mapping) and isinstance(part.get("text"), str):
                yield part["text"]
    if isinstance(item.get("encrypted_content"), str):
        yield item["encrypted_content"]


def _arguments(value: Any) -> str:
    if isinstance(value, str):
        return clean_text(value)
    return "" if value is None else clean_text(json_text(value))


def _sequence(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _text(value: Any) -> str:
    return clean_text(value) if isinstance(value, str) else ""
