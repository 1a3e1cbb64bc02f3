"""What of a message is no text: files, sound and pictures in base64, and what only its provider can open.

Such a payload has a price by its size, as a provider that opens it would count it, and is never read as text.
"""
from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sessionstore.domain.messages import clean_text

IMAGE_TYPES: Final = frozenset({"image", "image_url", "input_image", "computer_screenshot"})
"""Types of content blocks that hold a picture."""

PAGE_TOKENS: Final = 2_000
"""Price of a page of a document. Anthropic's guide to PDFs gives 1,500 to 3,000 tokens a page, by how dense it is."""

PAGE_BYTES: Final = 50_000
"""Bytes of a document that count as a page: between a page of text (20,000 to 50,000) and a scanned one (100,000 and more)."""

SOUND_TOKENS: Final = 10
"""Price of a second of sound: OpenAI counts a token for 100 ms of what a user says."""

MOST_PAYLOAD_TOKENS: Final = 50_000
"""Highest price of one payload: 25 pages, or 80 minutes of sound. Beyond it pictures inside make size a bad measure, and a
guess that fills a window would compact what fits; the provider's own count says when it doesn't."""

_WAVE_BYTES: Final = 48_000
"""Bytes of a second of uncompressed sound: 16 bits at 24 kHz, the format of OpenAI's audio models."""

_SOUND_BYTES: Final = 16_000
"""Bytes of a second of compressed sound: 128 kbit/s, the usual rate of MP3."""

_BYTES_A_TOKEN: Final = 4
"""Bytes of English text that a token covers; what base64 or a cipher hides is taken for such."""

_SOUNDS: Final = frozenset({"wav", "mp3", "pcm16", "pcm", "flac", "ogg", "opus", "m4a", "aac", "mpga", "mpeg"})
_TEXTS: Final = ("text/", "application/json", "application/xml", "application/x-yaml")
_MEDIA_KEYS: Final = ("media_type", "mediaType", "mimeType", "mime_type", "mime", "format")
_SEALED_KEYS: Final = frozenset({"encrypted_content", "signature", "thought_signature", "encrypted_index"})
_FILE_KEYS: Final = frozenset({"file_data", "b64_json"})
_LIKELY_KEYS: Final = _SEALED_KEYS | {"data", "blob"}
_DATA_URL: Final = re.compile(r"data:([\w.+-]*/?[\w.+-]*)[^,]{0,100};base64,", re.ASCII)
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_BROKEN: Final = re.compile(r"[A-Za-z0-9+/_-]{60,128}(?=\r?\n)")
"""The first of several lines: 64 characters in PEM, 76 in MIME."""
_NO_HEX: Final = re.compile(r"[G-Zg-z+/]")
_SHORT: Final = 64
"""Characters from which on a string under a key that promises base64 is taken for it: no word is as long."""

_LONG: Final = 1_000
"""Characters from which on a string of nothing but base64's characters is taken for base64 under any key."""


class Mark(str):
    """What is read where a payload was."""

    __slots__ = ()


@dataclass(slots=True)
class Payloads:
    """The payloads that were taken out of values: what they cost, and how many of them are pictures, which cost extra."""

    tokens: int = 0
    images: int = 0

    def taken_from(self, value: Any, key: str = "", media_type: str = "", holder: str = "") -> Any:
        """The value with a mark in place of each payload; ``holder`` is the type of the object that has it under ``key``."""
        if isinstance(value, str):
            return self._marked(value, key, media_type, holder)
        if isinstance(value, Mapping):
            kind = value["type"] if isinstance(value.get("type"), str) else ""
            if kind in IMAGE_TYPES:
                self.images += 1
                return Mark("[image]")
            media_type = next((value[name] for name in _MEDIA_KEYS if isinstance(value.get(name), str)), media_type)
            if not media_type and ("audio" in kind or "audio" in key):
                media_type = "audio"
            taken: dict[str, Any] = {}
            for name, one in value.items():
                taken[name] = self.taken_from(one, name, media_type, kind)
            return taken
        if isinstance(value, list):
            listed: list[Any] = []
            for one in value:
                listed.append(self.taken_from(one, key, media_type, holder))  # noqa: PERF401 - one frame for each level
            return listed
        return value

    def seal(self, text: str, *, shown: str = "") -> None:
        """Add what only a provider can open: base64 of a cipher of text, of which a part may be shown beside it."""
        self.tokens += max(len(text) * 3 // 4 - len(shown), 0) // _BYTES_A_TOKEN

    def _marked(self, text: str, key: str, media_type: str, holder: str) -> str:
        if not text:
            return text
        coded = _base64_length(text) if len(text) >= (_SHORT if key in _LIKELY_KEYS else _LONG) else 0
        is_base64 = bool(coded) and key in _LIKELY_KEYS
        if key in _SEALED_KEYS and is_base64:
            self.seal(text)
            return Mark("[encrypted]")
        if text.startswith("data:") and (url := _DATA_URL.match(text)):
            return self._priced(len(text) - url.end(), url.group(1) or media_type)
        if holder == "image_generation_call" and key == "result":
            return self._priced(len(text), "image/png")
        if key in _FILE_KEYS or (key == "data" and holder == "base64"):
            return self._priced(len(text), media_type)
        if coded:
            return self._priced(coded, media_type)
        return text

    def _priced(self, characters: int, media_type: str) -> Mark:
        size = characters * 3 // 4
        if media_type.startswith("image/"):
            self.images += 1
            return Mark("[image]")
        self.tokens += payload_tokens(size, media_type)
        return Mark(f"[{clean_text(media_type) or 'data'}, {size:,} bytes]")


def _base64_length(text: str) -> int:
    """How many characters of base64 a text is, without line breaks; 0 where it is none.

    Broken into lines it is where all but the last are equally long, which no list of words is.
    """
    width = len((_BROKEN.match(text) or [""])[0])
    if not width:
        return len(text) if _BASE64.fullmatch(text) else 0
    lines = text.split()
    even = all(len(line) == width for line in lines[:-1]) and len(lines[-1]) <= width
    # Hashes, one a line, are as even.
    coded = "".join(lines) if even and _NO_HEX.search(lines[0]) else ""
    return len(coded) if _BASE64.fullmatch(coded) else 0


def payload_tokens(size: int, media_type: str) -> int:
    """What a payload of so many bytes costs: sound by its length, text in base64 by its bytes, anything else by its pages."""
    kind = media_type.lower()
    if kind.startswith("audio") or kind in _SOUNDS:
        rate = _WAVE_BYTES if "wav" in kind or "pcm" in kind else _SOUND_BYTES
        tokens = -(-size * SOUND_TOKENS // rate)
    elif kind.startswith(_TEXTS):
        tokens = -(-size // _BYTES_A_TOKEN)
    else:
        tokens = max(-(-size // PAGE_BYTES), 1) * PAGE_TOKENS
    return min(tokens, MOST_PAYLOAD_TOKENS)
