"""Which sentence of the user gives a new value to what an earlier one said, so that only the latest is shown."""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from sessionstore.domain.ledger.entry import LedgerEntry
from sessionstore.domain.ledger.sentences import FORBIDS, LABEL, is_constraint, is_permission, subject_and_verb, without_lead_in
from sessionstore.domain.ledger.takeover import (
    COMPARED_TEXTS,
    MONTH,
    attributes_differ,
    kinds_of_values,
    says_change,
    subject_words,
    takes_over,
)
from sessionstore.domain.ledger.taking_back import takes_back
from sessionstore.domain.ledger.wording import content_words, is_form_of, values_of

MOST_COMPARED: Final = 48
"""Sentences with the same word that a new one is compared with, the newest of them: a word that more of them have names no
subject, and without a limit a long conversation costs the square of its length."""

_SAME_SUBJECT: Final = 0.66
_SAME_SUBJECT_SAID_AGAIN: Final = 0.6
_ONE_WITHIN_OTHER: Final = 0.5
_VALUED: Final = frozenset(
    {"port", "limit", "cap", "budget", "timeout", "max", "maximum", "min", "minimum", "level", "under", "below", "above",
     "over", "within", "every", "most", "least", "up", "exactly", "about", "around"}
)
"""Words behind which a number is a value, and doesn't tell one thing from another."""
_SAYS_WHAT: Final = re.compile(
    r"(?:\b(?:is|are|was|were|be|runs?|lives?|equals?|hosted|belongs|set to|capped|listens?|points|moved?|now|needs?"
    r"|wants?|uses?|leaves?|starts?|begins?|ends?|costs?|ist|sind|beträgt|gilt|geht|fährt|est|es|son|sale|cuesta|это)\b"
    r"|'s\b(?= \w+ing)|[=—]\s|是|为|為|は|が|改为|改成)",
    re.IGNORECASE,
)
_COLON: Final = re.compile(r"[:：]\s")
"""What stands for a verb in a sentence that has none: *Deadline: May 3*."""
_POINTING: Final = re.compile(r"\b(?:this|that|it|these|those|here)\s*$", re.IGNORECASE)
"""The end of a subject that means whatever was spoken of just then: *the ticket for this is …*."""
_QUANTITY: Final = re.compile(r"[$€£¥]\s?\d|\b\d[\d.,:/-]*(?:\s?(?:%|ms|s|[kKMG]i?B))?(?![\w-])")
_EXCLUDES: Final = re.compile(r"\b(?:only|nobody else|no one else|nothing else)\b", re.IGNORECASE)
"""Words by which two sentences that name different things for one purpose contradict each other."""
_CONTRASTS: Final = (
    frozenset({"prod", "product", "staging", "stag", "dev", "develop", "test", "local", "qa", "canary", "live"}),
    frozenset({"primary", "secondary", "replica", "backup", "standby"}),
    frozenset({"frontend", "backend", "client", "server", "worker"}),
    frozenset({"source", "target", "destination"}),
    frozenset({"min", "max", "minimum", "maximum"}),
    frozenset({"first", "second", "third", "last"}),
    frozenset({"daily", "weekly", "monthly", "yearly"}),
    frozenset({"web", "mobil", "desktop"}),
    frozenset({"read", "write"}),
    frozenset({"input", "output"}),
    frozenset({"start", "end"}),
    frozenset({"internal", "external"}),
    frozenset({"public", "privat"}),
    frozenset({"upload", "download"}),
    frozenset({"request", "respons", "response"}),
    frozenset({"left", "right"}),
)
"""Words that tell two things apart which are otherwise spoken of alike; endings taken off as ``stem`` does."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    entry: LedgerEntry
    words: frozenset[str]
    values: frozenset[str]


def superseded(sentences: Sequence[LedgerEntry]) -> Mapping[str, int]:
    """Keys of the sentences that a later one replaces, with the seq of that one.

    ``sentences`` are open constraints and statements. One replaces another when both say a value of something, are about the
    same words, and the values differ; not when they name two sides of a contrast (production and staging, read and write).
    What stands before the verb names the thing: when an identifier or number there differs, the things differ. A sentence
    without such a verb (*never delete audit_7*) is replaced by another quantity (*at most 3*, *at most 5*) or by one that shuts
    others out (*only Ana may sign*). One that says that something changed may replace what was worded otherwise
    (``takes_over``). One that allows again what an earlier one forbids replaces it (``takes_back``).
    """
    replaced: dict[str, int] = {}
    by_word: dict[str, list[_Sentence]] = {}
    for entry in sorted(sentences, key=lambda sentence: sentence.last_seq):
        newer = _Sentence(entry, content_words(entry.text), values_of(entry.text))
        about = subject_words(entry.text)
        candidates = {id(older): older for word in about for older in by_word.get(word, [])[-MOST_COMPARED:]}
        standing = [older for older in candidates.values() if older.entry.key not in replaced]
        before = [older for older in standing if older.entry.last_seq < entry.last_seq]
        if is_permission(entry.text):
            found = [older for older in before if takes_back(entry.text, older.entry.text)]
        else:
            found = [older for older in before if newer.values and _replaces(newer, older)]
        if not found and says_change(entry.text):
            found = [older for older in before if _takes_over(newer, older)]
            if len(found) > 1:
                named = _named_before_verb(entry.text)
                found = [older for older in found if named & _named_before_verb(older.entry.text)]
            # Of several that may be meant none is taken.
            found = found if len(found) == 1 else []
        replaced.update((older.entry.key, entry.last_seq) for older in found)
        for word in about:
            by_word.setdefault(word, []).append(newer)
    return replaced


@lru_cache(maxsize=COMPARED_TEXTS)
def _names(text: str) -> frozenset[str]:
    """The values in a text that name a thing by letters and digits, apart from those that may be what changes."""
    changing = frozenset(value for values in kinds_of_values(text).values() for value in values)
    named = (value for value in values_of(text) if _has_digit(value) and value[:1].isalpha() and "://" not in value)
    return frozenset(named) - changing


@lru_cache(maxsize=COMPARED_TEXTS)
def _named_before_verb(text: str) -> frozenset[str]:
    """Identifiers and numbers that stand before the verb."""
    return _identifiers(_subject(subject_and_verb(text)) or "")


def _subject(text: str) -> str | None:
    """What stands before the verb, of two clauses the second one's, or before a colon without a verb; None without either."""
    colon = _COLON.search(text)
    found = (_SAYS_WHAT.search(text, colon.end()) if colon else None) or _SAYS_WHAT.search(text) or colon
    return None if found is None else text[: found.start()]


