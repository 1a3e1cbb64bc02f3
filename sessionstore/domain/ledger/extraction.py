"""From messages to facts: one pass over a transcript that notes what was asked, said, done and found."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from sessionstore.domain.ledger import deeds, sentences
from sessionstore.domain.ledger.collector import FactCollector
from sessionstore.domain.ledger.entry import EMPTY_LEDGER, Ledger, LedgerEntry, Source
from sessionstore.domain.ledger.languages import CORRECTING
from sessionstore.domain.ledger.references import NAMES, Reference, references_in
from sessionstore.domain.ledger.supersession import superseded
from sessionstore.domain.ledger.takeover import kinds_of_values
from sessionstore.domain.ledger.taking_back import takes_back
from sessionstore.domain.notices import without_notices
from sessionstore.domain.redaction import redact
from sessionstore.domain.transcript import Entry, PairedCall, pair_calls

MAX_REQUEST: Final = 4_000
"""Characters of a request that the ledger quotes; about 1,000 tokens. The rest stands at its seq."""
_MAX_ANSWER: Final = 300
_MAX_CONCLUSIONS: Final = 6
_CORRECTION: Final = 400
"""Characters of a message in which it says that it is a correction."""
_MUCH_LIKE: Final = 0.6


def extract_ledger(
    entries: Sequence[Entry], *, previous: Ledger = EMPTY_LEDGER, following: Sequence[Entry] = ()
) -> Ledger:
    """The facts of these messages merged into those of a previous ledger, of which nothing is lost.

    ``entries`` may come in any order and may overlap with what ``previous`` has seen: facts are told apart by kind, key and
    seq, so reading a message again adds nothing. Summaries are skipped, their facts are in ``previous``. A rendition counts
    under its ``origin_seq``, unless the message itself is there or was read before. Secrets are redacted before a text is kept.
    Of ``following``, the messages behind them that stay as they are, it is only read what they answer and what they replace.
    Of very long texts only the two ends are read: 40,000 characters of what a person or the model wrote, 16,000 of an output.
    """
    collector = FactCollector(previous)
    ordered = _to_read(entries, previous)
    calls: dict[int, list[PairedCall]] = {}
    for paired in pair_calls(ordered).calls:
        calls.setdefault(paired.call_index, []).append(paired)
    reader = deeds.DeedReader(collector)
    for index, entry in enumerate(ordered):
        if entry.is_request or (entry.view.role == "user" and entry.view.text.strip()):
            _read_request(entry, collector)
        elif entry.view.role == "assistant" and entry.view.text.strip():
            _read_answer(entry, collector, final=_is_final(ordered, index))
        for paired in calls.get(index, ()):
            result_seq = None if paired.result_index is None else seq_of(ordered[paired.result_index])
            reader.read(paired.call, paired.result, seq_of(entry), result_seq)
    for index, entry in enumerate(following):
        _close_answered(entry, collector, final=_is_final(following, index))
    _close_superseded(collector, following)
    return collector.ledger()


def seq_of(entry: Entry) -> int:
    """The seq under which a row's facts are known: that of the message it renders, else its own."""
    return entry.seq if entry.origin_seq is None else entry.origin_seq


def _to_read(entries: Sequence[Entry], previous: Ledger) -> list[Entry]:
    seen = {entry.seq for entry in entries if entry.kind == "message"}
    if any(entry.kind == "rendition" for entry in entries):
        seen.update(seq for fact in previous.entries for seq in fact.seqs)
    readable = [
        entry for entry in entries
        if entry.kind == "message" or (entry.kind == "rendition" and seq_of(entry) not in seen)
    ]
    return sorted(readable, key=seq_of)


def _is_final(ordered: Sequence[Entry], index: int) -> bool:
    """Whether an assistant's text ends its turn: neither it nor what follows before somebody else speaks calls a tool."""
    if ordered[index].view.calls:
        return False
    for entry in ordered[index + 1:]:
        view = entry.view
        if view.role != "assistant":
            return view.role != "tool"
        if view.calls:
            return False
        if view.text.strip():
            return False
    return True


