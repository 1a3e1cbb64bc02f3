"""The words that a text is found by, and a query as what a text must hold: decided here, so that every database agrees.

A word is a run of letters and digits. It is found from its beginning, and from the humps of ``camelCase``; scripts that are
written without spaces are found from any character, and a pictograph is a word of its own. Case and the way that an accent is
composed change nothing.
"""
from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple
from unicodedata import is_normalized, normalize

LONGEST_WORD: Final = 64
"""Characters of a word that the index holds; of a longer one it holds the beginning."""

MOST_WORD_BYTES: Final = 1_000_000
"""UTF-8 bytes of distinct words that the index takes from one message (a tsvector of PostgreSQL holds 1,048,575)."""

SHORTEST_BEGINNING: Final = 3
"""ASCII characters from which on a word of a query also finds the longer words that begin with it. A number finds itself only;
in other scripts a syllable may be one character, so there any length will do."""

_WIDEST_GAP: Final = 8
"""Characters that may stand between the words of one term: ``C:\\\\Users`` with its escapes is found as ``C:\\Users``."""

_MOST_ASKED: Final = 24
"""Words of one query that are looked up in the index; all of them are looked for in what it gives."""

# Thai to Burmese, Khmer, Kana, and the Han ideographs; Hangul has spaces.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_SYMBOLS: Final = "\u2600-\u27bf\U0001f000-\U0001faff"
_RUN: Final = re.compile(f"(?P<unspaced>[{_UNSPACED}]+)|(?P<symbol>[{_SYMBOLS}])|[^\\W_{_UNSPACED}{_SYMBOLS}]+")
_ASCII_RUN: Final = re.compile("[A-Za-z0-9]+")
_HUMP: Final = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class Run(NamedTuple):
    """A run of a text that holds no separator: where it is, folded to what it is compared by, and the places of its humps."""

    start: int
    end: int
    folded: str
    unspaced: bool = False
    humps: tuple[int, ...] = ()

    @property
    def is_whole_only(self) -> bool:
        """Whether a query that ends with this run means this word and no longer one."""
        if self.unspaced:
            return False
        return self.folded.isdigit() or (self.folded.isascii() and len(self.folded) < SHORTEST_BEGINNING)

    def ends_with(self, wanted: Run) -> bool:
        """Whether this run, or what begins at one of its humps, is what is wanted."""
        if self.unspaced or wanted.unspaced:
            return self.unspaced == wanted.unspaced and self.folded.endswith(wanted.folded)
        return any(self.folded[place:] == wanted.folded for place in (0, *self.humps))

    def begins_with(self, wanted: Run, *, anywhere: bool) -> bool:
        """Whether what is wanted stands at the start of this run; with ``anywhere``, also where a word begins inside it."""
        if self.unspaced or wanted.unspaced:
            same_script = self.unspaced == wanted.unspaced
            return same_script and (wanted.folded in self.folded if anywhere else self.folded.startswith(wanted.folded))
        places = (0, *self.humps) if anywhere else (0,)
        if wanted.is_whole_only:
            return any(self.folded[place:] == wanted.folded for place in places)
        return any(self.folded.startswith(wanted.folded, place) for place in places)


def composed(text: str) -> str:
    """The text with its accents composed (NFC), which is how texts are compared and shown."""
    return text if text.isascii() or is_normalized("NFC", text) else normalize("NFC", text)


def runs_of(text: str) -> Iterator[Run]:
    """The runs of a composed text, in order."""
    for match in _RUN.finditer(text):
        word = match.group()
        # Not casefold: it spells letters such as the German sharp s in ASCII, which a reader of raw text can't know.
        folded = word.lower().replace("ς", "σ")
        humps: tuple[int, ...] = ()
        if word != folded and word.isascii():
            humps = tuple(hump.start() for hump in _HUMP.finditer(word))
        yield Run(match.start(), match.end(), folded, match.lastgroup == "unspaced", humps)


