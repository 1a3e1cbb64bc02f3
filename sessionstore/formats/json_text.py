"""Finding parts of JSON text without changing a character of them, so that a body keeps its bytes."""
from __future__ import annotations

import re
from decimal import Decimal
from json import JSONDecodeError, JSONDecoder
from typing import Any, Final

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_CONTROL: Final = re.compile(r"[\x00-\x1f]")
# The loop is unrolled: an alternation inside it would keep a state a character.
_STRING_OR_BREAK: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[ \t]*[\r\n][ \t\r\n]*', re.DOTALL)
# A dump that was written carelessly has raw control characters in strings, which the strict reader refuses.
_DECODER: Final = JSONDecoder(strict=False)
_LONG_INTEGER_DECODER: Final = JSONDecoder(strict=False, parse_int=lambda digits: int(Decimal(digits)))


def decode_at(text: str, position: int) -> tuple[Any, int]:
    """The JSON value that begins at ``position``, and where it ends.

    Accepts raw control characters in strings, NaN and integers of any length. Raises ``JSONDecodeError``, or
    ``RecursionError`` for a value that is nested too deeply.
    """
    try:
        return _DECODER.raw_decode(text, position)
    except JSONDecodeError:
        raise
    except ValueError:
        # The interpreter refuses int() of more than 4,300 digits; Decimal has no such limit.
        return _LONG_INTEGER_DECODER.raw_decode(text, position)


def holds_nan(text: str) -> bool:
    """Whether valid JSON text holds NaN or Infinity as a value, which Python reads although JSON does not have them."""
    # The words are looked for first: they are rare, and reading the text once more is not free.
    if "NaN" not in text and "Infinity" not in text:
        return False
    found: list[str] = []
    JSONDecoder(strict=False, parse_constant=found.append, parse_int=str).raw_decode(text)
    return bool(found)


def member_spans(text: str) -> dict[str, tuple[int, int]]:
    """Where the value of each key of a JSON object stands in its text: ``text[start:end]`` is the value as written.

    A repeated key has its last place, as in a parsed object. Raises ``ValueError`` when ``text`` is not one JSON object.
    """
    spans: dict[str, tuple[int, int]] = {}
    position = _after(text, _skip(text, 0), "{")
    while not text.startswith("}", position):
        if spans:
            position = _skip(text, _after(text, position, ","))
        key, position = decode_at(text, position)
        start = _skip(text, _after(text, _skip(text, position), ":"))
        _value, end = decode_at(text, start)
        spans[key] = (start, end)
        position = _skip(text, end)
    return spans


def element_texts(text: str, start: int = 0) -> list[str]:
    """The text of each element of the JSON array that begins at ``start``; ``ValueError`` when there is none."""
    elements: list[str] = []
    position = _after(text, _skip(text, start), "[")
    while not text.startswith("]", position):
        if elements:
            position = _skip(text, _after(text, position, ","))
        _value, end = decode_at(text, position)
        elements.append(text[position:end])
        position = _skip(text, end)
    return elements


def single_line(text: str) -> str:
    """The same JSON on one line, as a strict reader accepts it; text that already is stays as it is.

    Raw control characters in strings become escapes, and line breaks between tokens become a space.
    """
    if not _CONTROL.search(text):
        return text
    return _STRING_OR_BREAK.sub(_on_one_line, text)


def _on_one_line(match: re.Match[str]) -> str:
    token = match.group()
    if not token.startswith('"'):
        return " "
    return _CONTROL.sub(lambda control: f"\\u{ord(control.group()):04x}", token.replace("\n", "\\n").replace("\r", "\\r"))


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _after(text: str, position: int, mark: str) -> int:
    if not text.startswith(mark, position):
        raise JSONDecodeError(f"Expecting {mark!r}", text, position)
    return _skip(text, position + 1)
