"""Sentences of a text, and which of them bind, decide, conclude, ask or say what is left, in several languages."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from sessionstore.domain.ledger.declarations import declares, names_who_acts
from sessionstore.domain.ledger.languages import BINDING, CHANGING, CONCLUDING, DECIDING, LIFTING, REMAINING, UNDECIDED, WISHING
from sessionstore.domain.ledger.severe_lines import names_severity
from sessionstore.domain.ledger.small_talk import asks_to_be_told, is_small_talk, without_answer
from sessionstore.domain.ledger.standing_rules import binds_unsaid, only_seems_to_bind

_SCANNED: Final = 40_000
_MAX_SENTENCE: Final = 600
_BREAK: Final = re.compile(r"(?<=[.!?])[\"')\]]?\s+(?=[\"'(\[`*]?[^\W_a-z])|(?<=[。！？])|\n+")
_INITIAL: Final = re.compile(r"[A-Z]\.")
_NO_END: Final = re.compile(
    r"(?:(?:^|[\s(])(?i:[a-z]\.[a-z]|approx|ca|vs|v|cf|etc|incl|excl|fig|no|nr|art|abs|sec|vol|pp?|dr|mr|mrs|ms|prof|st|jr"
    r"|sr|inc|ltd|cir|bzw"
    r"|usw|vgl|evtl|ggf|inkl|std|tel|str|hr|fr|sra?|dra?|uds?|pág|núm|mme)|(?:^|\()[A-Z]|\b[A-Z]\w*\.? [A-Z]"
    r"|\b(?:am|ab|bis|dem|den|der|des|seit|vom|zum) \d{1,2})\.$"
)
"""A word with a dot after which a sentence goes on: an abbreviation, an initial, a day of a month."""
_BULLET: Final = re.compile(r"^(?:[-*•>#\s]|\d{1,3}[.)]\s|\[[ x]\]\s)+")
_LISTED: Final = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)]|\[[ x]\])\s+\S.{0,400}$")
_CHOICE: Final = re.compile(r"instead of|rather than", re.IGNORECASE)
_MAX_INTRODUCTION: Final = 80
_FENCE: Final = re.compile(r"^\s*(?:```|~~~)")
LABEL: Final = re.compile(r"^[A-Z][A-Z_-]{2,}(?: [A-Z][A-Z_-]+){0,3}\s?:\s")
"""A word or two in capitals and a colon at the beginning of a sentence: ``FACT:``, ``HARD CONSTRAINT:``."""
_CALL_TO_ATTENTION: Final = re.compile(
    r"^(?:decision|note|important|reminder|remember|rule|constraint|preference|update|fyi|btw|achtung|hinweis|wichtig"
    r"|korrektur|ojo|nota"
    r"|importante|correcci[oó]n|attention|correction|注意|重要|更正)[:：] ?(?=\S)",
    re.IGNORECASE,
)
_LEAD_IN: Final = re.compile(r"^(?:[^\W\d_][\w'’]*,? ){0,4}[^\W\d_][\w'’]*: (?=[^\W\d_a-z])")
"""A few words and a colon before what matters: *Before you go on: Never …*; not the subject of it: *Deadline: never …*."""
_BINDING_LABEL: Final = re.compile(
    r"^[\s*_#>-]{0,6}(?:[\w ]{0,24}(?:rule|constraint|preference|requirement|policy|policie|restriction|guideline"
    r"|convention|important"
    r"|note|regel|regeln|vorgabe|vorgaben|anforderung|bedingung|regla|requisito|condicion|condición|règle|consigne|exigence"
    r"|правил\w|требовани\w"
    r"|规则|規則|要求|约束|約束|规范|注意事项|ルール|要件|규칙)(?:s|e?n|es)?(?: (?:for|of|on|about|in|für|para|pour|de"
    r"|du) [\w -]{1,40})?)[*_]{0,2}\s?[:：]",
    re.IGNORECASE,
)
_VALUE: Final = re.compile(
    r"\d|https?://|`[^`\n]{1,80}`|\b[A-Z]{2,}\b|(?<=[a-zа-яё,:] )[A-ZА-ЯЁ][a-zа-яё]+|[\"“«「][^\"”»」\n]{1,60}[\"”»」]"
    r"|(?<= )'[^'\n]{2,40}'"
    r"|[a-z]\w*[_/.-]\w+"
)
_WRITTEN_VALUE: Final = re.compile(r"\d|://|\w/\w|`[^`\n]{1,80}`")
_SAYS_OF: Final = re.compile(
    r"\b(?:is|are|(?<!, )was|were|equals?|called|named|means|lives?|runs?|hosted|located|belongs?|uses?|has"
    r"|listens?|owns?|handles|manages|leads|ist|sind"
    r"|heißt|läuft"
    r"|est|sont|es|son|está|é|это)\b|'s\b|[:=—]\s|是|为|為|は|が|는|은|이다",
    re.IGNORECASE,
)
_SAYS_A_NUMBER_OF: Final = re.compile(
    r"\b(?:leaves?|departs?|arrives?|starts?|begins?|ends?|opens?|closes?|costs?|takes?|weighs?|measures?|meet|fly|flies"
    r"|signs?|holds?"
    r"|contains?|pays?|expires?|max|min|beträgt|betragen|kostet|geht|fährt|fliegt|kommt|beginnt|endet|wiegt|gilt|sale|salen"
    r"|cuesta"
    r"|cuestan|llega|empieza|termina|vence|part|arrive|coûte|commence|expire)\b",
    re.IGNORECASE,
)
"""Verbs behind which a number is a value of something."""
FORBIDS: Final = re.compile(
    r"\b(?:never|not|don['’]?t|without|hands off|off limits|no (?:more|longer|se|changes?|deploys?|\w+ing)|nie"
    r"|niemals|nicht|kein\w*|finger weg"
    r"|jamais|ne \w+ pas|nunca|никогда|не)\b|^(?:please,? |por favor,? )?no \w+|不要|不得|不许|不准|禁止|严禁|嚴禁|勿|别",
    re.IGNORECASE,
)
"""Words by which a sentence forbids."""
_CODE: Final = re.compile(
    r"at \S+[.(]|[+-] ?\d{0,5} |\d{1,6} ?[|:+-]|\||(?:throw|return|import|const|let|var|def|class|function) |.*[{;,\\]$"
)
_LISTING: Final = re.compile(
    r"\d{1,6}:(?: {2,}|\t)|.*[{};\\]$|\"[\w -]{1,60}\"\s?:|\((?:Open file|Current directory): |</?[\w-]{1,40}[ />]"
    r"|(?:export |public |private |static )*(?:val|const|let|var|def|class|function|import|from|return) [\w({*].*[=({:;)]"
)
"""Code, numbered or not, JSON, and the prompt of a harness: no sentence of anybody."""
_TABLE: Final = re.compile(r"\s\|\s.*\s\|\s|[{\[]\s*[{\"]|\"[\w -]{1,40}\"\s?:")
_WITH_REASON: Final = re.compile(r"\b(?:decided|because|since|instead|rather)\b", re.IGNORECASE)
_COURTESY: Final = re.compile(
    r"\b(?:keep|take|leave) (?:that|this|it|you|them|an eye) (?:in mind|confidential|to myself|posted|short|simple|brief"
    r"|safe|secret|private|between us|into|on)",
    re.IGNORECASE,
)
"""What sounds like a choice and only says that somebody was heard."""
_NEXT_LOOK: Final = re.compile(
    r"\bto (?:see|find|check|look|view|search|locate|confirm|verify|understand|get)\b|\bcommand\b", re.IGNORECASE
)


def sentences_of(text: str) -> Iterator[str]:
    """The sentences of a text, verbatim without bullets; fenced code and sentences of over 600 characters are left out.

    An item of a list whose introduction binds or says what is left stands behind that introduction, without which *push to
    main* would say the opposite. A line that begins with a LABEL: or says that it is a rule, a constraint or a preference is
    one sentence. Of a text of over 40,000 characters the first and the last 20,000 are read.
    """
    if len(text) > _SCANNED:
        text = text[: _SCANNED // 2] + "\n" + text[-_SCANNED // 2:]
    fenced = False
    ahead = ""
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
            ahead = ""
        elif not fenced and line.strip():
            listed = _LISTED.match(line) is not None
            if ahead and listed:
                item = _BULLET.sub("", line).strip()
                ahead = "" if item.endswith((":", "：")) else ahead
                if ahead:
                    yield f"{ahead} {item}"
                    continue
            ahead = ""
            whole = len(line) <= _MAX_SENTENCE and (LABEL.match(line) or _BINDING_LABEL.match(line))
            for piece in (line,) if whole else _pieces(line):
                sentence = _BULLET.sub("", piece or "").strip()
                if not listed and _governs(sentence):
                    ahead = sentence
                elif 1 < len(sentence) <= _MAX_SENTENCE:
                    yield sentence


def _governs(line: str) -> bool:
    """Whether a line introduces a list whose items mean nothing without it: *Please don't:*, *House rules:*, *Next steps:*."""
    line = line.rstrip()
    if not line.endswith((":", "：")) or len(line) > _MAX_INTRODUCTION:
        return False
    return bool(_BINDING_LABEL.match(line)) or BINDING.is_in(_CHOICE.sub("", line)) or REMAINING.is_in(line)


