"""A message as JSON text and back, so that what comes out equals what went in.

A body is stored as JSON text. A dict comes back equal with its keys in order; text that was given as text is kept as it is.
What JSON cannot carry is refused by name before anything is written.
"""
from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from hashlib import blake2b
from typing import Any, Final

from sessionstore.errors import InvalidMessageError, MessageTooLargeError

Message = dict[str, Any]
"""A message as a Python value: a JSON object in OpenAI chat form, Anthropic content blocks, or a Responses item."""

DEFAULT_MAX_MESSAGE_BYTES: Final = 64 * 1024 * 1024
"""Largest body that is stored unless ``max_message_bytes`` says otherwise; SQLite's own limit is 1,000,000,000 bytes."""

MAX_NESTING: Final = 400
"""Deepest nesting of a body. Python's JSON reader gives up near 1,000, less the depth of its caller; a body that is stored
must be readable from anywhere."""

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_UNFIT: Final = re.compile("[\x00\ud800-\udfff]")
_LONG_INTEGER_BITS: Final = 14_000
"""Bits of an integer that has fewer than 4,300 digits in any case; longer ones take the long way."""

_CHANGED: Final = "JSON would change it: it has tuples, keys that are not strings, or two surrogate halves in a row"

_STRING_OR_BRACKET: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{\]}]', re.DOTALL)
_UNCHANGED: Final = frozenset({str, int, float, bool, type(None)})
"""Types whose values come back from JSON equal and of the same type, given that the encoder took them."""

_OTHER: Final[Any] = object()

@dataclass(frozen=True, slots=True)
class EncodedMessage:
    """A message that is ready to be stored: its JSON text, its value as it will come back, and its role."""

    body: str
    message: Message
    role: str


def encode_message(
    message: Mapping[str, Any], *, max_bytes: int = DEFAULT_MAX_MESSAGE_BYTES, index: int | None = None
) -> EncodedMessage:
    """Turn a message into the JSON text that is stored, without touching the message.

    Raises ``InvalidMessageError`` (with ``index``) for what is no JSON object with a role, for NaN and Infinity, and for
    values that JSON would change (tuples, keys that are no strings); ``MessageTooLargeError`` above ``max_bytes``.
    """
    if not isinstance(message, Mapping):
        raise InvalidMessageError(f"it is a {type(message).__name__}, not a JSON object", index=index)
    try:
        body = json_text(message, _ENCODER)
    except ValueError as error:
        if "Circular" in str(error):
            raise InvalidMessageError("it contains itself", index=index) from error
        if "digits" in str(error):
            raise InvalidMessageError(_CHANGED, index=index) from error
        raise InvalidMessageError("it holds NaN or Infinity, which JSON does not have", index=index) from error
    except TypeError as error:
        raise InvalidMessageError(str(error), index=index) from error
    except RecursionError as error:
        raise InvalidMessageError("it is nested too deeply", index=index) from error
    escaped = _escape_surrogates(body)
    _check_size(escaped, max_bytes, index)
    _check_nesting(escaped, index)
    stored = _plain_copy(message) if escaped is body else _OTHER
    if stored is _OTHER:
        stored = decode_body(escaped)
        if stored != message:
            raise InvalidMessageError(_CHANGED, index=index)
    return EncodedMessage(escaped, stored, _role_of(stored, index))


def encode_json_text(
    text: str, *, max_bytes: int = DEFAULT_MAX_MESSAGE_BYTES, index: int | None = None
) -> EncodedMessage:
    """Check one message given as JSON text, and keep the text byte for byte.

    Raises ``InvalidMessageError`` when it is not one JSON object with a role, or holds NaN or Infinity;
    ``MessageTooLargeError`` above ``max_bytes``.
    """
    body = _escape_surrogates(text)
    _check_size(body, max_bytes, index)
    _check_nesting(body, index)
    try:
        message = decode_body(text)
        same = body is text or decode_body(body) == message
    except ValueError as error:
        raise InvalidMessageError(f"it is not valid JSON: {error}", index=index) from error
    if not same:
        raise InvalidMessageError("it holds two surrogate halves in a row, which JSON makes one character", index=index)
    if not isinstance(message, dict):
        raise InvalidMessageError(f"it is a JSON {type(message).__name__}, not an object", index=index)
    return EncodedMessage(body, message, _role_of(message, index))


def decode_body(body: str) -> Any:
    """Parse JSON text strictly (NaN and Infinity are a ``ValueError``) with integers of any length."""
    try:
        return _DECODER.decode(body)
    except json.JSONDecodeError:
        raise
    except ValueError as error:
        if "digits" not in str(error):
            raise
        # Decimal converts to int without the interpreter's limit of 4,300 digits on int(str).
        return json.loads(body, parse_constant=_refuse_constant, parse_int=lambda digits: int(Decimal(digits)))