def _says_of_what(subject: str) -> bool:
    """Whether there is more in it than *we* or *please*, after which the thing comes behind the verb."""
    return bool(content_words(subject) or values_of(subject) or _POINTING.search(subject))


def _replaces(newer: _Sentence, older: _Sentence) -> bool:
    if newer.values == older.values:
        return False
    # Sets of words are compared first, since most pairs end there and reading the sentences costs more.
    return _about_the_same(newer, older) and _may_compare(newer.entry.text, older.entry.text)


def _takes_over(newer: _Sentence, older: _Sentence) -> bool:
    shared = newer.words & older.words
    texts = newer.entry.text, older.entry.text
    for named in ([_names(text) for text in texts], [_named_before_verb(text) for text in texts]):
        if all(named) and named[0].isdisjoint(named[1]):
            return False
    return not _contrast(newer.words - shared, older.words - shared) and takes_over(*texts)


def _about_the_same(newer: _Sentence, older: _Sentence) -> bool:
    shared = newer.words & older.words
    if older.values > newer.values and not says_change(newer.entry.text):
        return False
    if _contrast(newer.words - shared, older.words - shared):
        return False
    if newer.words == older.words:
        return True
    if len(shared) < 2:
        return False
    if not says_change(newer.entry.text) and _other_thing(newer.words - shared, older.words - shared):
        return False
    likeness = len(shared) / len(newer.words | older.words)
    one_within_other = newer.words <= older.words or newer.words >= older.words
    if one_within_other and likeness >= _ONE_WITHIN_OTHER and _shapes(newer.values) == _shapes(older.values):
        return True
    if likeness >= _SAME_SUBJECT:
        return True
    if len(shared) / min(len(newer.words), len(older.words)) < _SAME_SUBJECT_SAID_AGAIN or not says_change(newer.entry.text):
        return False
    return not any(attributes_differ(word, newer.entry.text, older.entry.text) for word in shared)