def _pieces(line: str) -> Iterator[str]:
    """A line at its ends of sentences; a dot after an abbreviation, an initial or a day, or inside brackets, is none."""
    begin = 0
    for match in _BREAK.finditer(line):
        piece = line[begin: match.start()]
        if piece.endswith(".") and (_NO_END.search(piece) or _is_open(piece) or _between_initials(piece, line[match.end():])):
            continue
        yield piece + match.group().rstrip()
        begin = match.end()
    yield line[begin:]


def _between_initials(piece: str, rest: str) -> bool:
    return all(_INITIAL.match(text) for text in (piece[-2:], rest[:2]))


def _is_open(piece: str) -> bool:
    return 0 <= piece.rfind(")") < piece.rfind("(") or piece.rfind(")") < 0 <= piece.rfind("(")


def is_question(sentence: str) -> bool:
    """Whether it ends as a question does."""
    return sentence.rstrip("\"')]*_` ").endswith(("?", "？")) and len(sentence) > 4


def is_constraint(sentence: str) -> bool:
    """Whether a sentence of the user binds: must, never, only, prefer, at most, and their like in ten languages.

    A *don't* or *never* that only answers what was proposed is no rule; what is said behind it may be.
    """
    if _BINDING_LABEL.match(sentence):
        return True
    said = without_answer(sentence)
    binds = (BINDING.is_in(said) and not only_seems_to_bind(said)) or binds_unsaid(said)
    return binds and _LISTING.match(sentence) is None


