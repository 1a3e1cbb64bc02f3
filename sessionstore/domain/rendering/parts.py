"""A message of any dialect taken apart, so that repairs and conversions are written once.

The parts keep the given blocks as they are. A message that needs no repair is handed on whole, never put together again.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from sessionstore.domain.closed_sets import Kind
from sessionstore.domain.messages import Message
from sessionstore.domain.response_items import is_answered_call, is_call_item, is_result_item, type_of
from sessionstore.domain.transcript import (
    IMAGE_TYPES,
    REASONING_TYPES,
    Entry,
    ToolCall,
    ToolResult,
    answered_id_key,
    is_call_block,
)

PartKind = Literal["text", "image", "reasoning", "call", "result", "other", "item"]
"""What a part of a message is, whatever its dialect calls it; an ``item`` is a whole Responses item of another type."""

Voice = Literal["user", "assistant"]
"""Who speaks; a tool's result is brought by the user's side."""

Key = tuple[int, int]
"""Which call something is, or answers: the index of the entry and the number of the call in it."""

TEXT_TYPES: Final = frozenset({"text", "input_text", "output_text", "refusal"})


@dataclass(frozen=True, slots=True)
class Part:
    """One block, call or result of a message.

    ``raw`` is the given value (a string, a content block, an entry of ``tool_calls``, a whole item or tool message).
    ``call_id`` is the id to send, which may differ from the given one, and so may the name in ``call`` from ``given_name``.
    ``key`` says which call it is or answers.
    """

    kind: PartKind
    raw: Any
    seq: int
    call: ToolCall | None = None
    result: ToolResult | None = None
    call_id: str = ""
    key: Key | None = None
    given_name: str = ""
    inline: bool = False

    @property
    def given_id(self) -> str:
        """The call id as it was given."""
        holder = self.call or self.result
        return "" if holder is None else holder.call_id

    @property
    def tool_name(self) -> str:
        """The name of the tool that is called, as it is sent."""
        return "" if self.call is None else self.call.name

    @property
    def is_visible(self) -> bool:
        """Whether a provider would accept a message of only this part."""
        if self.kind == "text":
            return bool(part_text(self.raw).strip())
        return self.kind not in ("reasoning", "item")


@dataclass(frozen=True, slots=True)
class Member:
    """The parts that come from one given message. ``complete``: all of them, in their order; ids may be other ones."""

    envelope: Message
    parts: tuple[Part, ...]
    complete: bool = True

    @property
    def has_given_names(self) -> bool:
        """Whether every call and result still has the id that it was given, and every call the name of its tool."""
        return all(
            part.call_id == part.given_id and (part.call is None or part.tool_name == part.given_name) for part in self.parts
        )


@dataclass(frozen=True, slots=True)
class Draft:
    """A message to be sent, not yet in a provider's form. Several members are pieces of one answer of a model."""

    voice: Voice
    members: tuple[Member, ...]
    kind: Kind = "message"

    @property
    def parts(self) -> tuple[Part, ...]:
        """All parts, in order."""
        return tuple(part for member in self.members for part in member.parts)

    @property
    def sources(self) -> tuple[int, ...]:
        """The seqs it comes from, in order, each once."""
        return tuple(dict.fromkeys(part.seq for part in self.parts if part.seq >= 0))

    def select(self, kept: frozenset[int]) -> Draft | None:
        """The draft with only the parts at these positions; None when none is left."""
        members: list[Member] = []
        position = 0
        for member in self.members:
            numbered = enumerate(member.parts, position)
            chosen = tuple(part for number, part in numbered if number in kept)
            position += len(member.parts)
            if chosen:
                members.append(Member(member.envelope, chosen, member.complete and len(chosen) == len(member.parts)))
        return replace(self, members=tuple(members)) if members else None


def voice_of(entry: Entry) -> Voice:
    """Which side brings a message: unknown roles and tools are the user's, calls always the assistant's."""
    role = entry.view.role
    if role in ("assistant", "model", "ai", "gpt") or (entry.view.calls and role != "system"):
        return "assistant"
    return "assistant" if role == "system" else "user"


def read_parts(entry: Entry, index: int) -> tuple[Part, ...]:
    """The parts of a message in the order in which its view lists calls and results; ``index`` goes into their keys."""
    message = entry.message
    item_type = message.get("type")
    reader = _PartReader(entry, index)
    if is_call_item(message):
        reader.call(message)
    elif is_result_item(message) or message.get("role") in ("tool", "function"):
        reader.result(message)
        for result in entry.view.results[1:]:
            reader.result({"content": result.text})
    elif "role" not in message and item_type == "reasoning":
        reader.add("reasoning", message)
    elif is_answered_call(message) or ("role" not in message and "content" not in message):
        reader.add("item", message)
    else:
        reader.content(message.get("content"))
        if isinstance(message.get("refusal"), str) and message["refusal"]:
            reader.add("text", {"type": "refusal", "refusal": message["refusal"]})
        if isinstance(message.get("audio"), Mapping):
            reader.add("other", message["audio"])
        tool_calls = message.get("tool_calls")
        for call in tool_calls if isinstance(tool_calls, list) else ():
            if isinstance(call, Mapping):
                reader.call(call)
        if isinstance(message.get("function_call"), Mapping):
            reader.call(message["function_call"])
    if not reader.parts:
        reader.add("text", "")
    return tuple(reader.parts)


def part_text(raw: Any) -> str:
    """The text of a text part; empty for anything else."""
    if isinstance(raw, str):
        return raw
    if isinstance(raw, Mapping):
        for key in ("text", "refusal"):
            if isinstance(raw.get(key), str):
                return str(raw[key])
    return ""


class _PartReader:
    """Walks a message and numbers its calls and results as its view does."""

    def __init__(self, entry: Entry, index: int) -> None:
        self._entry = entry
        self._index = index
        self._calls = 0
        self._results = 0
        self.parts: list[Part] = []

    def add(self, kind: PartKind, raw: Any) -> None:
        self.parts.append(Part(kind, raw, self._entry.seq))

    def call(self, raw: Any) -> None:
        if self._calls == len(self._entry.view.calls):
            # Read otherwise than its view does: it is sent as what it is, and no call.
            self.add("other", raw)
            return
        call = self._entry.view.calls[self._calls]
        key = (self._index, self._calls)
        self._calls += 1
        self.parts.append(Part("call", raw, self._entry.seq, call=call, call_id=call.call_id, key=key, given_name=call.name))

    def result(self, raw: Any) -> None:
        if self._results == len(self._entry.view.results):
            self.add("other", raw)
            return
        result = self._entry.view.results[self._results]
        self._results += 1
        self.parts.append(Part("result", raw, self._entry.seq, result=result, call_id=result.call_id))

    def content(self, content: Any) -> None:
        if isinstance(content, str):
            self.add("text", content)
            return
        for block in content if isinstance(content, list) else ():
            if isinstance(block, str):
                self.add("text", block)
            elif isinstance(block, Mapping):
                self._block(block)

    def _block(self, block: Mapping[str, Any]) -> None:
        kind = type_of(block)
        if kind in REASONING_TYPES:
            self.add("reasoning", block)
        elif kind in IMAGE_TYPES:
            self.add("image", block)
        elif answered_id_key(block) is not None:
            self.result(block)
        elif is_call_block(block):
            self.call(block)
        elif kind in TEXT_TYPES or (not kind and isinstance(block.get("text"), str)):
            self.add("text", block)
        else:
            self.add("other", block)
