"""Messages that change what an earlier one said, found where they name it: by the old value, the kind of value, or a word.

*Make it 19:15, not 10:35*, *raise it to 200 MB*, *preprints are fine too*: the later message is told from others by a word of
change, the earlier one by what both have in common. That is not certain enough to take the earlier sentence away, unless
nothing but its value would be lost; it is shown with what changed it.
"""
from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from sessionstore.domain.ledger.languages import ALLOWING, CHANGING, RESTRICTING, REVISING
from sessionstore.domain.ledger.supersession import on_two_sides
from sessionstore.domain.ledger.takeover import attributes_differ, kinds_of_values, places_in
from sessionstore.domain.ledger.wording import content_words, is_form_of, stem, values_of

MOST_COMPARED: Final = 200
"""Earlier sentences, the newest of them, that a change is compared with."""
_NEAR: Final = 8
"""Earlier sentences among which *make it 14:30* finds what *it* is."""
_MUCH_OF_IT: Final = 1 / 3
_CLAUSE_ENDS: Final = re.compile(r"[,;:，；：](?=\s|\w)| (?:because|while|since|until|as|weil|da|solange|parce|car|porque) ")
_COMMON: Final = 3
"""Earlier sentences that have a word above which the word names nothing."""
_AMOUNT: Final = re.compile(r"(?<![\w.,:/-])(?:[$€£¥]\s?)?\d[\d.,]*\s?(%|[^\W\d_]{1,20})")
_NUMBERED: Final = re.compile(r"\b([^\W\d_]{3,20}) (\d[\d.]*)\b")
_WIDE_AMOUNT: Final = re.compile(r"\d[\d.,]*\s?([\u3400-\u9fff\u3040-\u30ff])")
_DIGIT: Final = re.compile(r"\d")
_NO_UNIT: Final = frozenset({
    "the", "a", "an", "and", "or", "at", "on", "in", "of", "to", "by", "for", "from", "is", "are", "am", "pm", "with", "not",
    "but", "if", "as", "than", "it", "we", "you", "he", "she", "und", "oder", "um", "im", "et", "ou", "y", "o", "de", "en",
    "auf", "into",
})  # fmt: skip
"""Small words behind or before a number, which are no unit."""
_POINTERS: Final = frozenset({"other", "one", "first", "last", "old", "previous", "befor", "that", "ander", "autr", "otro"})
"""Words that name an earlier value without saying it."""
_MEASURES: Final = frozenset({
    "mb", "gb", "kb", "tb", "mib", "gib", "ms", "sec", "second", "minut", "min", "hour", "day", "week", "month", "year", "px",
    "pt", "rem", "kg", "km", "cm", "mm", "ml", "cl", "liter", "litr", "percent", "time", "port", "version", "line", "step",
    "issu", "pr", "build", "job", "task", "ticket", "eur", "usd", "dollar", "euro", "uhr", "stund", "tag", "woch", "heur",
    "jour", "hor", "día",
})  # fmt: skip
"""Units and numbered things, endings taken off, that a project has many different ones of."""
_POLITE: Final = frozenset({"bitt", "pleas", "favor", "merci", "thank"})
_PHRASE: Final = (
    r"(?:(?![,;.!?:](?:\s|$)| (?:mais|sondern|but|sino|and|und|et|because|weil|as|by|with|for|durch|par|por) )"
    r"[^—()，。；：！？\n]){1,60}"
)
_WEEKDAY: Final = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:mon|diens|donners|frei|sams|sonn)tags?\b|\bmittwochs?\b"
    r"|\b(?:lun|mar|mercre|jeu|vendre|same)di\b|\bdimanche\b|\b(?:lunes|martes|miércoles|jueves|viernes|sábado|domingo)\b"
    r"|(?:周|星期|礼拜)[一二三四五六日天]|[月火水木金土日]曜日?",
    re.IGNORECASE,
)
_TIME: Final = re.compile(r"\b\d{1,2}h\d\d\b|\b\d{1,2}(?::\d\d)? ?[ap]\.?m\b|\b\d{1,2} Uhr|\d{1,2}[点點時时]", re.IGNORECASE)
_OLD: Final = re.compile(
    r"\b(?:not|instead of|rather than|in place of|no longer|forget(?: about)?|drop|scrap|ditch|wrong about"
    r"|takes? over .{0,40}?from|replac(?:e|es|ed|ing)|nicht|statt|anstatt|anstelle(?: von)?|vergiss|streich\w*|ersetz\w*"
    r"|nicht mehr|(?:n['’]est|ne sont) (?:plus|pas)|au lieu d[eu]|plutôt que|à la place d[eu]|oubli\w+|remplac\w+"
    rf"|en (?:vez|lugar) de|olvida\w*|reemplaza\w*|sustitu\w+|ya no|no es)\b (?P<old>{_PHRASE})"
    r"|(?P<gone>[^,.;:!?—()\s]+(?: [^,.;:!?—()\s]+)?) (?:any ?more|is (?:off|out|cancel\w+)|fell through|won['’]t (?:do|work))"
    r"|\bno (?:\w+ )?(?P<name>[A-ZÀ-Þ]\w+),? sino|\bfrom (?P<from>\S+(?: \S+)?) to\b"
    r"|(?:不是|取消|代替|从)(?P<wide>[^，。；：！？\s]{1,20}?)(?:改|换|換|，|。|$)"
    r"|(?:[はがを、]|^)(?P<left>[^、。はがを\s]{1,20}?)(?:ではなく|じゃなく|の代わり|をやめ|から[^。]{1,20}?(?:に変|へ変|に替))",
    re.IGNORECASE,
)


