"""From messages to facts: one pass over a transcript that notes what was asked, said, done and found."""
from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from sessionstore.domain.ledger import sentences
from sessionstore.domain.ledger.awaited_calls import OpenCalls, as_call
from sessionstore.domain.ledger.collector import FactCollector
from sessionstore.domain.ledger.deeds import DeedReader
from sessionstore.domain.ledger.entry import EMPTY_LEDGER, Ledger, LedgerEntry
from sessionstore.domain.ledger.speech import close_answered, close_fixed, read_answer, read_instruction, read_request
from sessionstore.domain.ledger.supersession import superseded
from sessionstore.domain.ledger.updates import MOST_COMPARED, Said, find_updates, may_change, surely_changes
from sessionstore.domain.redaction import redact
from sessionstore.domain.rules.instructions import is_instruction
from sessionstore.domain.transcript import Entry, PairedCall, ToolResult, pair_calls

_Readings = Sequence[Sequence[Said]]
"""The ways to read a message that may change something: its sentences, and all of it as one."""
_SHORT_MESSAGE: Final = 300
"""Characters up to which a message is read as one statement."""


def extract_ledger(
    entries: Sequence[Entry], *, previous: Ledger = EMPTY_LEDGER, following: Sequence[Entry] = ()
) -> Ledger:
    """The facts of these messages merged into those of a previous ledger, of which nothing is lost.

    ``entries`` may come in any order and may overlap with what ``previous`` has seen: facts are told apart by kind, key and
    seq, so reading a message again adds nothing. Summaries are skipped, their facts are in ``previous``. A rendition counts
    under its ``origin_seq``, unless the message itself is there or was read before. Secrets are redacted before a text is kept.
    Of ``following``, the messages behind them that stay as they are, it is only read what they answer, close and replace.
    A call without a result is remembered, and its facts are completed when a later generation has the result.
    Of very long texts only the two ends are read: 40,000 characters of what a person or the model wrote, 16,000 of an output.
    """
    collector = FactCollector(previous)
    ordered = _to_read(entries, previous)
    pairing = pair_calls(ordered)
    calls: dict[int, list[PairedCall]] = {}
    for paired in pairing.calls:
        calls.setdefault(paired.call_index, []).append(paired)
    late: dict[int, list[ToolResult]] = {}
    for index, result in pairing.orphans:
        late.setdefault(index, []).append(result)
    waiting = OpenCalls(previous.open_calls)
    reader = DeedReader(collector, previous)
    before: Entry | None = None
    news: list[_Readings] = []
    for index, entry in enumerate(ordered):
        for result in late.get(index, ()):
            _read_late(result, entry.written_seq, waiting, reader)
        if entry.is_request or (entry.view.role == "user" and entry.view.text.strip()):
            news += _readings(entry.written_seq, read_request(entry, collector, reader, before=before))
            before = None
        elif entry.view.role == "assistant" and entry.view.text.strip():
            read_answer(entry, collector, reader, final=_is_final(ordered, index))
            before = entry
        elif is_instruction(entry):
            read_instruction(entry, collector)
        for paired in calls.get(index, ()):
            if paired.result_index is None:
                waiting.note(paired.call, entry.written_seq)
                reader.read(paired.call, None, entry.written_seq, None)
            else:
                waiting.forget(paired.call, entry.written_seq)
                reader.read(paired.call, paired.result, entry.written_seq, ordered[paired.result_index].written_seq)
    _read_following(following, collector, waiting, reader)
    _close_superseded(collector, following)
    for entry in following:
        news += _readings(entry.written_seq, list(sentences.sentences_of(redact(entry.spoken))) if entry.is_request else ())
    _link_updates(collector, news, len(ordered), staying={entry.written_seq for entry in following})
    return Ledger(collector.entries(), waiting.newest(), reader.places.directory, reader.running)


def _read_late(result: ToolResult, seq: int, waiting: OpenCalls, reader: DeedReader) -> None:
    """Read a result whose call is not there, if the call is remembered from before."""
    found = waiting.take(result, seq)
    if found is not None:
        reader.read(as_call(found), result, found.seq, seq)


