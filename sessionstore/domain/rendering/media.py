"""Text, images and tool outputs moved from the form of one provider to that of another."""
from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from sessionstore.domain.messages import json_text
from sessionstore.domain.rendering.parts import TEXT_TYPES, Part, part_text
from sessionstore.domain.transcript import IMAGE_TYPES

IMAGE_PLACEHOLDER: Final = "[image]"
"""Stands where an image was that the provider cannot be given, one that is named only by another provider's file id, say."""

FOREIGN_TO_ANTHROPIC: Final = frozenset(
    {"input_audio", "audio_url", "video_url", "file", "input_file", "encrypted_content"}
)
"""Blocks that Anthropic's messages do not have. Others stay: new types of blocks come with every new server tool."""

USERS_BLOCKS: Final = frozenset({"image", "document", "search_result", "container_upload"})
"""Blocks that Anthropic takes from a user only."""

FOREIGN_TO_RESPONSES: Final = frozenset({"document", "search_result", "file", "audio_url", "video_url", "encrypted_content"})
"""The same for Responses items."""

_CHAT_TYPES: Final = frozenset({"text", "image_url", "refusal", "input_audio", "file", "audio_url", "video_url"})
_DATA_URL: Final = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,", re.ASCII)

Block = dict[str, Any]


def chat_block(raw: Any, *, words_only: bool = False) -> Block:
    """A content part as chat completions have it. ``words_only``: what the assistant or a tool says, which is text there."""
    if _is_text(raw):
        return {"type": "text", "text": part_text(raw)}
    if words_only:
        return {"type": "text", "text": _in_words(raw)}
    if _kind(raw) in IMAGE_TYPES:
        url = image_address(raw)
        return {"type": "text", "text": IMAGE_PLACEHOLDER} if url is None else {"type": "image_url", "image_url": {"url": url}}
    return dict(raw) if is_chat_block(raw) else {"type": "text", "text": foreign_text(raw)}


def anthropic_block(raw: Any, *, spoken_by_model: bool = False) -> Block:
    """A content block as Anthropic's messages have it; a model's own message has no pictures and documents there."""
    if _is_text(raw):
        return dict(raw) if _kind(raw) == "text" else {"type": "text", "text": part_text(raw)}
    if spoken_by_model and (_kind(raw) in IMAGE_TYPES or _kind(raw) in USERS_BLOCKS):
        return {"type": "text", "text": _in_words(raw)}
    if _kind(raw) in IMAGE_TYPES:
        if _kind(raw) == "image" and isinstance(raw.get("source"), Mapping):
            return dict(raw)
        url = image_address(raw)
        if url is None:
            return {"type": "text", "text": IMAGE_PLACEHOLDER}
        match = _DATA_URL.match(url)
        if match is None:
            return {"type": "image", "source": {"type": "url", "url": url}}
        return {"type": "image", "source": {"type": "base64", "media_type": match.group(1), "data": url[match.end() :]}}
    return {"type": "text", "text": foreign_text(raw)} if _kind(raw) in FOREIGN_TO_ANTHROPIC else dict(raw)


def responses_block(raw: Any, *, spoken_by_model: bool) -> Block:
    """A content part as Responses items have it: what a model said is output, which is text, all else is input."""
    if spoken_by_model:
        return {"type": "output_text", "text": _in_words(raw)}
    if _is_text(raw):
        return {"type": "input_text", "text": part_text(raw)}
    if _kind(raw) in IMAGE_TYPES:
        if _kind(raw) == "input_image":
            return dict(raw)
        url = image_address(raw)
        if url is None:
            return {"type": "input_text", "text": IMAGE_PLACEHOLDER}
        return {"type": "input_image", "image_url": url}
    if _kind(raw) in FOREIGN_TO_RESPONSES:
        return {"type": "input_text", "text": foreign_text(raw)}
    return dict(raw)


