"""What was said as lines of a summary: requests, what binds, what was told, decided, found out and asked."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sessionstore.domain import sections
from sessionstore.domain.ledger.entry import LedgerEntry
from sessionstore.domain.ledger.fact_line import (
    BRIEF_LENGTH,
    FactLine,
    LedgerSight,
    answer_in_brief,
    quoted_text,
    shortened,
)
from sessionstore.domain.ledger.sentences import LABEL, is_constraint, is_decision, only_asks, sentences_of, without_lead_in
from sessionstore.domain.ledger.worth import answer_worth, request_worth, sentence_worth

_LONG_REQUEST: Final = 700
_SHORT_REQUEST: Final = 240
_ANSWER_SHOWN: Final = 120
_COVERED: Final = 0.6
_SENTENCE_BRIEF: Final = 200
_QUESTION_SHOWN: Final = 160


def request_line(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    """A message of the user: answered, without an answer, or put in the user's role by a harness."""
    if entry.last_seq == sight.active_seq:
        return None
    text = _remaining_text(entry, sight)
    if not text:
        return None
    first = entry.key == sight.first_request
    if entry.closed_by is not None and not first and sight.is_told_with_question(entry):
        return None
    repeats = sight.repeats.get(entry.text, [entry])
    if entry.closed_by is not None and entry.key != repeats[0].key:
        return None
    if entry.about == "injected":
        notice = f"In the user's role: {quoted_text(text, 120)}"
        return sight.line(entry, sections.CRITICAL_CONTEXT, notice, 12, "notices", group=9)
    if entry.closed_by is None:
        quoted = quoted_text(text, _LONG_REQUEST)
        return sight.line(entry, sections.PENDING_ASKS, quoted, 92, "requests without an answer")
    quoted = quoted_text(text, _LONG_REQUEST if first and not sight.brief else _SHORT_REQUEST)
    recent = entry.last_seq >= sight.recent_from
    if recent and entry.outcome:
        quoted += f" → {shortened(entry.outcome, _ANSWER_SHOWN)}"
    seqs = (*(repeat.last_seq for repeat in repeats), entry.closed_by)
    asks = entry.about == "asks"
    return sight.line(
        entry, sections.GOAL, quoted, 108 if first else 84 if recent else 36 if asks else 56, "answered requests",
        seqs=tuple(sorted(set(seqs))),
        brief=quoted_text(text, _SHORT_REQUEST if first else BRIEF_LENGTH),
        worth=request_worth(text, first=first and not sight.is_recited(entry), only_asks=asks),
    )


def _remaining_text(entry: LedgerEntry, sight: LedgerSight) -> str:
    """The request without sentences that a later one replaced; empty when it was answered and other lines say most of it."""
    text = entry.text
    said = 0
    for fact in sight.binding.get(entry.last_seq, ()):
        if fact.closed_by is not None:
            text = text.replace(fact.text, "")
        elif fact.text in text:
            said += len(fact.text)
    text = text.strip()
    if entry.closed_by is None or entry.key == sight.first_request:
        return text
    covered = said >= _COVERED * len(text) or (said and _is_all_said(text, sight.binding.get(entry.last_seq, ())))
    return "" if covered else text


def _is_all_said(text: str, facts: Iterable[LedgerEntry]) -> bool:
    """Whether a request has nothing beside the facts in it but questions and small talk."""
    for fact in facts:
        text = text.replace(fact.text, "\n")
    return all(map(only_asks, sentences_of(text)))


def constraint_line(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    """A sentence of the user that binds."""
    if entry.closed_by is not None:
        return _changed_line(entry, sight)
    score = 100.0 if entry.source == "user" else 46.0
    if sight.is_crowded(entry):
        score -= 40 if entry.source == "user" else 16
    worth = sentence_worth(entry, crowded=sight.is_crowded(entry), recited=sight.is_recited(entry))
    brief = without_lead_in(entry.text, is_constraint)
    return sight.line(entry, sections.CONSTRAINTS, sight.worded(entry.text), score, "constraints", brief=brief, worth=worth)


def statement_line(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    """A sentence of the user that gives a value."""
    if entry.closed_by is not None:
        return _changed_line(entry, sight)
    crowded = sight.is_crowded(entry)
    return sight.line(
        entry, sections.CRITICAL_CONTEXT, sight.worded(entry.text), 50.0 if crowded else 94.0, "facts the user gave",
        brief=LABEL.sub("", entry.text), worth=sentence_worth(entry, crowded=crowded, recited=sight.is_recited(entry)),
    )


def _changed_line(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    """A sentence together with the one that seems to change it; None where only the later one holds."""
    if not entry.outcome or entry.closed_by is None:
        return None
    text = f"{shortened(entry.text, _SENTENCE_BRIEF)} → later: {shortened(entry.outcome, _SENTENCE_BRIEF)}"
    section, score = (sections.CONSTRAINTS, 96.0) if entry.kind == "constraint" else (sections.CRITICAL_CONTEXT, 60.0)
    return sight.line(
        entry, section, text, score, "changed facts", group=2, seqs=(entry.last_seq, entry.closed_by),
        brief=text, worth=sentence_worth(entry), core=text,
    )


def finding_line(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    """A conclusion of the assistant."""
    brief = shortened(entry.text, _SENTENCE_BRIEF)
    worth = sentence_worth(entry)
    return sight.line(entry, sections.CRITICAL_CONTEXT, entry.text, 46, "findings", group=1, brief=brief, worth=worth)


def decision_line(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    """A choice with its reason."""
    if entry.closed_by is not None:
        return _changed_line(entry, sight)
    brief = shortened(without_lead_in(entry.text, is_decision), _SENTENCE_BRIEF)
    worth = sentence_worth(entry)
    return sight.line(entry, sections.KEY_DECISIONS, entry.text, 64, "decisions", brief=brief, worth=worth)


def question_line(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    """A question with its answer, or one that the user has not answered yet."""
    text = shortened(entry.text, _QUESTION_SHOWN)
    if entry.closed_by is not None:
        asked_user = entry.source == "assistant"
        if asked_user and not entry.outcome:
            return None
        answer = shortened(entry.outcome, _ANSWER_SHOWN)
        brief = answer_in_brief(text, answer)
        return sight.line(
            entry, sections.RESOLVED_QUESTIONS, f"{text} → {answer}", 46, "answered questions",
            seqs=(*entry.seqs, entry.closed_by), brief=brief, core=brief,
            worth=answer_worth(entry.text, entry.outcome, decides=asked_user),
        )
    if entry.source == "assistant":
        return sight.line(entry, sections.IN_PROGRESS, f"Asked the user, no answer yet: {text}", 76, "open questions", group=2)
    return None
