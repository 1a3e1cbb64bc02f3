"""Sentences of a text, and which of them bind, decide, conclude, ask or say what is left, in several languages."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from sessionstore.domain.ledger.languages import BINDING, CHANGING, CONCLUDING, DECIDING, REMAINING, WISHING

_SCANNED: Final = 40_000
_MAX_SENTENCE: Final = 600
_BREAK: Final = re.compile(r"(?<=[.!?])[\"')\]]?\s+(?=[\"'(\[`*]?[^\W_a-z])|(?<=[。！？])|\n+")
_BULLET: Final = re.compile(r"^(?:[-*•>#\s]|\d{1,3}[.)]\s|\[[ x]\]\s)+")
_FENCE: Final = re.compile(r"^\s*(?:```|~~~)")
LABEL: Final = re.compile(r"^[A-Z][A-Z_-]{2,}(?: [A-Z][A-Z_-]+){0,3}\s?:\s")
"""A word or two in capitals and a colon at the beginning of a sentence: ``FACT:``, ``HARD CONSTRAINT:``."""
_LEAD_IN: Final = re.compile(
    r"^(?:(?:Decision|Note|Important|Reminder|Remember|Rule|Constraint|Preference): (?=\S)"
    r"|(?:[^\W\d_][\w'’]*,? ){0,4}[^\W\d_][\w'’]*: (?=[^\W\d_a-z]))"
)
"""A few words and a colon before what matters: *Before you go on: Never …*; not the subject of it: *Deadline: never …*."""
_BINDING_LABEL: Final = re.compile(
    r"^[\s*_#>-]{0,6}(?:[\w ]{0,24}(?:rule|constraint|preference|requirement|policy|restriction|guideline|important"
    r"|note)s?)[*_]{0,2}\s?[:：]",
    re.IGNORECASE,
)
_VALUE: Final = re.compile(
    r"\d|https?://|`[^`\n]{1,80}`|\b[A-Z]{2,}\b|(?<=[a-zа-яё,:] )[A-ZА-ЯЁ][a-zа-яё]+|[\"“«「][^\"”»」\n]{1,60}[\"”»」]"
    r"|[a-z]\w*[_/.-]\w+"
)
_WRITTEN_VALUE: Final = re.compile(r"\d|://|\w/\w|`[^`\n]{1,80}`")
_SAYS_OF: Final = re.compile(
    r"\b(?:is|are|was|were|equals?|called|named|means|lives?|runs?|hosted|located|belongs?|uses?|has|listens?|owns?|handles|manages|leads|ist|sind"
    r"|heißt|läuft"
    r"|est|sont|es|son|está|é|это)\b|'s\b|[:=—]\s|是|为|為|は|が|는|은|이다",
    re.IGNORECASE,
)
_PASTED_ERROR: Final = re.compile(
    r"(?:fatal|error|panic|E\s{2,8}|npm ERR!|FAILED|Traceback|[\w.]{1,60}(?:Error|Exception))\b\s?[:\[(!]|FAILED \S"
)
_CODE: Final = re.compile(
    r"at \S+[.(]|[+-] ?\d{0,5} |\d{1,6} ?[|:+-]|\||(?:throw|return|import|const|let|var|def|class|function) |.*[{;,\\]$"
)
_LISTING: Final = re.compile(
    r"\d{1,6}:(?: {2,}|\t)|.*[{};\\]$|\"[\w -]{1,60}\"\s?:|\((?:Open file|Current directory): |</?[\w-]{1,40}>"
    r"|(?:export |public |private |static )*(?:val|const|let|var|def|class|function|import|from|return) [\w({*].*[=({:;)]"
)
"""Code, numbered or not, JSON, and the prompt of a harness: no sentence of anybody."""
_WITH_REASON: Final = re.compile(r"\b(?:decided|because|since|instead|rather)\b", re.IGNORECASE)
_NEXT_LOOK: Final = re.compile(
    r"\bto (?:see|find|check|look|view|search|locate|confirm|verify|understand|get)\b|\bcommand\b", re.IGNORECASE
)


def sentences_of(text: str) -> Iterator[str]:
    """The sentences of a text, verbatim without bullets; fenced code and sentences of over 600 characters are left out.

    A line that begins with a LABEL: or says that it is a rule, a constraint or a preference is one sentence.
    Of a text of over 40,000 characters the first and the last 20,000 are read.
    """
    if len(text) > _SCANNED:
        text = text[: _SCANNED // 2] + "\n" + text[-_SCANNED // 2:]
    fenced = False
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and line.strip():
            whole = len(line) <= _MAX_SENTENCE and (LABEL.match(line) or _BINDING_LABEL.match(line))
            for piece in (line,) if whole else _BREAK.split(line):
                sentence = _BULLET.sub("", piece or "").strip()
                if 1 < len(sentence) <= _MAX_SENTENCE:
                    yield sentence


def is_question(sentence: str) -> bool:
    """Whether it ends as a question does."""
    return sentence.rstrip("\"')]*_` ").endswith(("?", "？")) and len(sentence) > 4


def is_pasted_error(sentence: str) -> bool:
    """Whether it is a line of an error report that somebody pasted."""
    return _PASTED_ERROR.match(sentence) is not None


def is_constraint(sentence: str) -> bool:
    """Whether a sentence of the user binds: must, never, only, prefer, at most, and their like in ten languages."""
    if _BINDING_LABEL.match(sentence):
        return True
    return BINDING.is_in(sentence) and _LISTING.match(sentence) is None


def is_wish(sentence: str) -> bool:
    """Whether all that makes it binding is a wish or a need (*I want to …*, *it should …*), which much of a request is."""
    return _BINDING_LABEL.match(sentence) is None and not BINDING.is_in(WISHING.taken_out_of(sentence))


def is_statement(sentence: str) -> bool:
    """Whether a sentence of the user says a value of something: a number, a name, an identifier, or begins with a LABEL:."""
    if LABEL.match(sentence):
        return True
    # Most sentences of most texts have no value at all, so that is asked first.
    if _VALUE.search(sentence, 1) is None or sentence.endswith((":", "：")):
        return False
    if _CODE.match(sentence) or _LISTING.match(sentence):
        return False
    if _SAYS_OF.search(sentence):
        return True
    return CHANGING.is_in(sentence) and _WRITTEN_VALUE.search(sentence) is not None


def is_decision(sentence: str) -> bool:
    """Whether a sentence says what was chosen; not when it only introduces what follows."""
    if not _stands_alone(sentence) or not DECIDING.is_in(sentence):
        return False
    return _WITH_REASON.search(sentence) is not None or _NEXT_LOOK.search(sentence) is None


def is_finding(sentence: str) -> bool:
    """Whether a sentence of the assistant says what turned out, and says it of something that has a name or number."""
    return _stands_alone(sentence) and CONCLUDING.is_in(sentence) and _VALUE.search(sentence, 1) is not None


def says_what_is_left(sentence: str) -> bool:
    """Whether a sentence says what comes next or remains."""
    return _stands_alone(sentence) and REMAINING.is_in(sentence)


def without_lead_in(sentence: str, holds: Callable[[str], bool]) -> str:
    """A sentence in brief: without its LABEL:, and without a few words before a colon when the rest ``holds`` by itself."""
    unlabelled = LABEL.sub("", sentence)
    rest = _LEAD_IN.sub("", unlabelled, count=1)
    return rest if holds(rest) else unlabelled


def _stands_alone(sentence: str) -> bool:
    return len(sentence) >= 12 and not sentence.endswith((":", "："))
