"""Drafts as Anthropic messages: content blocks, calls as ``tool_use``, results as ``tool_result`` in a user message."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from sessionstore.domain.messages import Message
from sessionstore.domain.rendering.media import (
    FOREIGN_TO_ANTHROPIC,
    USERS_BLOCKS,
    anthropic_block,
    arguments_object,
    output_content,
    spoken_content,
)
from sessionstore.domain.rendering.outgoing import Outgoing, is_blocks, kept_fields, origin_of
from sessionstore.domain.rendering.parts import Draft, Member, Part, part_text
from sessionstore.domain.response_items import type_of
from sessionstore.domain.transcript import answered_id_key

_FOREIGN_BLOCKS: Final = FOREIGN_TO_ANTHROPIC | {
    "image_url", "input_text", "output_text", "input_image", "refusal", "reasoning", "computer_screenshot",
}
_FOREIGN_KEYS: Final = ("tool_calls", "function_call", "refusal", "audio")


@dataclass(frozen=True, slots=True)
class AnthropicForm:
    """Writes Anthropic messages."""

    def messages(self, draft: Draft) -> list[Outgoing]:
        """The one message that says what a draft says."""
        parts = draft.parts
        member = draft.members[0]
        has_words = any(part.kind != "result" or part.inline for part in parts)
        whole = len(draft.members) == 1 and member.complete and self._accepts(member, draft.voice)
        if whole and member.has_given_names:
            message = member.envelope
        else:
            blocks = self._blocks(draft)
            fields = kept_fields(member) if len(draft.members) == 1 and _is_own(member.envelope) else {}
            fields.update(role=draft.voice, content=blocks)
            message = fields
        voice = draft.voice if draft.voice == "assistant" or has_words else "tool"
        return [Outgoing(message, voice, draft.sources, origin_of(draft), has_words)]

    def _blocks(self, draft: Draft) -> str | list[dict[str, Any]]:
        convert = partial(anthropic_block, spoken_by_model=draft.voice == "assistant")
        parts = [part for part in draft.parts if part.kind != "text" or part.is_visible]
        if all(part.kind == "text" for part in parts):
            return spoken_content([part.raw for part in parts], convert)
        return [self._block(part, convert) for part in parts]

    def _block(self, part: Part, convert: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        if part.kind == "call":
            return self._call(part)
        if part.kind == "result":
            return self._result(part)
        return dict(part.raw) if part.kind == "reasoning" else convert(part.raw)

    def _call(self, part: Part) -> dict[str, Any]:
        if part.inline or _is_native_call(part):
            return {**part.raw, "id": part.call_id} if part.inline else {**part.raw, "id": part.call_id, "name": part.tool_name}
        return {"type": "tool_use", "id": part.call_id, "name": part.tool_name, "input": arguments_object(part)}

    def _result(self, part: Part) -> dict[str, Any]:
        if part.inline:
            return {**part.raw, answered_id_key(part.raw) or "tool_use_id": part.call_id}
        if _is_native_result(part):
            return {**part.raw, "tool_use_id": part.call_id}
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": part.call_id}
        failed = None if part.result is None else part.result.is_error
        # A failure without a word about it is refused.
        block["content"] = output_content(part, anthropic_block) or ("[error]" if failed else "")
        if failed is not None:
            block["is_error"] = failed
        if isinstance(part.raw, Mapping) and part.raw.get("cache_control"):
            block["cache_control"] = part.raw["cache_control"]
        return block

    def _accepts(self, member: Member, role: str) -> bool:
        message = member.envelope
        if message.get("role") != role or not _is_own(message):
            return False
        if isinstance(message["content"], str):
            return True
        spoken = role == "user" or all(_is_text_of_a_model(part) for part in member.parts)
        calls = all(part.inline or _is_native_call(part) for part in member.parts if part.kind == "call")
        results = all(part.inline or _is_native_result(part) for part in member.parts if part.kind == "result")
        return spoken and calls and results


def _is_own(message: Message) -> bool:
    content = message.get("content")
    if message.get("role") not in ("user", "assistant") or any(message.get(key) for key in _FOREIGN_KEYS):
        return False
    return isinstance(content, str) or is_blocks(content, _FOREIGN_BLOCKS)


def _is_text_of_a_model(part: Part) -> bool:
    if part.kind == "text":
        return part.is_visible
    return part.kind != "image" and not (part.kind == "other" and type_of(part.raw) in USERS_BLOCKS)


def _is_native_call(part: Part) -> bool:
    raw = part.raw
    return isinstance(raw, Mapping) and raw.get("type") == "tool_use" and isinstance(raw.get("input"), Mapping)


def _is_native_result(part: Part) -> bool:
    raw = part.raw
    if not isinstance(raw, Mapping) or raw.get("type") != "tool_result" or "tool_use_id" not in raw:
        return False
    content = raw.get("content")
    if not content:
        return content in (None, "") and raw.get("is_error") is not True
    blank = isinstance(content, list) and any(type_of(block) == "text" and not part_text(block).strip() for block in content)
    return isinstance(content, str) or (is_blocks(content, _FOREIGN_BLOCKS) and not blank)