_Changed = tuple["Said", frozenset[str]]
"""The sentence that was changed, and the terms in it that no longer hold."""


@dataclass(frozen=True)
class Said:
    """A sentence of the user, or a whole short message, at its seq."""

    text: str
    seq: int

    @cached_property
    def words(self) -> frozenset[str]:
        """Its words that say what it is about."""
        return content_words(self.text)

    @cached_property
    def values(self) -> frozenset[str]:
        """Its numbers, names and identifiers."""
        return values_of(self.text)

    @cached_property
    def terms(self) -> frozenset[str]:
        """Words and values alike, in the form of words: a name is a word where it begins a sentence."""
        return self.words | {stem(value.lower()) for value in self.values}

    @cached_property
    def names(self) -> frozenset[str]:
        """Its values that are written with letters, in the form of words."""
        return frozenset(stem(value.lower()) for value in self.values if value[:1].isalpha())

    @cached_property
    def restricts(self) -> bool:
        """Whether it forbids something or narrows it down."""
        return RESTRICTING.is_in(self.text)

    @cached_property
    def kinds(self) -> dict[str, frozenset[str]]:
        """Its values by kind, amounts by their unit."""
        found = {"place": places_in(self.text), "weekday": {day.lower() for day in _WEEKDAY.findall(self.text)}}
        if _DIGIT.search(self.text):
            found |= self._numeric_kinds()
        return {kind: frozenset(values) for kind, values in found.items() if values}

    def _numeric_kinds(self) -> dict[str, set[str]]:
        found = {kind: set(values) for kind, values in kinds_of_values(self.text).items()}
        found.setdefault("time", set()).update(_TIME.findall(self.text))
        known = " ".join(value for values in found.values() for value in values)
        for match in (*_AMOUNT.finditer(self.text), *_WIDE_AMOUNT.finditer(self.text)):
            if (unit := match[1].lower()) not in _NO_UNIT and match[0] not in known:
                found.setdefault(f"amount {stem(unit)}", set()).add(match[0])
        known = " ".join(value for values in found.values() for value in values)
        for match in _NUMBERED.finditer(self.text):
            if (name := match[1].lower()) not in _NO_UNIT and match[2] not in known:
                found.setdefault(f"numbered {stem(name)}", set()).add(match[2])
        return found


@dataclass(frozen=True, slots=True)
class Update:
    """``old`` was changed by ``new``; ``whole`` when nothing of it holds any more, so that it need not be shown."""

    old: Said
    new: Said
    whole: bool


def may_change(text: str) -> bool:
    """Whether a message has a word by which something is changed or allowed again."""
    return REVISING.is_in(text) or ALLOWING.is_in(text)


def surely_changes(text: str) -> bool:
    """Whether it has such a word beside those, like *now* and *again*, that a greeting may have too."""
    return may_change(CHANGING.taken_out_of(text))


def find_updates(olds: Sequence[Said], news: Iterable[Sequence[Sequence[Said]]]) -> Iterator[Update]:
    """Which earlier sentence each later message changes; ``olds`` are in the order of their seqs.

    A message is given as its readings, one of which is taken: its sentences first, then all of it as one.
    """
    standing = list(olds)
    seqs = [old.seq for old in standing]
    for message in news:
        for reading in message:
            found = []
            for new in reading:
                end = bisect_left(seqs, new.seq)
                if (update := _changed_by(new, standing[max(0, end - MOST_COMPARED) : end][::-1])) is not None:
                    place = standing.index(update.old, max(0, end - MOST_COMPARED))
                    del standing[place], seqs[place]
                    found.append(update)
            if found:
                yield from found
                break


def _changed_by(new: Said, before: Sequence[Said]) -> Update | None:
    """What a sentence changes of the earlier ones, the newest of which comes first."""
    if REVISING.is_in(new.text):
        # A restriction is not lifted by a value that somebody says of something else.
        values = [old for old in before if not old.restricts]
        if (found := _named(new, values) or _valued(new, values)) is not None:
            old, replaced = found
            return Update(old, new, whole=_nothing_else(old, new, replaced))
    if ALLOWING.is_in(new.text) and (restriction := _allowed(new, before)) is not None:
        return Update(restriction, new, whole=False)
    return None


