"""Content that is neither words nor a picture: documents, files, sound, search results, and blocks of types unknown here."""
from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sessionstore.domain.messages import clean_text
from sessionstore.domain.payloads import PAGE_TOKENS, Mark, Payloads
from sessionstore.domain.response_items import type_of

_WORDS: Final[Mapping[str, str]] = {
    "document": "document", "search_result": "search result", "file": "file", "input_file": "file", "container_upload": "file",
    "input_audio": "audio", "output_audio": "audio", "audio": "audio", "audio_url": "audio",
    "video": "video", "video_url": "video", "input_video": "video", "resource": "resource", "resource_link": "resource",
}  # fmt: skip

FILE_TYPES: Final = frozenset(_WORDS)
"""Types of content blocks that hold or name a file, and nothing that was said."""

_FROM_TOOL: Final = re.compile("tool|function|call|result|response|output", re.IGNORECASE)
_NAME_KEYS: Final = ("title", "filename", "file_name", "name")
_ADDRESS_KEYS: Final = ("file_id", "url", "file_url", "uri")
_SILENT_KEYS: Final = frozenset(
    {"type", "cache_control", "media_type", "mediaType", "mimeType", "mime_type", "mime", "format"}
)
_ENVELOPE: Final = frozenset({"id", "call_id", "status", "parent", "sidechain", "created_at", "requires"})
"""What a block or an item says of itself and not of what it holds."""

_LONGEST_NAME: Final = 200
_SHORT: Final = 200
"""Characters up to which a value is read with the key that says what it is."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """What stands beside the words of a message: what it is, in brackets, and what can be read of it."""

    label: str
    text: str
    kind: str

    @property
    def is_file(self) -> bool:
        """Whether it is known to hold or name a file."""
        return self.kind in FILE_TYPES

    @property
    def is_from_tool(self) -> bool:
        """Whether its type says that a tool answered or was asked, in a dialect that nobody reads here."""
        return not self.is_file and _FROM_TOOL.search(self.kind) is not None

    @property
    def whole(self) -> str:
        """The label and what can be read, each on lines of its own."""
        return f"{self.label}\n{self.text}" if self.text else self.label


def read_attachment(block: Mapping[str, Any], payloads: Payloads) -> Attachment | None:
    """What a block holds that is no text block; None where it holds nothing. Its payloads are added to ``payloads``."""
    kind = type_of(block)
    before = (payloads.tokens, payloads.images)
    named = _named(block)
    name = "" if named is None else clean_text(" ".join(named.split()))[:_LONGEST_NAME]
    held = payloads.taken_from({key: value for key, value in block.items() if key not in _ENVELOPE})
    lines = [line for line in _lines(held, named) if line.strip()]
    if (payloads.tokens, payloads.images) == before:
        if kind in FILE_TYPES and not lines:
            # Only the provider knows the file that an id or an address names; a page is the least that it has.
            payloads.tokens += PAGE_TOKENS
        elif not lines and not name:
            return None
    word = _WORDS.get(kind) or clean_text(kind) or "content"
    return Attachment(f"[{word} {name}]" if name else f"[{word}]", clean_text("\n".join(lines)), kind)


def _named(block: Mapping[str, Any]) -> str | None:
    holders = [block, *(value for value in block.values() if isinstance(value, Mapping))]
    for keys in (_NAME_KEYS, _ADDRESS_KEYS):
        for holder in holders:
            for key in keys:
                name = holder.get(key)
                if isinstance(name, str) and name.strip() and not name.startswith("data:"):
                    return name
    return None


def _lines(value: Any, named: str | None) -> Iterator[str]:
    """The texts and numbers of a value, a short one behind its key; without what the label says and without payloads."""
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        key, one = waiting.pop()
        if isinstance(one, Mapping):
            waiting.extend((name, held) for name, held in reversed(list(one.items())) if name not in _SILENT_KEYS)
        elif isinstance(one, list):
            waiting.extend((key, held) for held in reversed(one))
        elif isinstance(one, Mark) or one is None or isinstance(one, bool) or one == named:
            continue
        elif isinstance(one, str) and (key in ("", "text", "data", "content") or len(one) > _SHORT or "\n" in one):
            yield one
        elif isinstance(one, str | int | float):
            yield f"{key}: {one}"
