"""Facts of what was said: requests, rules, values, decisions, questions, and which of them a later message closes."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Final

from sessionstore.domain.ledger import sentences
from sessionstore.domain.ledger.collector import FactCollector
from sessionstore.domain.ledger.deeds import DeedReader
from sessionstore.domain.ledger.entry import Source
from sessionstore.domain.ledger.languages import CORRECTING
from sessionstore.domain.ledger.references import NAMES, Reference, paths_in, references_in
from sessionstore.domain.ledger.severe_lines import is_pasted_error
from sessionstore.domain.ledger.small_talk import is_bare_answer, is_small_talk
from sessionstore.domain.ledger.takeover import kinds_of_values
from sessionstore.domain.ledger.taking_back import takes_back
from sessionstore.domain.notices import without_caveats, without_notices
from sessionstore.domain.redaction import redact
from sessionstore.domain.transcript import Entry

MAX_REQUEST: Final = 4_000
"""Characters of a request that the ledger quotes; about 1,000 tokens. The rest stands at its seq."""
_MAX_ANSWER: Final = 300
_MAX_CONCLUSIONS: Final = 6
_CORRECTION: Final = 400
"""Characters of a message in which it says that it is a correction."""
_NEARLY_ALL: Final = 0.8
_MUCH_LIKE: Final = 0.6
_SHORT_INSTRUCTION: Final = 600
"""Characters up to which everything that an instruction says is a rule; a longer one is a document."""


def read_request(entry: Entry, collector: FactCollector, reader: DeedReader, *, before: Entry | None = None) -> list[str]:
    """Note a message of role user: its request, and what its sentences bind, state or ask.

    ``before`` is the assistant's message that it may answer; a mere yes or no is kept as the answer to what stands there.
    Gives the sentences of a person.
    """
    seq = entry.written_seq
    injected = not entry.is_request
    if injected:
        reader.places.announce(entry.view.text)
    text = redact((entry.view.text if injected else entry.spoken).strip()) or "[image]"
    source: Source = "bulk" if injected else "user"
    shown = text if len(text) <= MAX_REQUEST else f"{text[:MAX_REQUEST]}… [{len(text) - MAX_REQUEST:,} more characters: #{seq}]"
    said = list(sentences.sentences_of(without_caveats(text) if injected else text))
    about = "injected" if injected else "asks" if _only_asks(said, text) else ""
    collector.add("request", str(seq), shown, seq, source=source, about=about)
    close_answered(entry, collector, final=False)
    if before is not None and source == "user" and is_bare_answer(said):
        _note_answer(text, seq, before, collector)
    for sentence in said:
        if is_pasted_error(sentence):
            reader.errors.note(sentence, "the user's message", seq, source=source)
        elif sentences.is_question(sentence):
            if source == "user":
                collector.add("question", sentence, sentence, seq, source=source)
        elif sentences.is_constraint(sentence) or (source == "user" and _takes_back_any(sentence, collector)):
            collector.add("constraint", sentence, sentence, seq, source=source)
        elif source == "user" and sentences.is_decision(sentence):
            collector.add("decision", sentence, sentence, seq, source=source)
        elif source == "user" and sentences.is_statement(sentence):
            collector.add("statement", sentence, sentence, seq, source=source)
    if not injected:
        close_fixed(said, seq, reader)
    _note_references(text, seq, source, collector)
    return [] if injected else said


def _only_asks(said: Sequence[str], text: str) -> bool:
    """Whether a message asks or thanks and says no more: what is no sentence, as code, counts for more than that."""
    return sum(map(len, said)) >= _NEARLY_ALL * len(text) and all(map(sentences.only_asks, said))


def _note_answer(text: str, seq: int, before: Entry, collector: FactCollector) -> None:
    """Note what a yes or no answers, unless a question was asked: the last thing that the assistant said."""
    asked = before.written_seq
    if any(question.last_seq == asked and question.source == "assistant" for question in collector.of_kind("question")):
        return
    proposed = [said for said in sentences.sentences_of(redact(before.view.text.strip())) if not is_small_talk(said)]
    if proposed:
        question = collector.add("question", proposed[-1], proposed[-1], asked, source="assistant")
        collector.close(question, seq, text[:_MAX_ANSWER])


def read_instruction(entry: Entry, collector: FactCollector) -> None:
    """Note what a message in the system's or developer's voice asks: all of a short one, the rules of a long one."""
    seq = entry.written_seq
    text = redact(without_notices(entry.view.text).strip())
    is_short = len(text) <= _SHORT_INSTRUCTION
    for sentence in sentences.sentences_of(text):
        if is_short or sentences.is_constraint(sentence):
            collector.add("constraint", sentence, sentence, seq, source="user")
    _note_references(text, seq, "user" if is_short else "bulk", collector)


def _takes_back_any(sentence: str, collector: FactCollector) -> bool:
    if not sentences.is_permission(sentence):
        return False
    rules = (rule for rule in collector.of_kind("constraint") if rule.closed_by is None and rule.source == "user")
    return any(takes_back(sentence, rule.text) for rule in rules)


def read_answer(entry: Entry, collector: FactCollector, reader: DeedReader, *, final: bool) -> None:
    """Note what an answer of the assistant decides and concludes; one that is ``final`` also what it asks and leaves."""
    seq = entry.written_seq
    text = redact(entry.view.text.strip())
    close_answered(entry, collector, final=final)
    conclusions = 0
    said = list(sentences.sentences_of(text))
    close_fixed(said, seq, reader)
    for sentence in said:
        if sentences.is_question(sentence):
            if final:
                collector.add("question", sentence, sentence, seq, source="assistant")
        elif final and sentences.says_what_is_left(sentence):
            collector.add("next", sentence, sentence, seq, source="assistant")
        elif conclusions < _MAX_CONCLUSIONS and sentences.is_decision(sentence):
            collector.add("decision", sentence, sentence, seq, source="assistant")
            conclusions += 1
        elif conclusions < _MAX_CONCLUSIONS and sentences.is_finding(sentence):
            collector.add("finding", sentence, sentence, seq, source="assistant")
            conclusions += 1
    _note_references(text, seq, "assistant", collector)


def close_answered(entry: Entry, collector: FactCollector, *, final: bool) -> None:
    """Close what a message answers: the model's questions by the next request, requests by the text that ends a turn."""
    seq = entry.written_seq
    if entry.is_request:
        for question in collector.of_kind("question"):
            if question.source == "assistant" and question.closed_by is None and question.last_seq < seq:
                collector.close(question, seq, _answer_in(redact(entry.view.text.strip())))
    elif final and entry.view.role == "assistant" and entry.kind == "message" and entry.view.text.strip():
        lead = " ".join(redact(entry.view.text.strip())[: 4 * _MAX_ANSWER].split())
        lead = lead if len(lead) <= _MAX_ANSWER else f"{lead[:_MAX_ANSWER]}…"
        for asked in collector.of_kind("request", "question"):
            if asked.source != "assistant" and asked.closed_by is None and asked.last_seq < seq:
                collector.close(asked, seq, lead)
        for left in collector.of_kind("next"):
            if left.last_seq < seq:
                collector.close(left, seq)


