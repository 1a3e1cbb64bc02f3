"""Fuzzy faults of an answer that is prose: rules that can err, each chosen so that it rarely condemns a good summary.

How often each errs on real transcripts and summaries is measured in ``docs/summarizers.md``.
"""
from __future__ import annotations

import re
from collections import Counter
from typing import Final, Literal

from sessionstore.domain.language_guess import language_of
from sessionstore.domain.section_parsing import is_heading, parse_sections

AnswerSuspicion = Literal["injection", "nonsense", "repetition", "answer_to_user", "wrong_language"]
"""What an answer in prose is when it is no summary."""

_ORDER: Final = (
    r"(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+|everything\s+|the\s+|your\s+|my\s+|of\s+)*"
    r"(?:previous|prior|above|earlier|preceding|system|original)\s+"
    r"(?:instructions?|prompts?|rules?|directions?|messages?|context|text)"
    r"|ignor(?:iere|ieren sie)\s+(?:alle\s+)?(?:vorherigen|bisherigen|obigen)\s+\w+"
    r"|ignore[zr]?\s+(?:toutes\s+)?les\s+instructions"
    r"|ignora\s+(?:todas\s+)?las\s+instrucciones|(?:忽略|无视|無視)(?:之前|以上|前面|所有)\w{0,6}(?:指令|指示|提示|说明)"
)
INJECTION: Final = re.compile(_ORDER, re.IGNORECASE)
"""An order to a model that stands in material: `ignore all previous instructions`, in a few languages."""
_INJECTION_REACH: Final = 600
"""Characters after such an order in which the words it asks for are looked for."""
_SHORT_OBEDIENCE: Final = 40
"""Words above which an answer is more than what an injected order usually asks for."""

_OPENER: Final = re.compile(
    r"\W*(?:(?:sure|certainly|of course|absolutely|great(?: question| idea)?|i['’]ll|i will|i can"
    r"|i(?:['’]| a)m (?:going to|sorry)|let me|let['’]s"
    r"|no problem|happy to|you['’]re (?:right|welcome)|thank(?:s| you)|hello|i apologi[sz]e|sorry"
    r"|gerne|natürlich|bien sûr|claro|por supuesto)\b|(?:yes|hi|klar)[,!.]|好的|当然|もちろん|承知)",
    re.IGNORECASE,
)
_CLOSER: Final = re.compile(
    r"(?:let me know|would you like|do you want me|shall i|feel free|how can i (?:help|assist)|is there anything"
    r"|hope this helps"
    r"|soll ich|möchten sie|sag(?:en sie)? (?:mir )?bescheid|dites-moi|voulez-vous|¿quieres|avísame|需要我|请告诉我)"
    r"[^\n]{0,200}\W*\Z",
    re.IGNORECASE,
)

_WORD: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")
_LONGEST_PERIOD: Final = 40
_LOOP_WORDS: Final = 60
_LOOP_ROUNDS: Final = 4
_LEAST_LINES: Final = 8
_REPEATED_SHARE: Final = 0.5
_SEVERAL: Final = 4
_REFERENCE: Final = re.compile(r"#\d")


def suspect_answer(text: str, *, history: str = "", languages: frozenset[str] = frozenset()) -> AnswerSuspicion | None:
    """What is wrong with an answer that is prose, or None.

    ``history`` is the text the model was given, ``languages`` those that the user writes (``languages_of``), none if they
    aren't clear. In this order: it does what an order inside the history asked; its sections are filled with the same or with
    figures; it goes round in circles; it talks to the user; it is in none of the user's languages.
    """
    if _obeys(text, history):
        return "injection"
    if _is_nonsense(text):
        return "nonsense"
    if _loops(text):
        return "repetition"
    if _talks_to_user(text):
        return "answer_to_user"
    if _is_foreign(text, languages):
        return "wrong_language"
    return None


def _obeys(text: str, history: str) -> bool:
    words = " ".join(_WORD.findall(text.casefold()))
    if not words or words.count(" ") >= _SHORT_OBEDIENCE or _has_heading(text):
        return False
    said = (history[order.end() : order.end() + _INJECTION_REACH] for order in INJECTION.finditer(history))
    return any(f" {words} " in f" {' '.join(_WORD.findall(reach.casefold()))} " for reach in said)


def _is_nonsense(text: str) -> bool:
    """Whether half of the sections say the same, or no words, or only their own heading over again."""
    sections = parse_sections(text)
    if len(sections) < _SEVERAL:
        return False
    told = [" ".join(content.split()) for content in sections.values()]
    _, most = Counter(told).most_common(1)[0]
    wordless = sum(1 for content in told if not any(map(str.isalpha, content)) and not _REFERENCE.search(content))
    words = {heading: _long_words(content) for heading, content in sections.items()}
    times = Counter(word for found in words.values() for word in found)
    said_by_all = {word for word, count in times.items() if 2 * count >= len(sections)}
    hollow = sum(1 for heading, found in words.items() if not found - said_by_all - _long_words(heading))
    return 2 * max(most, wordless, hollow) >= len(told)


def _long_words(text: str) -> set[str]:
    """The beginnings of the words of four letters and more, so that another ending is the same word; each sign of Chinese."""
    found = _WORD.findall(text.casefold().replace("_", " "))
    return {word[:5] for word in found if len(word) >= 4 or word.isdigit() or not word.isascii()}


def _loops(text: str) -> bool:
    words = _WORD.findall(text.casefold())
    for period in range(1, min(_LONGEST_PERIOD, len(words) // _LOOP_ROUNDS) + 1):
        length = max(_LOOP_WORDS, _LOOP_ROUNDS * period)
        if length > len(words):
            continue
        # The last word may be cut off, so the loop is looked for before it.
        end = words[-length - 1 : -1] if len(words) > length else words[-length:]
        if all(end[index] == end[index + period] for index in range(len(end) - period)):
            return True
    lines = [plain for line in text.splitlines() if len(plain := " ".join(_WORD.findall(line.casefold()))) >= 15]
    return len(lines) >= _LEAST_LINES and len(set(lines)) <= _REPEATED_SHARE * len(lines)


def _talks_to_user(text: str) -> bool:
    return not _has_heading(text) and (_OPENER.match(text) is not None or _CLOSER.search(text) is not None)


def _is_foreign(text: str, spoken: frozenset[str]) -> bool:
    if not spoken:
        return False
    prose = "\n".join(line for line in text.splitlines() if not is_heading(line))
    found = language_of(prose)
    return found is not None and found not in spoken


def _has_heading(text: str) -> bool:
    return any(map(is_heading, text.splitlines()))
