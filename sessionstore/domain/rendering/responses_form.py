"""Drafts as Responses items: messages, ``reasoning``, ``function_call`` and ``function_call_output`` beside one another."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from sessionstore.domain.messages import Message
from sessionstore.domain.rendering.media import (
    FOREIGN_TO_RESPONSES,
    arguments_text,
    flagged_content,
    responses_block,
    spoken_content,
)
from sessionstore.domain.rendering.outgoing import Outgoing, is_blocks, origin_of
from sessionstore.domain.rendering.parts import Draft, Key, Member, Part, Voice
from sessionstore.domain.response_items import BUILT_IN_CALLS, CALL_ITEMS, is_own_answer, type_of
from sessionstore.domain.transcript import answered_id_key, is_call_block

_FOREIGN_BLOCKS: Final = FOREIGN_TO_RESPONSES | {
    "text", "image_url", "image", "tool_use", "tool_result", "thinking", "redacted_thinking", "reasoning",
}
_FOREIGN_KEYS: Final = ("tool_calls", "function_call", "audio")
_INPUTS: Final = frozenset({"input_text", "input_image", "input_file"})


@dataclass(frozen=True, slots=True)
class ResponsesForm:
    """Writes Responses items.

    ``calls`` are the items of calls by key, ``plain`` the keys of those that are written as calls of a function instead.
    """

    calls: Mapping[Key, Mapping[str, Any]]
    plain: frozenset[Key]

    @classmethod
    def of(cls, drafts: Sequence[Draft]) -> ResponsesForm:
        """The form for what these drafts say. A built-in tool whose answer isn't its own any more is told as a function."""
        parts = [(part.key, part) for draft in drafts for part in draft.parts if part.key is not None]
        calls = {key: part.raw for key, part in parts if part.kind == "call" and isinstance(part.raw, Mapping)}
        built_in = {key: raw for key, raw in calls.items() if type_of(raw) in BUILT_IN_CALLS}
        plain = {
            key
            for key, part in parts
            if part.kind == "result" and key in built_in and not is_own_answer(built_in[key], part.raw)
        }
        return cls(calls, frozenset(plain))

    def messages(self, draft: Draft) -> list[Outgoing]:
        """The items that say what a draft says, in order; those that were items already are handed on."""
        origin = origin_of(draft)
        found: list[Outgoing] = []
        for member in draft.members:
            sources = tuple(dict.fromkeys(part.seq for part in member.parts if part.seq >= 0))
            if member.complete and _accepts(member.envelope, draft.voice):
                if any(part.is_visible for part in member.parts):
                    found.append(Outgoing(member.envelope, draft.voice, sources, origin))
                continue
            found.extend(self._items(member, draft.voice, sources, origin))
        return found

    def _items(self, member: Member, voice: Voice, sources: tuple[int, ...], origin: Any) -> list[Outgoing]:
        found: list[Outgoing] = []
        spoken: list[Any] = []
        convert = partial(responses_block, spoken_by_model=voice == "assistant")

        def say() -> None:
            if spoken:
                message = {"role": voice, "content": spoken_content(spoken, convert)}
                found.append(Outgoing(message, voice, sources, origin))
                spoken.clear()

        for part in member.parts:
            if part.kind in ("text", "image", "other"):
                if part.is_visible:
                    spoken.append(part.raw)
                continue
            say()
            if part.kind == "call":
                found.append(Outgoing(self._call(part), "assistant", sources, origin, has_words=False))
            elif part.kind == "result":
                found.append(Outgoing(self._result(part), "tool", sources, origin))
            else:
                found.append(Outgoing(part.raw, "assistant", sources, origin, has_words=False))
        say()
        return found

    def _call(self, part: Part) -> Message:
        raw: dict[str, Any] = part.raw
        if type_of(raw) in CALL_ITEMS and "role" not in raw and part.key not in self.plain:
            written = {"call_id": part.call_id}
            if type_of(raw) in ("function_call", "custom_tool_call"):
                written["name"] = part.tool_name
            if type_of(raw) == "function_call" and not isinstance(raw.get("arguments"), str):
                written["arguments"] = arguments_text(part)
            return _with(raw, written)
        return {
            "type": "function_call",
            "call_id": part.call_id,
            "name": part.tool_name,
            "arguments": arguments_text(part),
        }

    def _result(self, part: Part) -> Message:
        raw: dict[str, Any] = part.raw
        called = type_of(self.calls.get(part.key)) if part.key is not None and part.key not in self.plain else ""
        kind = f"{called}_output" if called in CALL_ITEMS else "function_call_output"
        if type_of(raw) == kind and _is_output(raw.get("output"), kind):
            return _with(raw, {"call_id": part.call_id, **_identity(kind, part)})
        output = flagged_content(part, partial(responses_block, spoken_by_model=False))
        if kind == "local_shell_call_output" and not isinstance(output, str):
            output = "" if part.result is None else part.result.text
        return {"type": kind, "call_id": part.call_id, "output": output, **_identity(kind, part)}


def _with(item: Message, written: Mapping[str, Any]) -> Message:
    return item if all(item.get(key) == value for key, value in written.items()) else {**item, **written}


def _identity(kind: str, part: Part) -> dict[str, str]:
    # The provider wants both of them for this one tool; others have an id of their own or none.
    if kind != "local_shell_call_output":
        return {}
    own = part.raw.get("id") if type_of(part.raw) == kind else None
    return {"id": own if isinstance(own, str) and own else part.call_id}


def _is_output(output: Any, kind: str) -> bool:
    if kind not in ("function_call_output", "custom_tool_call_output"):
        return True
    return isinstance(output, str) or (
        isinstance(output, list) and bool(output) and all(type_of(block) in _INPUTS for block in output)
    )


def _accepts(message: Message, role: str) -> bool:
    content = message.get("content")
    if message.get("role") != role or any(message.get(key) for key in _FOREIGN_KEYS):
        return False
    if isinstance(content, str):
        return True
    if not isinstance(content, list) or not is_blocks(content, _FOREIGN_BLOCKS):
        return False
    if role == "assistant" and not all(type_of(block) in ("output_text", "refusal") for block in content):
        return False
    if role == "user" and any(type_of(block) in ("output_text", "refusal") for block in content):
        return False
    return not any(is_call_block(block) or answered_id_key(block) is not None for block in content)
