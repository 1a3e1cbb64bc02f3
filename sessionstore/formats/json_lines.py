"""Reading JSON Lines that a crash, a race or a careless writer has damaged: every whole record comes back.

A record may share its line with others, stand after a torn one or after NUL padding, or be spread over several lines because
its strings were written with real line breaks. What cannot be read is reported with its line. Time is linear in the input;
memory is bounded by one record.
"""
from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from json import JSONDecodeError
from typing import Any, Final

from sessionstore.formats.json_text import decode_at, holds_nan, single_line
from sessionstore.formats.parsed import DamagedLine

MAX_JOINED_LINES: Final = 1_000
"""A record that is spread over more lines than this is given up, and its lines are reported."""

MAX_JOINED_CHARACTERS: Final = 64 * 1024 * 1024
"""The same for its length."""

_PADDING: Final = re.compile("[ \t\r\n\x00\ufeff]*")
_OBJECT_START: Final = re.compile(r'\{[ \t]*"')
_OUTSIDE: Final = re.compile(r'["{}\[\]]')
_REST_OF_STRING: Final = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_SALVAGE_EFFORT: Final = 64
"""Text that is read again in search of a whole record on a torn line, in multiples of the line's length. JSON that was torn
has few places that look like a beginning and are none (the objects that the tear left open), so this is seldom reached."""


@dataclass(frozen=True, slots=True)
class JsonRecord:
    """A JSON object of a file: the line it begins on (from 1), its text on one line, and its value."""

    line: int
    text: str
    value: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _ParsedLine:
    """What one line holds: whole records, what is wrong with it, and where a record begins that it does not end."""

    records: tuple[JsonRecord, ...]
    problem: str | None = None
    open_at: int | None = None


class _OpenRecord:
    """A record that goes on in the next line."""

    def __init__(self, line: int, text: str) -> None:
        self.first_line = line
        self.parts = [text]
        self.characters = len(text)
        self._depth = 0
        self._in_string = False
        self.close(text)

    def close(self, text: str) -> int | None:
        """Read on, and say where in ``text`` the record's last bracket stands, None when it goes on."""
        position = 0
        while True:
            if self._in_string:
                rest = _REST_OF_STRING.match(text, position)
                if rest is None:
                    return None
                self._in_string = False
                position = rest.end()
            mark = _OUTSIDE.search(text, position)
            if mark is None:
                return None
            position = mark.end()
            if mark.group() == '"':
                self._in_string = True
            elif mark.group() in "{[":
                self._depth += 1
            else:
                self._depth -= 1
                if self._depth <= 0:
                    return position

    def add(self, text: str) -> None:
        self.parts.append(text)
        self.characters += len(text) + 1

    @property
    def is_too_long(self) -> bool:
        return len(self.parts) >= MAX_JOINED_LINES or self.characters > MAX_JOINED_CHARACTERS

    def damaged(self, lines: int) -> Iterator[DamagedLine]:
        yield DamagedLine(self.first_line, "a record begins here and is torn off")
        for line in range(self.first_line + 1, self.first_line + lines):
            yield DamagedLine(line, f"neither a record nor the rest of the one that begins on line {self.first_line}")


def read_json_lines(
    lines: Iterable[str], *, is_record: Callable[[dict[str, Any]], bool] = lambda _value: True
) -> Iterator[JsonRecord | DamagedLine]:
    """Yield the records of a JSON Lines file in order, and every line of which something could not be read.

    ``lines`` come with or without their line ends. ``is_record`` tells a record from an object inside one; it is asked only
    where a line is damaged, about what looks like a whole record after the damage. Raises nothing.
    """
    open_record: _OpenRecord | None = None
    for number, line in enumerate(lines, 1):
        text = line.rstrip("\r\n")
        if open_record is None:
            parsed = _parse_line(number, text, is_record)
        else:
            lines_before = len(open_record.parts)
            joined, rest = _continue(open_record, text)
            if joined is not None:
                yield joined
                text = rest or ""
            parsed = _parse_line(number, text, is_record)
            if joined is None and any(is_record(record.value) for record in parsed.records):
                # A record of its own: what went before was torn off and is not continued here.
                yield from open_record.damaged(lines_before)
            elif joined is None:
                if rest is not None:
                    yield from open_record.damaged(len(open_record.parts))
                    open_record = None
                continue
        open_record = None
        yield from parsed.records
        if parsed.problem is not None:
            yield DamagedLine(number, parsed.problem)
        elif parsed.open_at is not None:
            open_record = _OpenRecord(number, text[parsed.open_at :])
    if open_record is not None:
        yield from open_record.damaged(len(open_record.parts))


