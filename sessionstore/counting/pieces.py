"""Parts a text into the pieces that a tokenizer would look at one by one, and sorts them by kind and length."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final, Literal, NamedTuple

Kind = Literal[
    "word", "glued", "joined", "led", "loud", "random", "punctuation", "symbol",
    "han", "kana", "hangul", "letters", "run", "rule", "wide rule", "spaces", "line ends", "digits",
]
"""What a piece is: a word after a space; one with nothing before it, with a `.`, `_` or `(`, with any other sign;
one with two capitals or more; letters of a random-looking string; ASCII punctuation; other symbols; Chinese;
Japanese syllables; Korean; any other script; one letter, ASCII sign or other sign again and again; white
space; white space with line ends; up to three digits."""


class Shape(NamedTuple):
    """Kind of a piece and the number of its characters that the number of its tokens goes by."""

    kind: Kind
    length: int


class Pieces(NamedTuple):
    """How often each piece occurs, apart for ordinary text and for random-looking strings in it."""

    ordinary: Counter[str]
    random: Counter[str]


_LEAD: Final = r"(?:[^\r\n\w]|_)?"
_CAPITAL: Final = "A-ZÀ-ÖØ-Þ"
_SMALL: Final = "a-zß-öø-ÿ"
_HAN: Final = "\u3400-\u9fff\uf900-\ufaff"
_KANA: Final = "\u3041-\u30ff"
_HANGUL: Final = "\uac00-\ud7a3"
_PIECE: Final = re.compile(
    rf"{_LEAD}(?:[{_CAPITAL}]*[{_SMALL}]+(?:'(?:s|t|re|ve|m|ll|d))?|[{_CAPITAL}]+|[{_HAN}]+|[{_KANA}]+|[{_HANGUL}]+"
    rf"|[^\W\d_{_CAPITAL}{_SMALL}{_HAN}{_KANA}{_HANGUL}]+)"
    r"|\d{1,3}| ?(?:[^\s\w]|_)+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+|[\s\S]"
)
"""Nearly the pieces of o200k_base, in the language of `re`: over 8 MB of text, 15 tokens in a million apart."""

_SHORTEST_RUN: Final = 12
_ONE_CHARACTER: Final = re.compile(rf"([^\s\d])\1{{{_SHORTEST_RUN - 1},}}")
_LONG_STRING: Final = re.compile(r"[A-Za-z0-9+/=_-]{20,}")
_STRETCH: Final = re.compile(r"[A-Z]+|[a-z]+|\d+")
_LATIN_WORD: Final = re.compile(rf"({_LEAD})([{_CAPITAL}]*)[{_SMALL}]*(?:'\w+)?")
_LED_BY: Final[dict[str, Kind]] = {" ": "word", "": "glued", ".": "joined", "_": "joined", "(": "joined"}
_SCRIPT: Final[tuple[tuple[Kind, re.Pattern[str]], ...]] = (
    ("han", re.compile(f"[{_HAN}]")),
    ("kana", re.compile(f"[{_KANA}]")),
    ("hangul", re.compile(f"[{_HANGUL}]")),
    ("letters", re.compile(r"[^\W\d_]")),
)
_REPEATED: Final = re.compile(r"(.)\1+", re.DOTALL)
_LONGEST_WORD: Final = 24
"""Letters of one case in a row above which it's no word of any language that counts like one."""


def cut(text: str) -> Pieces:
    """All pieces of the text. A string of 20 characters or more that changes often between capitals, small
    letters and digits (base64, digests, keys) is cut apart from the rest, because its letters make no words."""
    pieces = Pieces(Counter(), Counter())
    start = 0
    for run in _ONE_CHARACTER.finditer(text):
        _cut_between(text[start : run.start()], pieces)
        pieces.ordinary[run[0]] += 1
        start = run.end()
    _cut_between(text[start:], pieces)
    return pieces


def shape(piece: str, *, random: bool) -> Shape:
    """Kind and length of one piece; `random` says that it is of a random-looking string."""
    if piece.isspace():
        return Shape("line ends" if "\n" in piece or "\r" in piece else "spaces", len(piece))
    if piece.isdecimal():
        return Shape("digits", len(piece))
    if len(piece) >= _SHORTEST_RUN and piece == piece[0] * len(piece):
        return Shape("run" if piece.isalpha() else "rule" if piece.isascii() else "wide rule", len(piece))
    latin = _LATIN_WORD.fullmatch(piece)
    if latin and latin.end(1) < len(piece):
        lead, capitals = latin[1], latin[2]
        letters = len(piece) - len(lead)
        if random or letters > _LONGEST_WORD:
            return Shape("random", letters)
        if len(capitals) > 1:
            return Shape("loud", letters)
        return Shape(_LED_BY.get(lead, "led"), letters)
    for kind, script in _SCRIPT:
        characters = len(script.findall(piece))
        if characters:
            return Shape(kind, characters)
    if piece.isascii():
        return Shape("punctuation", len(_REPEATED.sub(r"\1", piece)))
    return Shape("symbol", len(piece))


def _cut_between(text: str, pieces: Pieces) -> None:
    start = 0
    for string in _LONG_STRING.finditer(text):
        if _looks_random(string[0]):
            pieces.ordinary.update(_PIECE.findall(text[start : string.start()]))
            pieces.random.update(_PIECE.findall(string[0]))
            start = string.end()
    pieces.ordinary.update(_PIECE.findall(text[start:]))


def _looks_random(string: str) -> bool:
    """Whether the kind of character changes as often as in random strings: 0.64 times a character in base64, 0.47 in
    hexadecimal, 0.30 in base32, and half of these changes lead to digits or from them. Words joined by
    capitals change as often as base32, but have few digits."""
    stretches = _STRETCH.findall(string)
    numbers = sum(stretch.isdecimal() for stretch in stretches)
    return len(stretches) >= 0.28 * len(string) and numbers >= 0.05 * len(string)
