"""Guesses which language a text is in, well enough to tell that a summary is not in the user's.

Two simple rules: the script that most letters belong to, and for Latin script the function words that only one of eleven
languages has. Code, paths, addresses and headings say nothing about a language and are left out. A guess is made only where it
is clear: an unclear text has no language, and then nothing is said to be wrong.
"""
from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

_SCRIPTS: Final = {
    "han": re.compile(r"[\u3400-\u9fff]"),
    "kana": re.compile(r"[\u3040-\u30ff]"),
    "hangul": re.compile(r"[\uac00-\ud7af]"),
    "cyrillic": re.compile(r"[\u0400-\u052f]"),
    "greek": re.compile(r"[\u0370-\u03ff]"),
    "hebrew": re.compile(r"[\u0590-\u05ff]"),
    "arabic": re.compile(r"[\u0600-\u06ff]"),
    "devanagari": re.compile(r"[\u0900-\u097f]"),
    "thai": re.compile(r"[\u0e00-\u0e7f]"),
    "latin": re.compile(r"[A-Za-z\u00c0-\u024f]"),
}
_WEIGHTS: Final = {"han": 3, "kana": 2, "hangul": 3}
"""Latin letters that one sign of the script stands for, roughly, so that a few identifiers don't outweigh a sentence."""

_NO_PROSE: Final = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+|^#+[^\n]*$|\[[^\]\n]*\]|(?<![\w.~-])[\w.~-]*[/\\@_=][\w./\\~@=:-]*"
    r"|\b\w+\.\w+(?:\.\w+)*\b|\b\w*\d\w*\b",
    re.DOTALL | re.MULTILINE,
)
_WORD: Final = re.compile(r"[^\W\d_]+")

_FUNCTION_WORDS: Final = {
    "English": (
        "the and of to is that for it with was on are be this as have from or which not you we they has been were will "
        "would should can if when what there their by at an but then now all its after before"
    ),
    "German": (
        "der die und das ist nicht mit den von ein eine für auf sich dem auch werden wird sind wurde bei nach aus noch "
        "wie oder aber ich wir bitte kann muss soll zum zur durch wenn nur schon keine einen einem einer"
    ),
    "French": (
        "le les des et est une dans pour pas que qui sur avec par au aux ce cette sont ont mais ou nous vous être fait "
        "plus du il elle leur était doit peut votre sans sous comme"
    ),
    "Spanish": (
        "el los las una y para por con del que se no está como más pero fue son esta este lo su sin sobre cuando ya ha "
        "hay debe puede también porque al muy todos hacer"
    ),
    "Portuguese": (
        "o os um uma e para não com do da dos das em no na nos nas que se está como mais mas foi são este esta ao pelo "
        "pela você isso também já deve pode quando sem sobre então"
    ),
    "Italian": (
        "il lo gli i un una e di del della dei delle che non per con sono è nel nella si anche come più ma questo questa "
        "stato quando deve può senza alla dal dalla sul"
    ),
    "Dutch": (
        "de het een en van is niet dat op te voor met zijn aan er ook als bij door naar wordt worden maar heeft deze dit "
        "nog kan moet om uit wat werd zonder geen"
    ),
    "Polish": (
        "i w na z do nie się jest to że o jak po dla od przez ale są tylko oraz ma być już lub ten tego które który jego "
        "gdy przy można"
    ),
    "Swedish": (
        "och att det som en på är av för med den till inte har om ett var men så kan ska från vid eller när hur nu efter "
        "inga detta"
    ),
    "Turkish": (
        "ve bir bu için ile de da olarak daha çok olan gibi ne kadar sonra var değil ama ise olduğu tarafından her veya"
    ),
    "Indonesian": (
        "yang dan di untuk dengan tidak ini itu dari pada ke akan dalam adalah sudah juga bisa atau saya kami oleh karena"
    ),
}
_LANGUAGES_OF: Final[dict[str, list[str]]] = {}
for _language, _words in _FUNCTION_WORDS.items():
    for _one in _words.split():
        _LANGUAGES_OF.setdefault(_one, []).append(_language)

LEAST_WEIGHT: Final = 60
"""Letters (weighted) below which a text says nothing about its script."""
LEAST_WORDS: Final = 8
"""Function words of one language below which a text is in none."""
LEAST_SPOKEN_WORDS: Final = 5
"""The same for what a person wrote, which is short: taking a language for theirs too readily condemns nothing."""
_CLEAR_SHARE: Final = 0.6
_LONGEST_LOOK: Final = 6_000
"""Characters that are looked at: a thousand words show a language as well as a million."""


def language_of(text: str, *, least_words: int = LEAST_WORDS) -> str | None:
    """The language or, outside Latin script, the script of a text: ``English``, ``cyrillic``; None where it isn't clear."""
    prose = _NO_PROSE.sub(" ", text[:_LONGEST_LOOK])
    weights = _script_weights(prose)
    total = sum(weights.values())
    if total < LEAST_WEIGHT:
        return None
    script, weight = weights.most_common(1)[0]
    if weight < _CLEAR_SHARE * total:
        return None
    return _latin_language(prose, least_words) if script == "latin" else script


def languages_of(texts: Iterable[str]) -> frozenset[str]:
    """The languages of several texts by one person, each that any of them is in, and that of all of them together."""
    listed = list(texts)
    guesses = (language_of(text, least_words=LEAST_SPOKEN_WORDS) for text in [*listed, "\n".join(listed)])
    return frozenset(guess for guess in guesses if guess is not None)


def _script_weights(prose: str) -> Counter[str]:
    weights = Counter({script: _WEIGHTS.get(script, 1) * len(signs.findall(prose)) for script, signs in _SCRIPTS.items()})
    if weights["kana"] > 0.1 * weights["han"]:
        # Japanese is written in both.
        weights["kana"] += weights.pop("han", 0)
    return weights


def _latin_language(prose: str, least_words: int) -> str | None:
    hits: Counter[str] = Counter()
    for word in _WORD.findall(prose.casefold()):
        languages = _LANGUAGES_OF.get(word, ())
        # A word that several languages have says less for each of them.
        for language in languages:
            hits[language] += 6 // len(languages)
    ranked = [*hits.most_common(2), ("", 0), ("", 0)]
    (language, most), (_, second) = ranked[0], ranked[1]
    return language if most >= 6 * least_words and most >= 1.5 * second else None