def _named(new: Said, before: Sequence[Said]) -> _Changed | None:
    """The newest sentence that has the old value which the later one names: *not 10:35*, *instead of the duck*."""
    for match in _OLD.finditer(new.text):
        phrase = Said(next(text for text in match.groups() if text), new.seq)
        wanted = {stem(value.lower()) for value in values_of(f"x {phrase.text}")} or phrase.words - _POINTERS
        if not wanted or not new.terms - wanted:
            continue
        for old in before:
            if wanted <= old.terms and not new.terms <= old.terms:
                return old, frozenset(wanted)
    return None


def _valued(new: Said, before: Sequence[Said]) -> _Changed | None:
    """The sentence that has another value of the same kind, about the same thing or right before: *raise it to 200 MB*."""
    alike = [old for old in before if _differing_kinds(new, old) and _may_be_one(new, old)] if new.kinds else []
    if not alike:
        return None
    # A number and a measure say of nothing that it is the same thing; what is counted does.
    shared = [len((new.terms & old.terms) - _MEASURES - _differing_numbers(new, old)) for old in alike]
    best = max(shared)
    if best:
        found = [old for old, count in zip(alike, shared, strict=True) if count == best]
        found = found if best > 1 or len(found) == 1 else []
    else:
        found = [old for old in alike if old in before[:_NEAR]] if _has_no_subject(new) else []
    return (found[0], _differing(new, found[0])) if found else None


def _allowed(new: Said, before: Sequence[Said]) -> Said | None:
    """The restriction of which a later message says that it is over, by some of its words, one of which few sentences have."""
    best: tuple[float, Said] | None = None
    for old in before:
        if old.restricts and not _differing_kinds(new, old):
            said = Said(_what_is_bound(old.text), old.seq).terms - _bound_words(old)
            shared = [word for word in said if word in new.terms or is_form_of(word, new.terms)]
            share = len(shared) / len(said) if said else 0.0
            if share >= _MUCH_OF_IT and (best is None or share > best[0]) and any(_is_rare(word, before) for word in shared):
                best = share, old
    return None if best is None else best[1]


def _what_is_bound(text: str) -> str:
    """The clause of a restriction that restricts, without what leads to it or gives its reason."""
    return next((clause for clause in _CLAUSE_ENDS.split(text) if RESTRICTING.is_in(clause)), text)


def _bound_words(old: Said) -> frozenset[str]:
    """The words by which it restricts and asks: *leave … out*, *no*, *bitte*."""
    ends = (word for found in RESTRICTING.found_in(old.text) for word in (found.split()[0], found.split()[-1]))
    return _POLITE | {stem(word) for word in ends}


def _is_rare(word: str, before: Sequence[Said]) -> bool:
    return sum(word in old.text.lower() for old in before) <= _COMMON


def _differing_kinds(new: Said, old: Said) -> frozenset[str]:
    return frozenset(kind for kind in new.kinds.keys() & old.kinds.keys() if new.kinds[kind].isdisjoint(old.kinds[kind]))


def _differing(new: Said, old: Said) -> frozenset[str]:
    """The values of either, as terms, of the kinds of which the two have different ones."""
    values = (value for kind in _differing_kinds(new, old) for value in (*new.kinds[kind], *old.kinds[kind]))
    return frozenset(term for value in values for term in (stem(value.lower()), *Said(value, 0).terms))


def _differing_numbers(new: Said, old: Said) -> frozenset[str]:
    """What of the differing values has a digit, and the names in them that are no count of things."""
    return frozenset(term for term in _differing(new, old) if _DIGIT.search(term) or term[:1].isupper())


def _may_be_one(new: Said, old: Said) -> bool:
    """Whether two sentences with different values can be about one thing: nothing but one value tells them apart."""
    kinds = _differing_kinds(new, old)
    if len(kinds) > 1 or on_two_sides(new.words, old.words):
        return False
    if ALLOWING.is_in(new.text) and old.restricts:
        return False
    differing = _differing(new, old)
    if (new.names - old.terms - differing) and (old.names - new.terms - differing):
        return False
    return not any(attributes_differ(word, new.text, old.text) for word in new.words & old.words)


def _has_no_subject(new: Said) -> bool:
    """Whether it says of nothing what its value is: *make it 19:15*, *raise it to 200 MB*."""
    ends = [new.text.find(value) for values in new.kinds.values() for value in values]
    said = Said(REVISING.taken_out_of(new.text[: min(ends)]), new.seq)
    return not said.words and not said.names


def _nothing_else(old: Said, new: Said, replaced: frozenset[str]) -> bool:
    """Whether the later one is about the same thing by its own words, and one plain word of the earlier one is lost at most."""
    kept, lost = (old.terms & new.terms) - replaced, old.terms - new.terms - replaced
    return bool(kept) and len(lost) <= 1 and not lost & {stem(value.lower()) for value in old.values}