def is_chat_block(raw: Mapping[str, Any]) -> bool:
    """Whether a content part is of a type that chat completions know; theirs is a short, closed list."""
    return _kind(raw) in _CHAT_TYPES and (_kind(raw) != "file" or "file" in raw)


def foreign_text(raw: Mapping[str, Any]) -> str:
    """What stands for a block that a provider has no place for: its own text, else its type in brackets."""
    said = next((raw[key] for key in ("text", "content") if isinstance(raw.get(key), str) and raw[key].strip()), None)
    if said is None:
        return f"[{_kind(raw) or 'content'}]"
    named = next((raw[key] for key in ("path", "title", "name") if isinstance(raw.get(key), str)), None)
    return said if named is None else f"{named}\n{said}"


def image_address(raw: Mapping[str, Any]) -> str | None:
    """Where an image is, as a URL (a data URL for one that was sent along); None when only a file id says so."""
    given = raw.get("image_url")
    if isinstance(given, Mapping):
        given = given.get("url")
    if isinstance(given, str):
        return given
    source = raw.get("source")
    if isinstance(source, Mapping):
        if isinstance(source.get("data"), str):
            return f"data:{source.get('media_type', 'image/png')};base64,{source['data']}"
        if isinstance(source.get("url"), str):
            return str(source["url"])
    if isinstance(raw.get("data"), str):
        return f"data:{raw.get('mimeType', raw.get('media_type', 'image/png'))};base64,{raw['data']}"
    return None


def spoken_content(raws: Sequence[Any], convert: Callable[[Any], Block]) -> str | list[Block]:
    """Content of a message from its text and image parts: a string where one text is all there is."""
    if len(raws) == 1 and _is_text(raws[0]):
        return part_text(raws[0])
    return [convert(raw) for raw in raws]


def output_content(part: Part, convert: Callable[[Any], Block]) -> str | list[Block]:
    """What a tool answered, as content for another provider: a string, or blocks where there is an image."""
    raw = part.raw if isinstance(part.raw, Mapping) else {}
    content = raw.get("content", raw.get("output"))
    text = "" if part.result is None else part.result.text
    if isinstance(content, Mapping):
        content = [content]
    if isinstance(content, list) and any(_kind(block) in IMAGE_TYPES for block in content):
        blocks = [block for block in content if _kind(block) in IMAGE_TYPES or _is_text(block)]
        return [convert(block) for block in blocks if not _is_text(block) or part_text(block).strip()]
    return content if isinstance(content, str) else text if text.strip() else ""


def flagged_content(part: Part, convert: Callable[[Any], Block]) -> str | list[Block]:
    """The same for a provider without a flag for failures: the text says so where only the flag did."""
    content = output_content(part, convert)
    failed = part.result is not None and part.result.is_error is True
    if failed and isinstance(content, str) and "error" not in content.lower():
        return f"[error] {content}"
    return content


def arguments_object(part: Part) -> dict[str, Any]:
    """The arguments of a call as an object; text that is no JSON object becomes ``{"input": text}``."""
    arguments = "" if part.call is None else part.call.arguments
    if not arguments.strip():
        return {}
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return {"input": arguments}
    return value if isinstance(value, dict) else {"input": arguments}


def arguments_text(part: Part) -> str:
    """The arguments of a call as the text of a JSON object; the given text where it is one."""
    arguments = "" if part.call is None else part.call.arguments
    if part.call is not None and part.call.argument_values():
        return arguments
    return json_text(arguments_object(part))


def _in_words(raw: Any) -> str:
    if _is_text(raw):
        return part_text(raw)
    return IMAGE_PLACEHOLDER if _kind(raw) in IMAGE_TYPES else foreign_text(raw)


def _is_text(raw: Any) -> bool:
    return isinstance(raw, str) or (isinstance(raw, Mapping) and (_kind(raw) in TEXT_TYPES or set(raw) == {"text"}))


def _kind(raw: Any) -> str:
    kind = raw.get("type") if isinstance(raw, Mapping) else None
    return kind if isinstance(kind, str) else ""