def _read_request(entry: Entry, collector: FactCollector) -> None:
    seq = seq_of(entry)
    injected = not entry.is_request
    text = redact((entry.view.text if injected else without_notices(entry.view.text)).strip()) or "[image]"
    source: Source = "bulk" if injected else "user"
    shown = text if len(text) <= MAX_REQUEST else f"{text[:MAX_REQUEST]}… [{len(text) - MAX_REQUEST:,} more characters: #{seq}]"
    collector.add("request", str(seq), shown, seq, source=source, about="injected" if injected else "")
    _close_answered(entry, collector, final=False)
    for sentence in sentences.sentences_of(text):
        if sentences.is_pasted_error(sentence):
            collector.add("error", sentence, sentence, seq, source=source, about="the user's message")
        elif sentences.is_question(sentence):
            if source == "user":
                collector.add("question", sentence, sentence, seq, source=source)
        elif sentences.is_constraint(sentence) or (source == "user" and _takes_back_any(sentence, collector)):
            collector.add("constraint", sentence, sentence, seq, source=source)
        elif source == "user" and sentences.is_decision(sentence):
            collector.add("decision", sentence, sentence, seq, source=source)
        elif source == "user" and sentences.is_statement(sentence):
            collector.add("statement", sentence, sentence, seq, source=source)
    _note_references(text, seq, source, collector)


def _takes_back_any(sentence: str, collector: FactCollector) -> bool:
    if not sentences.is_permission(sentence):
        return False
    rules = (rule for rule in collector.of_kind("constraint") if rule.closed_by is None and rule.source == "user")
    return any(takes_back(sentence, rule.text) for rule in rules)


def _read_answer(entry: Entry, collector: FactCollector, *, final: bool) -> None:
    seq = seq_of(entry)
    text = redact(entry.view.text.strip())
    _close_answered(entry, collector, final=final)
    conclusions = 0
    for sentence in sentences.sentences_of(text):
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


def _close_answered(entry: Entry, collector: FactCollector, *, final: bool) -> None:
    """Close what a message answers: the model's questions by the next request, requests by the text that ends a turn."""
    seq = seq_of(entry)
    if entry.is_request:
        for question in collector.of_kind("question"):
            if question.source == "assistant" and question.closed_by is None and question.last_seq < seq:
                collector.close(question, seq, redact(entry.view.text.strip())[:_MAX_ANSWER] or "[image]")
    elif final and entry.view.role == "assistant" and entry.kind == "message" and entry.view.text.strip():
        lead = " ".join(redact(entry.view.text.strip())[: 4 * _MAX_ANSWER].split())
        lead = lead if len(lead) <= _MAX_ANSWER else f"{lead[:_MAX_ANSWER]}…"
        for asked in collector.of_kind("request", "question"):
            if asked.source != "assistant" and asked.closed_by is None and asked.last_seq < seq:
                collector.close(asked, seq, lead)
        for left in collector.of_kind("next"):
            if left.last_seq < seq:
                collector.close(left, seq)


def _note_references(text: str, seq: int, source: Source, collector: FactCollector) -> None:
    corrects = source == "user" and CORRECTING.is_in(text[:_CORRECTION])
    for found in references_in(text):
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


def _close_superseded(collector: FactCollector, following: Sequence[Entry]) -> None:
    facts = [fact for fact in collector.of_kind("constraint", "statement") if fact.source == "user" and fact.closed_by is None]
    replaced = superseded([*facts, *_said_later(following)])
    for fact in facts:
        if fact.key in replaced:
            collector.close(fact, replaced[fact.key])


def _said_later(following: Sequence[Entry]) -> Iterator[LedgerEntry]:
    """The sentences of requests that stay in the context, which may give anew what an earlier one said."""
    for entry in following:
        for sentence in sentences.sentences_of(redact(entry.view.text)) if entry.is_request else ():
            says = sentences.is_constraint(sentence) or sentences.is_permission(sentence) or sentences.is_statement(sentence)
            if says and not sentences.is_question(sentence):
                yield LedgerEntry("statement", f"#{seq_of(entry)} {sentence}", sentence, (seq_of(entry),))
