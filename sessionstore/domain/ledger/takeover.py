"""Updates that are worded anew: *the launch date moved to May 3* after *launch deadline: 2031-04-02*.

Two sentences in different words can be about one thing, and a rule of thumb must not take away what still holds. So all of
this has to be true: the later one says that something changed, both name a value of one kind (money, a date, a code, a branch),
a word that matters is in both, no such word has another attribute before it in each (*project budget*, *travel budget*), and
there is only one such earlier sentence. Names of people are no such kind: *New York* is written like one.
"""
from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Final

from sessionstore.domain.ledger.languages import CHANGING
from sessionstore.domain.ledger.sentences import LABEL
from sessionstore.domain.ledger.wording import content_words, stem

COMPARED_TEXTS: Final = 1_024
"""Sentences whose values are remembered while they are compared, each with many others."""
_LINK: Final = re.compile(r"\S+://\S+")
_FORBIDDEN_CHANGE: Final = re.compile(
    r"\b(?:never|not|don't|without)\s+(?:be\s+)?(?:chang\w+|updat\w+|mov\w+|switch\w*)", re.IGNORECASE
)
"""*Never change …* forbids a change; it doesn't say that one was made."""
_DIGIT_WORDS: Final = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|seventy|eighty"
    r"|ninety|hundred|thousand|million)"
)
_MONTHS: Final = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep"
    r"|Sept|Oct|Nov|Dec|Januar|Februar|März|Mai|Juni|Juli|Oktober|Dezember|(?:de )?(?:enero|febrero|marzo|abril"
    r"|mayo|junio|julio"
    r"|agosto|septiembre|octubre|noviembre|diciembre)|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre)"
)
MONTH: Final = re.compile(_MONTHS)
_KINDS: Final = {
    "money": re.compile(
        rf"[$€£¥] ?\d[\d,.]*|\d[\d.,]* ?[€£¥元]"
        rf"|\b(?:\d[\d,.]*|{_DIGIT_WORDS}(?:[ -]{_DIGIT_WORDS}){{0,4}}) (?:dollars|[Ee]uros?|pounds|USD|EUR|CHF|pesos)\b"
    ),
    "date": re.compile(
        rf"\b\d{{4}}-\d\d-\d\d\b|\b{_MONTHS}\.? \d{{1,2}}\b|\b\d{{1,2}}\.? {_MONTHS}\b"
        rf"|\b\d{{1,2}}\.\d{{1,2}}\.(?:\d{{4}})?|\d+月\d+[日号]"
    ),
    "time": re.compile(r"(?<![\d:.])\d{1,2}:\d\d(?![\d:])"),
    "address": re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{2,5})?\b"),
    "code": re.compile(r"\b[A-Z]{2,12}-\d{1,8}\b"),
    "slug": re.compile(r"(?<![\w/-])[a-z]\w{0,30}(?:/[a-z][\w.]{0,40})?-\d{1,8}\b"),
}
_PLACE: Final = re.compile(r"\b(?:in|at|nach|bei|aus|à|en|chez) ([A-ZÀ-ÞА-ЯЁ][^\W\d_]+)")
_LANGUAGE: Final = re.compile(
    r"English|German|French|Spanish|Italian|Portuguese|Dutch|Polish|Russian|Ukrainian|Turkish|Arabic|Hindi|Chinese|Japanese"
    r"|Korean|Python|Rust|Java(?:Script)?|TypeScript|Go|Ruby|Deutsch|Englisch|Französisch|Spanisch|[A-Z]\w+isch"
)
"""What follows *in* as a place does, and is none."""
_TIMES: Final = frozenset({"week", "today", "tomorrow", "day", "month", "year", "time", "next", "step", "quick", "old", "new"})
"""Words that say when, or in what order, and so are shared by sentences about anything."""
_PLAIN_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def says_change(text: str) -> bool:
    """Whether a sentence says that something is other than it was."""
    return CHANGING.is_in(_FORBIDDEN_CHANGE.sub("", _LINK.sub(" ", text)))


@lru_cache(maxsize=COMPARED_TEXTS)
def kinds_of_values(text: str) -> Mapping[str, frozenset[str]]:
    """The values in a text by kind, of the kinds that can be told by how they are written."""
    plain = LABEL.sub("", text)
    found = {kind: frozenset(pattern.findall(plain)) for kind, pattern in _KINDS.items()}
    return {kind: values for kind, values in found.items() if values}


def takes_over(newer: str, older: str) -> bool:
    """Whether what ``older`` said may be what ``newer`` says has changed; the caller sees to it that there is only one."""
    new_values, old_values = kinds_of_values(newer), kinds_of_values(older)
    if not any(new_values[kind].isdisjoint(old_values[kind]) for kind in new_values.keys() & old_values.keys()):
        return False
    places = places_in(newer), places_in(older)
    if all(places) and places[0].isdisjoint(places[1]):
        return False
    shared = subject_words(newer) & subject_words(older) - _TIMES
    return bool(shared) and not any(attributes_differ(word, newer, older) for word in shared)


def places_in(text: str) -> set[str]:
    """Names behind a word that says where, a month apart: *in Trier*, *to Porto*."""
    return {name for name in _PLACE.findall(text) if not MONTH.fullmatch(name) and not _LANGUAGE.fullmatch(name)}


@lru_cache(maxsize=COMPARED_TEXTS)
def subject_words(text: str) -> frozenset[str]:
    """The words that say what a sentence is about, and the first parts of paths in it."""
    # A branch shares its first part with others of its kind: feature/a-1, feature/b-2.
    slugs = kinds_of_values(text).get("slug", frozenset())
    return content_words(text) | {slug.partition("/")[0] for slug in slugs if "/" in slug}


def attributes_differ(word: str, newer: str, older: str) -> bool:
    """Whether a word that both sentences have stands behind other words in each: *project budget*, *travel budget*."""
    befores = [_before(word, text) for text in (newer, older)]
    return all(befores) and befores[0].isdisjoint(befores[1])


def _before(word: str, text: str) -> frozenset[str]:
    """The content words right before a word, wherever it stands."""
    words = [stem(found.lower()) for found in _PLAIN_WORD.findall(LABEL.sub("", text))]
    content = content_words(text) - _TIMES
    return frozenset(one for one, after in pairwise(words) if after == word and one in content)