def message_digest(message: Mapping[str, Any]) -> str:
    """Sixteen hex digits that are equal for equal messages, whatever the order of their keys.

    Values that Python holds equal but JSON writes differently (1 and 1.0) may differ, so an unequal digest means "compare",
    never "different".
    """
    try:
        text = json_text(message, _CANONICAL_ENCODER)
    except (TypeError, ValueError, RecursionError):
        return "unreadable"
    return blake2b(text.encode("ascii"), digest_size=8).hexdigest()


def clean_text(text: str) -> str:
    """The text with U+FFFD in place of lone surrogates and NUL, so that it can leave the process and be a column."""
    if text.isascii() and "\x00" not in text:
        return text
    return _UNFIT.sub("\ufffd", text)


def check_column_text(name: str, text: str | None) -> None:
    """Raise ``ValueError`` for a text that no column can hold: one with NUL or half of a surrogate pair."""
    if text is not None and clean_text(text) != text:
        raise ValueError(f"{name} {text!r} holds NUL or half a character, which no database can store")


def json_text(value: Any, encoder: json.JSONEncoder | None = None) -> str:
    """JSON text of a value with integers of any length, by default on one line with every character as it is.

    Raises what the encoder raises: ``ValueError`` for a value that holds itself, and for NaN where it refuses it.
    """
    encoder = encoder or _PLAIN_ENCODER
    try:
        return encoder.encode(value)
    except ValueError as error:
        if "digits" not in str(error):
            raise
    # The interpreter writes no integer of more than 4,300 digits, Decimal does: such ones go through a mark of their own.
    marks: dict[str, str] = {}
    text = encoder.encode(_with_marks(value, marks))
    for mark, digits in marks.items():
        text = text.replace(f'"{mark}"', digits)
    return text


def _with_marks(value: Any, marks: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _with_marks(one, marks) for key, one in value.items()}
    if isinstance(value, list):
        return [_with_marks(one, marks) for one in value]
    if isinstance(value, int) and value.bit_length() > _LONG_INTEGER_BITS:
        digits = str(Decimal(value))
        mark = f"integer {blake2b(digits.encode('ascii')).hexdigest()}"
        marks[mark] = digits
        return mark
    return value


def _escape_surrogates(body: str) -> str:
    if body.isascii() or not _SURROGATE.search(body):
        return body
    # JSON has no surrogate outside a string, so writing each as an escape keeps the value.
    return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", body)


def _check_size(body: str, max_bytes: int, index: int | None) -> None:
    # The number of characters bounds the number of bytes from both sides, so short bodies are never encoded to be measured.
    if len(body) * 4 <= max_bytes:
        return
    size = len(body.encode("utf-8"))
    if size > max_bytes:
        raise MessageTooLargeError(size=size, limit=max_bytes, index=index)


def _check_nesting(body: str, index: int | None) -> None:
    if body.count("{") + body.count("[") <= MAX_NESTING:
        return
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(body):
        token = match.group()
        if token in "[{":
            depth += 1
            if depth > MAX_NESTING:
                raise InvalidMessageError(f"it is nested more than {MAX_NESTING} deep", index=index)
        elif token in "]}":
            depth -= 1


def _plain_copy(value: Any) -> Any:
    """A copy of a value that JSON gives back as it is, ``_OTHER`` for one of which only JSON itself can tell.

    Looking at the types costs half of decoding what was just encoded.
    """
    kind = type(value)
    if kind in _UNCHANGED:
        return value
    if kind is dict:
        copied = {}
        for key, one in value.items():
            if type(key) is not str:
                return _OTHER
            if type(one) not in _UNCHANGED:
                one = _plain_copy(one)  # noqa: PLW2901 - a function call for each string would double the time
                if one is _OTHER:
                    return _OTHER
            copied[key] = one
        return copied
    if kind is list:
        listed = []
        for one in value:
            if type(one) not in _UNCHANGED:
                one = _plain_copy(one)  # noqa: PLW2901 - the same
                if one is _OTHER:
                    return _OTHER
            listed.append(one)
        return listed
    return _OTHER


def _role_of(message: Message, index: int | None) -> str:
    role = message.get("role")
    if isinstance(role, str) and role:
        return clean_text(role)
    kind = message.get("type")
    if role is None and isinstance(kind, str) and kind:
        # A Responses item without a role of its own: the model's, unless it is the output of something.
        return "tool" if kind.endswith("_output") else "assistant"
    raise InvalidMessageError("it has no role (and no type, as a Responses item has)", index=index)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_PLAIN_ENCODER: Final = json.JSONEncoder(ensure_ascii=False)
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_CANONICAL_ENCODER: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant)
