"""Finding out the format of a transcript from what is in it; names of files are not looked at."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, get_args

from sessionstore.errors import ImportFormatError
from sessionstore.formats.claude_records import is_claude_record
from sessionstore.formats.json_lines import read_json_lines
from sessionstore.formats.parsed import DamagedLine

TranscriptFormat = Literal["openai", "claude-code", "sessionstore"]
"""OpenAI chat messages (a document or lines), session files of Claude Code, and this library's own export."""

TRANSCRIPT_FORMATS: Final = get_args(TranscriptFormat)


def detect_format(lines: Iterable[str], *, name: str = "the transcript") -> TranscriptFormat:
    """The format of a transcript, from the first line that tells it; damaged lines and notices before it are passed over.

    A text that begins with a JSON list, or is one pretty-printed object, is decided as a document by ``detect_document``.
    Raises ``ImportFormatError``, which says what was seen and which formats there are.
    """
    seen = "it is empty"
    for item in read_json_lines(lines):
        if isinstance(item, DamagedLine):
            seen = f"line {item.line}: {item.reason}" if seen == "it is empty" else seen
            continue
        found = _format_of_record(item.value)
        if found is not None:
            return found
        keys = ", ".join(list(item.value)[:8])
        seen = f"line {item.line} is a JSON object with the keys {keys}" if keys else f"line {item.line} is an empty object"
    raise ImportFormatError(name, f"{seen}; the formats that can be imported are {', '.join(TRANSCRIPT_FORMATS)}")


def detect_document(value: Any, *, name: str = "the document") -> TranscriptFormat:
    """The format of one JSON document: a list of messages, or an object with a list of ``messages``; errors as above."""
    messages = value.get("messages") if isinstance(value, dict) else value
    if isinstance(messages, list):
        if not messages or any(isinstance(message, dict) and isinstance(message.get("role"), str) for message in messages):
            return "openai"
        seen = "a JSON list whose elements are not messages with a role"
    elif isinstance(value, dict):
        if (found := _format_of_record(value)) is not None:
            return found
        seen = f"a JSON object with the keys {', '.join(list(value)[:8])}"
    else:
        seen = f"a JSON {type(value).__name__}"
    raise ImportFormatError(name, f"it is {seen}; the formats that can be imported are {', '.join(TRANSCRIPT_FORMATS)}")


def _format_of_record(value: Mapping[str, Any]) -> TranscriptFormat | None:
    if "sessionstore" in value:
        return "sessionstore"
    if isinstance(value.get("sessionId"), str | None) and is_claude_record(value):
        return "claude-code"
    if isinstance(value.get("role"), str):
        return "openai"
    messages = value.get("messages")
    if isinstance(messages, list) and all(isinstance(message, dict) and "role" in message for message in messages):
        return "openai"
    return None
