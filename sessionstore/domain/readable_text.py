"""What a message says, as one text: to be searched, and to be read by an agent."""
from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sessionstore.domain.messages import Message, clean_text
from sessionstore.domain.search_words import composed
from sessionstore.domain.transcript import ToolCall, view_message


def searchable_text(message: Message) -> str:
    """Text, attachments, calls with the values of their arguments, and results of a message, with a blank line between two.

    Reasoning and images are left out. Lone surrogates are U+FFFD, accents are composed.
    """
    view = view_message(message)
    parts = [view.text, *(attachment.whole for attachment in view.attachments)]
    parts.extend("\n".join([call.name, *_argument_texts(call)]) for call in view.calls)
    parts.extend(result.text for result in view.results)
    return composed(clean_text("\n\n".join(part for part in parts if part)))


def readable_text(message: Message) -> str:
    """The same for a reader: each call as ``name(arguments)``, each result behind a line that names its tool or call."""
    view = view_message(message)
    parts = [view.text]
    parts.extend(one.whole for one in view.attachments if one.text or not view.is_labelled(one))
    parts.extend(f"[call] {call.name}({call.arguments})" for call in view.calls)
    parts.extend(f"[result of {result.name or result.call_id or 'a call'}]\n{result.text}" for result in view.results)
    parts.extend(["[image]"] * (view.images + sum(result.images for result in view.results)))
    return clean_text("\n\n".join(part for part in parts if part))


def snippet(text: str, start: int, end: int, *, length: int = 240) -> str:
    """The part of a text around a place, on one line, with … where something went; about ``length`` characters."""
    room = max(length - (end - start), 0)
    first = max(start - room // 3, 0)
    last = min(max(first + length, min(end, start + length)), len(text))
    first = max(min(first, last - length), 0)
    inside = " ".join(text[first:last].split())
    return ("…" if first else "") + inside + ("…" if last < len(text) else "")


def _argument_texts(call: ToolCall) -> Iterator[str]:
    """The names and values of a call's arguments as they were meant, without JSON's escapes; as they stand if no JSON."""
    try:
        value = json.loads(call.arguments)
    except (ValueError, RecursionError):
        yield call.arguments
        return
    yield from _leaves(value)


def _leaves(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            for key, held in reversed(one.items()):
                waiting.extend((held, key))
        elif isinstance(one, list):
            waiting.extend(reversed(one))
        elif isinstance(one, str):
            yield one
        elif one is not None:
            yield json.dumps(one)