def _continue(open_record: _OpenRecord, text: str) -> tuple[JsonRecord | None, str | None]:
    """The record with this line and what follows it; (None, None) when it goes on, (None, "") when it is given up."""
    end = open_record.close(text)
    open_record.add(text if end is None else text[:end])
    if end is None:
        return (None, "") if open_record.is_too_long else (None, None)
    joined = "\n".join(open_record.parts)
    try:
        value, stop = decode_at(joined, 0)
    except (ValueError, RecursionError):
        return None, ""
    if stop != len(joined) or not isinstance(value, dict) or holds_nan(joined):
        return None, ""
    return JsonRecord(open_record.first_line, single_line(joined), value), text[end:]


def _parse_line(number: int, text: str, is_record: Callable[[dict[str, Any]], bool]) -> _ParsedLine:
    records: list[JsonRecord] = []
    problem: str | None = None
    position = _skip_padding(text, 0)
    if position == len(text) and "\x00" in text:
        return _ParsedLine((), "nothing but NUL bytes")
    while position < len(text):
        if text[position] != "{":
            records += _salvage(number, text, position, is_record)
            return _ParsedLine(tuple(records), _describe_other(text, position))
        try:
            value, end = decode_at(text, position)
        except RecursionError:
            return _ParsedLine(tuple(records), "nested too deeply to be read")
        except JSONDecodeError as error:
            salvaged = _salvage(number, text, position + 1, is_record)
            records += salvaged
            if salvaged:
                return _ParsedLine(tuple(records), "a torn record stands before a whole one")
            if problem is None and _OpenRecord(number, "").close(text[position:]) is None:
                return _ParsedLine(tuple(records), None, position)
            return _ParsedLine(tuple(records), problem or f"not valid JSON: {error.msg} at character {error.pos + 1}")
        if holds_nan(text[position:end]):
            problem = "it holds NaN or Infinity, which JSON does not have"
        else:
            records.append(JsonRecord(number, single_line(text[position:end]), value))
        position = _skip_padding(text, end)
    return _ParsedLine(tuple(records), problem)


def _salvage(number: int, text: str, position: int, is_record: Callable[[dict[str, Any]], bool]) -> list[JsonRecord]:
    """Whole records after a torn one: they look like records, and nothing but records and padding follows each."""
    found: list[JsonRecord] = []
    effort = _SALVAGE_EFFORT * len(text)
    while effort > 0 and (start := _OBJECT_START.search(text, position)):
        try:
            value, end = decode_at(text, start.start())
        except JSONDecodeError as error:
            # The error counts the line breaks before it, from the beginning of the text.
            effort -= 2 * error.pos - start.start() + 1
            position = start.start() + 1
            continue
        except RecursionError:
            break
        effort -= end - start.start()
        position = end
        following = _skip_padding(text, end)
        stands_alone = following == len(text) or text[following] == "{"
        if stands_alone and is_record(value) and not holds_nan(text[start.start() : end]):
            found.append(JsonRecord(number, single_line(text[start.start() : end]), value))
    return found


def _describe_other(text: str, position: int) -> str:
    try:
        value, end = decode_at(text, position)
    except (ValueError, RecursionError):
        return "does not begin with a JSON object"
    if _skip_padding(text, end) < len(text):
        return "does not begin with a JSON object"
    names = {list: "array", str: "string", bool: "true or false", int: "number", float: "number", type(None): "null"}
    return f"a JSON {names[type(value)]}, not an object"


def _skip_padding(text: str, position: int) -> int:
    match = _PADDING.match(text, position)
    return match.end() if match else position