def _read_following(
    following: Sequence[Entry], collector: FactCollector, waiting: OpenCalls, reader: DeedReader
) -> None:
    """Note what the messages that stay answer, and which errors they close; a late result, which no model is sent, is read."""
    pairing = pair_calls(following)
    for index, result in pairing.orphans:
        _read_late(result, following[index].written_seq, waiting, reader)
    ended: dict[int, list[PairedCall]] = {}
    for paired in pairing.calls:
        if paired.result_index is not None:
            ended.setdefault(paired.result_index, []).append(paired)
    for index, entry in enumerate(following):
        close_answered(entry, collector, final=_is_final(following, index))
        if entry.is_request or entry.view.role == "assistant":
            close_fixed(sentences.sentences_of(redact(entry.view.text.strip())), entry.written_seq, reader)
        for paired in ended.get(index, ()):
            if paired.result is not None:
                reader.follow(paired.call, paired.result, entry.written_seq)


def _to_read(entries: Sequence[Entry], previous: Ledger) -> list[Entry]:
    seen = {entry.seq for entry in entries if entry.kind == "message"}
    if any(entry.kind == "rendition" for entry in entries):
        seen.update(seq for fact in previous.entries for seq in fact.seqs)
    readable = [
        entry for entry in entries
        if entry.kind == "message" or (entry.kind == "rendition" and entry.written_seq not in seen)
    ]
    return sorted(readable, key=lambda entry: entry.written_seq)


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


def _close_superseded(collector: FactCollector, following: Sequence[Entry]) -> None:
    facts = [fact for fact in collector.of_kind("constraint", "statement") if fact.source == "user" and fact.closed_by is None]
    replaced = superseded([*facts, *_said_later(following)])
    for fact in facts:
        if fact.key in replaced:
            collector.close(fact, replaced[fact.key])


def _link_updates(collector: FactCollector, news: Sequence[_Readings], read: int, *, staying: Collection[int]) -> None:
    """Mark what a message of the user changes in its own words: gone where only a value was new, else with what changed it.

    ``read`` is how many messages were read, ``staying`` the seqs of those that stay behind the summary.
    """
    if not news:
        return
    said_by_user = [fact for fact in collector.of_kind("constraint", "statement", "decision") if fact.source == "user"]
    # A message that was read before, when it stood behind a summary, has changed what it changes.
    heard = {fact.closed_by for fact in said_by_user}
    news = [message for message in news if message[0][0].seq not in heard]
    facts = {(fact.text, fact.last_seq): fact for fact in said_by_user}
    olds = [Said(*said) for said, fact in facts.items() if fact.closed_by is None]
    # Of older requests none would be compared.
    for asked in collector.of_kind("request")[-(MOST_COMPARED + read) :]:
        if asked.source == "user" and len(asked.text) <= _SHORT_MESSAGE:
            told = ((text, asked.last_seq) for text in sentences.sentences_of(asked.text))
            olds += [Said(*said) for said in told if said not in facts]
    for update in find_updates(sorted(olds, key=lambda said: said.seq), news):
        old, new = update.old, update.new
        fact = facts.get((old.text, old.seq)) or collector.add("statement", old.text, old.text, old.seq, source="user")
        collector.close(fact, new.seq, "" if update.whole else new.text)
        known = any(collector.get(kind, new.text) is not None for kind in ("constraint", "decision"))
        if new.seq not in staying and not known:
            collector.add("statement", new.text, new.text, new.seq, source="user")


def _readings(seq: int, said: Sequence[str]) -> list[_Readings]:
    """What the user said that may change something, if any: the sentences that may, and a short message of several as one."""
    changing = [one for one in said if may_change(one)]
    if not changing:
        return []
    readings = [[Said(one, seq) for one in changing if not sentences.is_question(one)]]
    whole = " ".join(" ".join(said).split())
    if len(said) > 1 and len(whole) <= _SHORT_MESSAGE and surely_changes(whole):
        readings.append([Said(whole, seq)])
    kept = [reading for reading in readings if reading]
    return [kept] if kept else []


def _said_later(following: Sequence[Entry]) -> Iterator[LedgerEntry]:
    """The sentences of requests that stay in the context, which may give anew what an earlier one said."""
    for entry in following:
        for sentence in sentences.sentences_of(redact(entry.view.text)) if entry.is_request else ():
            says = sentences.is_constraint(sentence) or sentences.is_permission(sentence) or sentences.is_statement(sentence)
            if says and not sentences.is_question(sentence):
                yield LedgerEntry("statement", f"#{entry.written_seq} {sentence}", sentence, (entry.written_seq,))