def index_words(text: str) -> list[str]:
    """Every word that a text is found by, once, in order; none of them holds a separator."""
    found: set[str] = set()
    if text.isascii():
        for word in set(_ASCII_RUN.findall(text)):
            folded = word.lower()
            found.add(folded[:LONGEST_WORD])
            if word != folded:
                found.update(folded[hump.start() :][:LONGEST_WORD] for hump in _HUMP.finditer(word))
    else:
        for run in set(runs_of(composed(text))):
            if run.unspaced:
                found.update(_pairs(run.folded))
                found.add(run.folded[-1])
            else:
                found.update(run.folded[place:][:LONGEST_WORD] for place in (0, *run.humps))
    words = sorted(found)
    if sum(map(len, words)) * 4 <= MOST_WORD_BYTES:
        return words
    return list(_first_bytes(words))


def _first_bytes(words: Sequence[str]) -> Iterator[str]:
    room = MOST_WORD_BYTES
    for word in words:
        room -= len(word.encode())
        if room < 0:
            return
        yield word


def _pairs(run: str) -> Iterator[str]:
    return (first + second for first, second in pairwise(run))


class AskedWord(NamedTuple):
    """A word to look up in the index; with ``beginning`` every word that begins with it counts."""

    word: str
    beginning: bool


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What somebody searches for: terms, all of which a text must hold, each a sequence of runs one right after the other."""

    terms: tuple[tuple[Run, ...], ...]

    @classmethod
    def of(cls, text: str) -> SearchQuery:
        """Read a query as plain text, in which no character has a meaning of its own.

        White space, or many signs in a row, parts terms. A term without a letter, digit or pictograph asks for nothing.
        """
        terms = (part for term in text.split() for part in _parted(tuple(runs_of(composed(term)))))
        return cls(tuple(dict.fromkeys(_placeless(term) for term in terms)))

    def asked_words(self) -> tuple[AskedWord, ...]:
        """What a text that matches has in the index at least; the longest words, since they are the rarest."""
        asked: dict[AskedWord, None] = {}
        for term in self.terms:
            for position, run in enumerate(term):
                last = position == len(term) - 1
                if run.unspaced:
                    pairs = [AskedWord(pair, False) for pair in _pairs(run.folded)]
                    asked.update(dict.fromkeys(pairs or [AskedWord(run.folded, True)]))
                else:
                    word = run.folded[:LONGEST_WORD]
                    asked[AskedWord(word, last and not run.is_whole_only)] = None
        rarest = sorted(asked, key=lambda word: -len(word.word))[:_MOST_ASKED]
        return tuple(sorted(rarest))

    def find(self, text: str) -> tuple[int, int] | None:
        """Where the first term stands in a composed text that holds all of them; None when it lacks one."""
        if text.isascii() and not self._may_match(text.lower()):
            return None
        runs = list(runs_of(text))
        places = [_find_term(term, runs) for term in self.terms]
        return None if not places or None in places else places[0]

    def _may_match(self, folded: str) -> bool:
        return all(run.folded in folded for term in self.terms for run in term)


def _parted(term: Sequence[Run]) -> Iterator[Sequence[Run]]:
    """A term in pieces between whose words no more signs stand than may stand there in a text."""
    begin = 0
    for index in range(1, len(term) + 1):
        if index == len(term) or term[index].start - term[index - 1].end > _WIDEST_GAP:
            yield term[begin:index]
            begin = index


def _placeless(term: Sequence[Run]) -> tuple[Run, ...]:
    return tuple(Run(0, 0, run.folded, run.unspaced) for run in term)


def _find_term(term: Sequence[Run], runs: Sequence[Run]) -> tuple[int, int] | None:
    for index in range(len(runs) - len(term) + 1):
        if _stands_at(term, runs[index : index + len(term)]):
            return runs[index].start, runs[index + len(term) - 1].end
    return None


def _stands_at(term: Sequence[Run], runs: Sequence[Run]) -> bool:
    if len(term) == 1:
        return runs[0].begins_with(term[0], anywhere=True)
    if not runs[0].ends_with(term[0]) or not runs[-1].begins_with(term[-1], anywhere=False):
        return False
    if any(wanted.folded != run.folded for wanted, run in zip(term[1:-1], runs[1:-1], strict=True)):
        return False
    return all(after.start - before.end <= _WIDEST_GAP for before, after in pairwise(runs))
