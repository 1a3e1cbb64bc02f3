"""What a message says, in whichever of the three dialects it says it.

OpenAI chat messages, Anthropic content blocks and Responses items say the same things in different places. Nothing that is sent
is left out here: what no dialect knows is an attachment, what is no text has a price.
"""
from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sessionstore.domain.attachments import FILE_TYPES, Attachment, read_attachment
from sessionstore.domain.messages import clean_text, json_text
from sessionstore.domain.payloads import IMAGE_TYPES, Payloads
from sessionstore.domain.response_items import (
    answer_key,
    arguments_key,
    is_answered_call,
    is_call_item,
    is_other_item,
    is_result_item,
    tool_name,
)

_TEXT_KEYS: Final = ("text", "refusal", "thinking")
_PLAIN_TEXTS: Final = frozenset({"text", "input_text", "output_text", "refusal", "summary_text", "reasoning_text", ""})
REASONING_TYPES: Final = frozenset({"thinking", "redacted_thinking", "reasoning"})
"""Types of content blocks that hold a model's reasoning."""

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
    """What a tool answered, with the text of the documents in it.

    ``is_error`` is what the message says of itself, None where it says nothing. ``payload_tokens`` is the price of files.
    """

    call_id: str
    name: str | None
    text: str
    is_error: bool | None
    images: int
    payload_tokens: int = 0


@dataclass(frozen=True, slots=True)
class MessageView:
    """What one message says: its visible text, calls, results, reasoning, images and attachments, in every dialect.

    ``pieces`` are the blocks of the text. In what a user sent, which is no tool's result, a label such as
    ``[document plan.pdf]`` stands among them for each attachment. ``payload_tokens`` is the price of what no text can show:
    files, and what only the provider can open.
    """

    role: str
    text: str
    calls: tuple[ToolCall, ...]
    results: tuple[ToolResult, ...]
    reasoning: tuple[str, ...]
    images: int
    attachments: tuple[Attachment, ...] = ()
    pieces: tuple[str, ...] = ()
    payload_tokens: int = 0

    def is_labelled(self, attachment: Attachment) -> bool:
        """Whether the text says where an attachment is."""
        return self.role == "user" and not self.results and not attachment.is_from_tool

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing in it that a provider would accept as content."""
        return not (self.text.strip() or self.calls or self.results or self.images or self.attachments)


def view_message(message: Mapping[str, Any]) -> MessageView:
    """Read a message of any dialect into the common view."""
    reader = _Reader()
    if "role" not in message and (item_role := reader.item(message)) is not None:
        return reader.view(item_role)
    role = _text(message.get("role")) or "assistant"
    if role in ("tool", "function"):
        reader.result(message, message.get("content"))
        return reader.view("tool")
    reader.content(message.get("content"))
    if isinstance(message.get("refusal"), str) and message["refusal"]:
        reader.texts.append(message["refusal"])
    if isinstance(message.get("audio"), Mapping):
        reader.audio(message["audio"])
    for key in ("reasoning_content", "reasoning"):
        if isinstance(message.get(key), str):
            reader.reasoning.append(message[key])
    for call in _sequence(message.get("tool_calls")):
        reader.openai_call(call)
    legacy = message.get("function_call")
    if isinstance(legacy, Mapping):
        reader.calls.append(ToolCall("", _text(legacy.get("name")), _arguments(legacy.get("arguments"))))
    return reader.view("system" if role == "developer" else role)


class _Reader:
    """Collects what a message says while its parts are walked."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.attached: list[tuple[int, Attachment]] = []
        self.calls: list[ToolCall] = []
        self.results: list[ToolResult] = []
        self.reasoning: list[str] = []
        self.images = 0
        self.payloads = Payloads()

    def view(self, role: str) -> MessageView:
        pieces = self.texts
        if self.attached and role == "user" and not self.results:
            pieces = self.merged(["" if one.is_from_tool else one.label for _, one in self.attached])
        return MessageView(
            role=role,
            text=clean_text("\n".join(pieces)),
            calls=tuple(self.calls),
            results=tuple(self.results),
            reasoning=tuple(self.reasoning),
            images=self.images + self.payloads.images,
            attachments=tuple(attachment for _, attachment in self.attached) if self.attached else (),
            pieces=tuple(pieces),
            payload_tokens=self.payloads.tokens,
        )

    def merged(self, shown: Sequence[str]) -> list[str]:
        """The texts with what is shown of each attachment in its place."""
        texts = list(self.texts)
        for (place, _), text in zip(reversed(self.attached), reversed(shown), strict=True):
            if text:
                texts.insert(place, text)
        return texts

    def item(self, item: Mapping[str, Any]) -> str | None:
        """Read a Responses item and say whose it is; None for a message."""
        if is_call_item(item) or is_answered_call(item):
            key = "id" if is_answered_call(item) else "call_id"
            self.calls.append(ToolCall(_text(item.get(key)), _text(tool_name(item)), _arguments(item.get(arguments_key(item)))))
            if is_answered_call(item):
                answer = answer_key(item)
                self.result({**item, "is_error": True} if answer == "error" else item, item.get(answer), key)
        elif is_result_item(item):
            # The answer of a local shell names its call as its own id where the model's library is an old one.
            self.result(item, item.get("output"), None if "call_id" in item else "id")
            return "tool"
        elif is_other_item(item):
            self.attach(item)
        elif item.get("type") == "reasoning":
            self.reasoning.extend(_thoughts(item))
            if isinstance(sealed := self.payloads.taken_from(item.get("encrypted_content"), "encrypted_content"), str):
                self.reasoning.append(sealed)
        else:
            return None
        return "assistant"

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
            thought = _text(block.get("thinking", block.get("text")))
            self.reasoning.append(thought or _text(self.payloads.taken_from(block.get("data"), "encrypted_content")))
            self.payloads.seal(_text(block.get("signature")), shown=thought)
        elif kind in IMAGE_TYPES:
            self.images += 1
        elif (key := answered_id_key(block)) is not None:
            self.result(block, block.get("content", block.get("output")), key)
        elif is_call_block(block):
            arguments = block.get("input", block.get("arguments"))
            self.calls.append(ToolCall(_text(block.get("id")), _text(block.get("name")), _arguments(arguments)))
        elif kind in FILE_TYPES:
            self.attach(block)
        else:
            texts = [_text(block[key]) for key in _TEXT_KEYS if isinstance(block.get(key), str)]
            self.texts.extend(texts)
            if kind not in _PLAIN_TEXTS or not texts:
                self.attach({key: value for key, value in block.items() if key not in _TEXT_KEYS} if texts else block)

    def attach(self, holder: Mapping[str, Any]) -> None:
        attachment = read_attachment(holder, self.payloads)
        if attachment is not None:
            self.attached.append((len(self.texts), attachment))

    def audio(self, audio: Mapping[str, Any]) -> None:
        """What a model said aloud, in the form of chat completions: read as it was transcribed."""
        if not any(text.strip() for text in self.texts):
            self.texts.append(_text(audio.get("transcript")))
        self.payloads.taken_from(audio, media_type="audio")

    def openai_call(self, call: Any) -> None:
        if not isinstance(call, Mapping):
            return
        function = call.get("function")
        function = function if isinstance(function, Mapping) else call.get("custom")
        function = function if isinstance(function, Mapping) else call
        arguments = function.get("arguments", function.get("input", function.get("args")))
        self.calls.append(ToolCall(_text(call.get("id")), _text(function.get("name")), _arguments(arguments)))

    def result(self, holder: Mapping[str, Any], content: Any, key: str | None = None) -> None:
        text, images, payload_tokens = (content, 0, 0) if isinstance(content, str) else _answer(content)
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
                images=images,
                payload_tokens=payload_tokens,
            )
        )
        self.results.extend(
            ToolResult(one, None, f"[answered together with call {call_id}]", None, 0) for one in together if one != call_id
        )