def _may_compare(newer: str, older: str) -> bool:
    newer, older = (subject_and_verb(without_lead_in(text, is_constraint)) for text in (newer, older))
    if FORBIDS.search(older) and (not FORBIDS.search(newer) or _different_things(newer, older)):
        # What is forbidden is not allowed by a value that something has; a permission is another matter.
        return False
    subjects = [subject for text in (newer, older) if (subject := _subject(text)) is not None]
    if not subjects or not any(map(_says_of_what, subjects)):
        measured = all(_QUANTITY.search(text) or _EXCLUDES.search(text) for text in (newer, older))
        named = _names(newer), _names(older)
        if all(named) and named[0].isdisjoint(named[1]):
            return False
        return says_change(newer) or (measured and _one_differs(newer, older))
    if any(_POINTING.search(subject) for subject in subjects):
        return False
    told_apart = [_identifiers(subject) | _proper_names(subject) for subject in subjects]
    return len(told_apart) == 1 or told_apart[0] == told_apart[1] or not all(told_apart)


def _different_things(newer: str, older: str) -> bool:
    """Whether each names something by letters and digits, and none of these names is in both."""
    named = [
        {value for value in _identifiers(text) if any(character.isalpha() for character in value)} for text in (newer, older)
    ]
    return bool(named[0]) and bool(named[1]) and not named[0] & named[1]


def _one_differs(newer: str, older: str) -> bool:
    """Not when a number differs and something else too (*only Ana approves change 7*), or one that names (*keep part 5*)."""
    new_values, old_values = values_of(newer), values_of(older)
    sides = (newer, new_values - old_values), (older, old_values - new_values)
    return all(
        (len(values) <= 1 or not any(map(_has_digit, values))) and not any(_names_a_thing(value, text) for value in values)
        for text, values in sides
    )


def _names_a_thing(value: str, text: str) -> bool:
    """Whether a whole number stands right behind a word that is no stop word: *part 5*, where *port 80* is a value."""
    before = re.search(rf"([^\W\d_]+) {re.escape(value)}\b", text) if value.isdigit() else None
    return before is not None and before[1].islower() and before[1] not in _VALUED and bool(content_words(before[1]))


def _other_thing(newer: frozenset[str], older: frozenset[str]) -> bool:
    """Whether each sentence has a word of its own that is no form of one of the other's: *search pool*, *mail pool*."""
    return any(not is_form_of(word, older) for word in newer) and any(not is_form_of(word, newer) for word in older)


def _has_digit(value: str) -> bool:
    return any(character.isdigit() for character in value)


def _identifiers(subject: str) -> frozenset[str]:
    return frozenset(value for value in values_of(subject) if _has_digit(value))


def _proper_names(subject: str) -> frozenset[str]:
    """Names written with a capital before the verb; a month there says when, not of what."""
    plain = LABEL.sub("", subject)
    return frozenset(value for value in values_of(plain) if value[:1].isupper() and not MONTH.fullmatch(value))


def _shapes(values: frozenset[str]) -> frozenset[str]:
    """Values with digits and letters made alike: a date compares with a date, a port with a port, a name with a name."""
    return frozenset(re.sub(r"[A-ZА-ЯЁ]?[a-zа-яё]+|[A-ZА-ЯЁ]+", "a", re.sub(r"\d+", "9", value)) for value in values)


def on_two_sides(newer: frozenset[str], older: frozenset[str]) -> bool:
    """Whether two sentences, by their words, name two sides of a contrast: production and staging, read and write."""
    shared = newer & older
    return _contrast(newer - shared, older - shared)


def _contrast(newer: frozenset[str], older: frozenset[str]) -> bool:
    if any("-" in word or "_" in word for word in newer) and any("-" in word or "_" in word for word in older):
        return True
    return any(newer & group and older & group for group in _CONTRASTS)
