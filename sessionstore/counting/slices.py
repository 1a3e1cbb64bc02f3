"""A long text in slices that a tokenizer can take, cut where no token could have crossed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

SLICE_CHARACTERS: Final = 64_000
"""Most characters of a slice: above about a million of one kind, tokenizers panic or refuse."""

_LOOK_BACK: Final = 4_096
"""Characters before the end of a slice in which a harmless cut is looked for."""

_HARMLESS_CUT: Final = re.compile(r"(?<=\S) |(?<=[^\W_])\n")
"""A space after anything but white space, or a line feed after a letter or digit: a token of o200k_base holds a
space only at its start or among white space, and a line feed only among white space or after punctuation."""


def whole_characters(text: str) -> str:
    """The text with each lone surrogate as U+FFFD, which is what any encoder would have to send in its place.

    A high surrogate right before a low one isn't lone: the two become the character they stand for.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def slices(text: str) -> Iterator[str]:
    """The text in slices of at most `SLICE_CHARACTERS` characters, in order; nothing for the empty text.

    The counts of the slices add up to that of the text. Only where 4,096 characters go by without a harmless
    place (base64 on one line, Chinese without a space) is the cut made anywhere, and then the sum may
    be off by a token or two for that cut, among tens of thousands.
    """
    start = 0
    while len(text) - start > SLICE_CHARACTERS:
        end = start + SLICE_CHARACTERS
        for cut in _HARMLESS_CUT.finditer(text, end - _LOOK_BACK, end):
            end = cut.start()
        yield text[start:end]
        start = end
    if start < len(text):
        yield text[start:]