def is_wish(sentence: str) -> bool:
    """Whether all that makes it binding is a wish or a need (*I want to …*, *it should …*), which much of a request is."""
    if _BINDING_LABEL.match(sentence) or BINDING.is_in(WISHING.taken_out_of(sentence)):
        return False
    return not binds_unsaid(sentence)


def is_statement(sentence: str) -> bool:
    """Whether a sentence of the user says a value of something: a number, a name, an identifier, or begins with a LABEL:."""
    if LABEL.match(sentence):
        return True
    # Most sentences of most texts have no value at all, so that is asked first.
    if sentence.endswith((":", "：")) or (_VALUE.search(sentence, 1) is None and not names_who_acts(sentence)):
        return False
    if _CODE.match(sentence) or _LISTING.match(sentence):
        return False
    if _SAYS_OF.search(sentence):
        return True
    if _WRITTEN_VALUE.search(sentence) and (CHANGING.is_in(sentence) or _SAYS_A_NUMBER_OF.search(sentence)):
        return True
    return declares(sentence) and not (asks_to_be_told(sentence) or is_small_talk(sentence))


def only_asks(sentence: str) -> bool:
    """Whether a sentence only asks, thanks, or tells to go on, so that nothing is lost with it once it was answered."""
    return is_question(sentence) or is_small_talk(sentence) or asks_to_be_told(sentence)


def is_permission(sentence: str) -> bool:
    """Whether a sentence of the user says that something may be done from now on, as one that takes back a rule does."""
    return LIFTING.is_in(sentence) and CHANGING.is_in(sentence) and not FORBIDS.search(LIFTING.taken_out_of(sentence))


def is_decision(sentence: str) -> bool:
    """Whether a sentence says what was chosen; not when it only introduces what follows."""
    if not _stands_alone(sentence) or not DECIDING.is_in(sentence) or _COURTESY.search(sentence):
        return False
    if UNDECIDED.is_in(DECIDING.until(sentence)):
        return False
    return _WITH_REASON.search(sentence) is not None or _NEXT_LOOK.search(sentence) is None


def is_finding(sentence: str) -> bool:
    """Whether a sentence of the assistant says what turned out, and says it of something that has a name or number."""
    concludes = CONCLUDING.is_in(sentence)
    if not (concludes or names_severity(sentence)) or not _stands_alone(sentence) or _VALUE.search(sentence, 1) is None:
        return False
    if concludes and UNDECIDED.is_in(CONCLUDING.until(sentence)):
        return False
    return not (_TABLE.search(sentence) or _LISTING.match(sentence))


def says_what_is_left(sentence: str) -> bool:
    """Whether a sentence says what comes next or remains."""
    return _stands_alone(sentence) and REMAINING.is_in(sentence)


def without_lead_in(sentence: str, holds: Callable[[str], bool]) -> str:
    """A sentence in brief: without its LABEL:, and without a few words before a colon when the rest ``holds`` by itself."""
    unlabelled = LABEL.sub("", sentence)
    rest = subject_and_verb(sentence)
    rest = _LEAD_IN.sub("", unlabelled, count=1) if rest == unlabelled else rest
    return rest if holds(rest) else unlabelled


def subject_and_verb(sentence: str) -> str:
    """A sentence without its LABEL: and without *Note:*, *Korrektur:* or the like, which are no subject of it."""
    return _CALL_TO_ATTENTION.sub("", LABEL.sub("", sentence), count=1)


def _stands_alone(sentence: str) -> bool:
    # In bytes, since a sign of a script without blanks says about as much as three letters.
    return len(sentence.encode(errors="replace")) >= 12 and not sentence.endswith((":", "："))
