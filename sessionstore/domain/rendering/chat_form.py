"""Drafts as OpenAI chat messages: ``tool_calls`` on the assistant's message, one ``tool`` message a result."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sessionstore.domain.messages import Message
from sessionstore.domain.rendering.media import arguments_text, chat_block, flagged_content, is_chat_block, spoken_content
from sessionstore.domain.rendering.outgoing import Outgoing, kept_fields, origin_of
from sessionstore.domain.rendering.parts import Draft, Member, Part
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
        if len(draft.members) == 1 and member.complete and self._accepts(member.envelope, "assistant"):
            message = self._with_calls(member, calls)
        else:
            fields = kept_fields(member) if len(draft.members) == 1 else {}
            fields.update(role="assistant", content=spoken_content([part.raw for part in spoken], chat_block) or None)
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
            if not found and member.complete and self._accepts(member.envelope, "user"):
                message = member.envelope
            else:
                content = spoken_content([part.raw for part in spoken], chat_block)
                message = {**kept_fields(member), "role": "user", "content": content}
            found.append(Outgoing(message, "user", sources, origin))
        return found

    def _accepts(self, message: Message, role: str) -> bool:
        content = message.get("content")
        if message.get("role") != role or "type" in message or (self.strict and "function_call" in message):
            return False
        if content is not None and not isinstance(content, str):
            if not _is_chat_content(content):
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
        if written == given or "tool_calls" not in message:
            # An empty list of calls is refused by providers that accept its absence.
            if message.get("tool_calls") == []:
                return {key: value for key, value in message.items() if key != "tool_calls"}
            return message
        return {**message, "tool_calls": written}

    def _call(self, part: Part) -> dict[str, Any]:
        raw = part.raw
        if isinstance(raw.get("function"), Mapping):
            call = raw if part.call_id == part.given_id else {**raw, "id": part.call_id}
            if self.strict and isinstance(raw["function"], dict):
                arguments = arguments_text(part)
                if raw["function"].get("arguments") != arguments:
                    call = {**call, "function": {**raw["function"], "arguments": arguments}}
            return dict(call)
        if isinstance(raw.get("custom"), Mapping) and not self.strict:
            return {**raw, "id": part.call_id}
        name = "" if part.call is None else part.call.name
        return {
            "id": part.call_id,
            "type": "function",
            "function": {"name": name or "unknown_tool", "arguments": arguments_text(part)},
        }

    def _result(self, member: Member, part: Part) -> Message:
        envelope = member.envelope
        own = part.raw is envelope
        native = own and (envelope.get("role") == "tool" or (envelope.get("role") == "function" and not self.strict))
        content = envelope.get("content")
        if native and (isinstance(content, str) or _is_chat_content(content)):
            named = "tool_call_id" in envelope or envelope.get("role") == "function"
            if named and part.call_id == part.given_id:
                return envelope
            named_once = {key: value for key, value in envelope.items() if key != "tool_call_ids"}
            return {**named_once, "tool_call_id": part.call_id}
        fields = kept_fields(member) if own and envelope.get("role") == "tool" else {}
        fields.update(role="tool", tool_call_id=part.call_id, content=flagged_content(part, chat_block))
        return fields


def _is_chat_content(content: Any) -> bool:
    return isinstance(content, list) and all(isinstance(block, Mapping) and is_chat_block(block) for block in content)