def _answer_in(text: str) -> str:
    """What a request answers to the model's question; empty when it asks something itself and says no more."""
    said = list(sentences.sentences_of(text))
    asks = any(map(sentences.is_question, said)) and _only_asks(said, text)
    return "" if asks and not is_bare_answer(said[:1]) else text[:_MAX_ANSWER] or "[image]"


def _note_references(text: str, seq: int, source: Source, collector: FactCollector) -> None:
    corrects = source == "user" and CORRECTING.is_in(text[:_CORRECTION])
    for found in (*references_in(text), *paths_in(text)):
        if corrects:
            _close_corrected(found, text, seq, collector)
        key = f"{found.form}:{found.text}" if found.form != "number" else f"number:{found.context.rstrip()} {found.text}"
        shown = f"{found.context}{found.text}".strip() if found.form in ("number", "port") else found.text
        collector.add("reference", key, shown, seq, source=source, about=found.form)


def _close_corrected(found: Reference, text: str, seq: int, collector: FactCollector) -> None:
    """Close what a correction gives anew: a name written much like it, or a value of its kind in the user's last message."""
    last = max((asked.last_seq for asked in collector.of_kind("request") if asked.last_seq < seq), default=-1)
    before = [fact for fact in collector.of_kind("reference", "statement") if fact.source == "user"]
    before = [fact for fact in before if fact.last_seq < seq and fact.closed_by is None]
    if found.form in NAMES:
        alike = [fact for fact in before if fact.about == found.form and fact.text not in text]
        newest = max(alike, key=lambda fact: fact.last_seq, default=None)
        if newest and SequenceMatcher(None, newest.text, found.text, autojunk=False).ratio() >= _MUCH_LIKE:
            collector.close(newest, seq)
        return
    kinds = kinds_of_values(found.text).keys()
    recent = [fact for fact in before if fact.last_seq == last and kinds_of_values(fact.text).keys() & kinds]
    for kind in ("reference", "statement"):
        same = [fact for fact in recent if fact.kind == kind]
        # Of several that may be meant none is taken.
        if len(same) == 1:
            collector.close(same[0], seq)


def close_fixed(said: Iterable[str], seq: int, reader: DeedReader) -> None:
    """Close the errors of which a sentence says that they are fixed."""
    for sentence in said:
        if not sentences.is_question(sentence):
            reader.errors.close_said(sentence, seq)