def _answer(content: Any) -> tuple[str, int, int]:
    """The text of an output that is no string, its pictures, and the price of its files.

    An object or a list of which nothing is known is read as JSON, in which many a tool says how it ended.
    """
    inner = _Reader()
    inner.content(content if not isinstance(content, Mapping) else [content])
    images = inner.images + inner.payloads.images
    text = "\n".join(inner.texts)
    if inner.attached and (text or images or any(attachment.is_file for _, attachment in inner.attached)):
        text = "\n".join(inner.merged([attachment.whole for _, attachment in inner.attached]))
    elif isinstance(content, Mapping | list) and content and not text and not images:
        text = json_text(Payloads().taken_from(content))
    return text, images, inner.payloads.tokens


def is_call_block(block: Mapping[str, Any]) -> bool:
    """Whether a content block asks for a tool, whatever its type is called: it has an id, a name and an input."""
    return isinstance(block.get("id"), str) and "name" in block and ("input" in block or "arguments" in block)


def answered_id_key(block: Mapping[str, Any]) -> str | None:
    """The key of a content block that names the call it answers (``tool_use_id`` and its like), None when it has none."""
    for key in ("tool_use_id", "tool_call_id", "call_id", "toolCallId"):
        if isinstance(block.get(key), str):
            return key
    return None


def _thoughts(item: Mapping[str, Any]) -> Iterator[str]:
    for key in ("summary", "content"):
        for part in _sequence(item.get(key)):
            if isinstance(part, Mapping) and isinstance(part.get("text"), str):
                yield part["text"]


def _arguments(value: Any) -> str:
    if isinstance(value, str):
        return clean_text(value)
    return "" if value is None else clean_text(json_text(value))


def _sequence(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _text(value: Any) -> str:
    return clean_text(value) if isinstance(value, str) else ""
