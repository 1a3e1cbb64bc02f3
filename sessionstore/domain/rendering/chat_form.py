"""Drafts as OpenAI chat messages: ``tool_calls`` on the assistant's message, one ``tool`` message a result."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from sessionstore.domain.messages import Message
from sessionstore.domain.rendering.media import arguments_text, chat_block, flagged_content, is_chat_block, spoken_content
from sessionstore.domain.rendering.outgoing import Outgoing, kept_fields, origin_of
from sessionstore.domain.rendering.parts import Draft, Member, Part
from sessionstore.domain.response_items import type_of
from sessionstore.domain.transcript import answered_id_key, is_call_block


@dataclass(frozen=True, slots=True)
class ChatForm:
    """Writes chat messages. ``strict``: arguments are always a JSON object, words and calls are messages of their own."""

    strict: bool = False

    def messages(self, draft: Draft) -> list[Outgoing]:
        """The messages that say what a draft says, in order."""
        return self._assistant(draft) if draft.voice == "assistant" else self._user(draft)

    def _assistant(self, draft: Draft) -> list[Outgoing]:
        spoken = [part for part in draft.parts if part.kind in ("text", "image", "other")]
        calls = [part for part in draft.parts if part.kind == "call"]
        has_words = any(part.is_visible for part in spoken)
        member = draft.members[0]
        if len(draft.members) == 1 and member.complete and self._accepts(member, "assistant"):
            message = self._with_calls(member, calls)
        else:
            fields = kept_fields(member) if len(draft.members) == 1 else {}
            said = spoken_content([part.raw for part in spoken], partial(chat_block, words_only=True))
            fields.update(role="assistant", content=said or None)
            if calls:
                fields["tool_calls"] = [self._call(part) for part in calls]
            message = fields
        sources, origin = draft.sources, origin_of(draft)
        if self.strict and calls and not has_words and message.get("content"):
            message = {**message, "content": ""}
        if not (self.strict and calls and has_words):
            return [Outgoing(message, "assistant", sources, origin, has_words)]
        words = {"role": "assistant", "content": message.get("content")}
        rest = {**message, "content": ""}
        return [
            Outgoing(words, "assistant", sources, origin),
            Outgoing(rest, "assistant", sources, origin, has_words=False),
        ]

    def _user(self, draft: Draft) -> list[Outgoing]:
        sources, origin = draft.sources, origin_of(draft)
        found = [
            Outgoing(self._result(member, part), "tool", sources, origin)
            for member in draft.members
            for part in member.parts
            if part.kind == "result"
        ]
        spoken = [part for part in draft.parts if part.kind in ("text", "image", "other")]
        if any(part.is_visible for part in spoken):
            member = draft.members[0]
            if not found and member.complete and self._accepts(member, "user"):
                message = member.envelope
            else:
                content = spoken_content([part.raw for part in spoken], chat_block)
                message = {**kept_fields(member), "role": "user", "content": content}
            found.append(Outgoing(message, "user", sources, origin))
        return found

    def _accepts(self, member: Member, role: str) -> bool:
        message = member.envelope
        content = message.get("content")
        if message.get("role") != role or "type" in message:
            return False
        if message.get("function_call") and (self.strict or not member.has_given_names):
            return False
        if content is not None and not isinstance(content, str):
            if not _is_chat_content(content, words_only=role == "assistant"):
                return False
            if any(is_call_block(block) or answered_id_key(block) is not None for block in content):
                return False
        tool_calls = message.get("tool_calls")
        return not isinstance(tool_calls, list) or all(
            isinstance(call, Mapping) and ("function" in call or "custom" in call) for call in tool_calls
        )

    def _with_calls(self, member: Member, calls: list[Part]) -> Message:
        message = member.envelope
        written = [self._call(part) for part in calls]
        given = [part.raw for part in calls]
        return message if written == given or not message.get("tool_calls") else {**message, "tool_calls": written}

    def _call(self, part: Part) -> dict[str, Any]:
        raw = part.raw
        if isinstance(raw.get("function"), Mapping):
            function = {**raw["function"], "name": part.tool_name}
            if self.strict or not isinstance(function.get("arguments"), str):
                function["arguments"] = arguments_text(part)
            return {**raw, "id": part.call_id, "type": "function", "function": function}
        if isinstance(raw.get("custom"), Mapping) and not self.strict:
            return {**raw, "id": part.call_id, "custom": {**raw["custom"], "name": part.tool_name}}
        return {
            "id": part.call_id,
            "type": "function",
            "function": {"name": part.tool_name, "arguments": arguments_text(part)},
        }

    def _result(self, member: Member, part: Part) -> Message:
        envelope = member.envelope
        own = part.raw is envelope
        content = envelope.get("content")
        fits = own and (isinstance(content, str) or _is_chat_content(content, words_only=True))
        name = {"name": part.result.name} if part.result is not None and isinstance(envelope.get("name"), str) else {}
        if fits and envelope.get("role") == "function" and not part.call_id:
            return envelope if envelope.get("name") == name.get("name") else {**envelope, **name}
        if fits and envelope.get("role") == "tool":
            if envelope.get("tool_call_id") == part.call_id and envelope.get("name") == name.get("name"):
                return envelope
            named_once = {key: value for key, value in envelope.items() if key != "tool_call_ids"}
            return {**named_once, "tool_call_id": part.call_id, **name}
        fields = {**kept_fields(member), **name} if own and envelope.get("role") == "tool" else {}
        content = flagged_content(part, partial(chat_block, words_only=True))
        fields.update(role="tool", tool_call_id=part.call_id, content=content)
        return fields


def _is_chat_content(content: Any, *, words_only: bool = False) -> bool:
    """Whether content is a list of parts as chat has them; ``words_only``: as it has them in what a model or tool says."""
    return isinstance(content, list) and all(
        isinstance(block, Mapping) and (type_of(block) in ("text", "refusal") if words_only else is_chat_block(block))
        for block in content
    )
