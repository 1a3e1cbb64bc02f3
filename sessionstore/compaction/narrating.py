"""Getting notes out of one summariser: history in pieces that fit it, each answer checked, what is untrue taken out."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sessionstore.compaction.snapshot import Snapshot
from sessionstore.domain.continuation_prompt import CONTINUATION_VERSION, continuation_of, join_answers
from sessionstore.domain.grounding import ground_notes
from sessionstore.domain.history_text import SMALLEST_CHUNK, HistoryChunk, chunk_history
from sessionstore.domain.plan import CompactionPlan
from sessionstore.domain.policy import UNKNOWN_WINDOW
from sessionstore.domain.summarizing import (
    Summarizer,
    SummaryAnswer,
    SummaryRequest,
    input_limit_of,
    name_of,
    window_of,
)
from sessionstore.domain.summary import previous_body
from sessionstore.domain.summary_check import check_answer, clean_answer
from sessionstore.domain.summary_prompt import INSTRUCTIONS, PROMPT_VERSION, InputRoom, build_request, plan_room
from sessionstore.domain.summary_report import FailedSummarizer, SummaryReport, report_on
from sessionstore.domain.token_counter import TokenCounter
from sessionstore.domain.transcript import Entry
from sessionstore.errors import SummarizerError
from sessionstore.operations.steps import Steps, call, call_stranger
from sessionstore.summarizers import answer_of, put_question, typed_failures

_MOST_SHRINKS: Final = 5
"""How often the pieces are halved for a model that says they are too long: from 128,000 tokens down to 4,000."""
_LEAST_ANSWER: Final = 512
"""Tokens of an answer that shrinking leaves."""
_MOST_INVENTED: Final = 0.5
"""Part of the sentences above which what is left is not worth having."""


@dataclass(frozen=True, slots=True)
class SummaryFailure:
    """No summary was had: ``kind`` is one word, of the last one asked, ``reason`` a sentence, ``failed`` who was asked."""

    kind: str
    reason: str
    failed: tuple[FailedSummarizer, ...] = ()


@dataclass(frozen=True, slots=True)
class Narrative:
    """What a summariser told that can be used: its notes, which words it was asked with, what it cost, and how good it was."""

    text: str
    prompt_version: str
    usage: Mapping[str, Any] | None
    report: SummaryReport


@dataclass(frozen=True, slots=True)
class Telling:
    """What a summariser is to be told: messages, the facts per heading, the latest request, the focus, and where it belongs.

    ``languages`` are those that the user writes, anywhere in the context.
    """

    entries: Sequence[Entry]
    facts: Mapping[str, str]
    active: Entry | None
    languages: frozenset[str]
    focus: str | None
    snapshot: Snapshot
    plan: CompactionPlan
    counter: TokenCounter

    @property
    def requests(self) -> tuple[str, ...]:
        """What the user wrote in it, in order."""
        return tuple(entry.spoken for entry in self.entries if entry.is_request)


@dataclass(slots=True)
class _Record:
    """What happened while a summariser was asked."""

    questions: int = 0
    versions: dict[str, None] = field(default_factory=lambda: {PROMPT_VERSION: None})
    usages: list[Mapping[str, Any]] = field(default_factory=list)
    shrunk: bool = False

    @property
    def continued(self) -> bool:
        return CONTINUATION_VERSION in self.versions


def narrate(summarizer: Summarizer, telling: Telling) -> Steps[Narrative | SummaryFailure]:
    """Ask the summariser for each piece of history, each time with what it said of the pieces before.

    A model that finds a piece too long gets smaller ones. The first answer that is no summary ends it.
    """
    previous = telling.snapshot.previous_summary
    record = _Record()
    # A summariser that doesn't say has a model of its own, which is not the small one of a small session.
    window = window_of(summarizer) or max(telling.plan.window, UNKNOWN_WINDOW)
    known = None if previous is None else previous_body(previous)
    try:
        room = yield from call(
            lambda: plan_room(
                window=window,
                budget_tokens=telling.plan.summary_budget,
                counter=telling.counter,
                previous=known,
                focus=telling.focus,
                input_tokens=input_limit_of(summarizer),
            )
        )
        chunks, answer = yield from _tell(summarizer, telling, room, known, window, record)
    except SummarizerError as error:
        return SummaryFailure(error.kind, f"{name_of(summarizer)}: {error.reason}")

    return (yield from _finished(answer, telling, chunks, record, name_of(summarizer)))


def _tell(
    summarizer: Summarizer, telling: Telling, room: InputRoom, known: str | None, window: int, record: _Record
) -> Steps[tuple[Sequence[HistoryChunk], str]]:
    """Ask for all pieces; where they are too long, once more for smaller ones, and so on."""
    for shrinks in range(_MOST_SHRINKS + 1):
        chunks = yield from call(_chunked(telling, room.history))
        try:
            return chunks, (yield from _tell_pieces(summarizer, telling, chunks, room, known, window, record))
        except SummarizerError as error:
            largest = max((telling.counter.count(chunk.text) for chunk in chunks), default=0)
            smaller = min(room.history, largest) // 2
            if error.kind != "context_too_long" or smaller < SMALLEST_CHUNK or shrinks == _MOST_SHRINKS:
                raise
            record.shrunk = True
            room = InputRoom(
                answer=max(min(room.answer, _LEAST_ANSWER), room.answer // 2),
                previous=max(min(room.previous, _LEAST_ANSWER), room.previous // 2),
                history=smaller,
            )
    raise AssertionError("the last round returns or raises")


def _chunked(telling: Telling, tokens: int) -> Any:
    return lambda: chunk_history(telling.entries, max_tokens=tokens, counter=telling.counter)


def _tell_pieces(
    summarizer: Summarizer,
    telling: Telling,
    chunks: Sequence[HistoryChunk],
    room: InputRoom,
    known: str | None,
    window: int,
    record: _Record,
) -> Steps[str]:
    """The notes on all pieces. Raises ``SummarizerError`` with the first that is no summary."""
    notes = known
    for part, chunk in enumerate(chunks, start=1):
        request = build_request(
            chunk,
            room=room,
            facts=telling.facts,
            counter=telling.counter,
            previous=notes,
            focus=telling.focus,
            part=part,
            parts=len(chunks),
        )
        answer = yield from _question(summarizer, request, record)
        failure = _checked(answer, chunk, telling)
        begun = clean_answer(answer.text)
        if failure == "truncated" and any(map(str.isalnum, begun)):
            more = continuation_of(request, begun)
            if telling.counter.count(more.prompt) + more.budget_tokens <= window:
                record.versions[CONTINUATION_VERSION] = None
                rest = yield from _question(summarizer, more, record)
                answer = replace(rest, text=join_answers(begun, clean_answer(rest.text)))
                failure = _checked(answer, chunk, telling)
        if failure is not None:
            which = "" if len(chunks) == 1 else f" for part {part} of {len(chunks)}"
            raise SummarizerError(f"what it answered{which} is no summary", kind=failure)
        notes = clean_answer(answer.text)
    return notes or ""


def _checked(answer: SummaryAnswer, chunk: HistoryChunk, telling: Telling) -> str | None:
    # A model may also give back the words that it was asked with.
    return check_answer(answer, history=f"{chunk.text}\n\n{INSTRUCTIONS}", requests=chunk.requests, languages=telling.languages)


def _question(summarizer: Summarizer, request: SummaryRequest, record: _Record) -> Steps[SummaryAnswer]:
    record.questions += 1
    # What goes wrong comes back through the step, also from an answer that was awaited there.
    with typed_failures():
        given = yield from call_stranger(lambda: put_question(summarizer, request))
    answer = answer_of(given)
    if answer.usage is not None:
        record.usages.append(answer.usage)
    if answer.form_version is not None:
        record.versions[answer.form_version] = None
    return answer


def _finished(
    answer: str, telling: Telling, chunks: Sequence[HistoryChunk], record: _Record, name: str
) -> Steps[Narrative | SummaryFailure]:
    earlier = (telling.snapshot.previous_summary or "", telling.focus or "")
    given = "\n".join([*(chunk.text for chunk in chunks), *earlier, *telling.facts.values()])
    grounded = yield from call(lambda: ground_notes(answer, known=given, newest_seq=telling.snapshot.watermark))
    if grounded.taken_out > _MOST_INVENTED * grounded.sentences or (grounded.taken_out and not grounded.text):
        kind = "injection" if 2 * grounded.orders > grounded.taken_out else "invented"
        return SummaryFailure(kind, f"{name}: {grounded.taken_out} of {grounded.sentences} sentences are not borne out")
    report = report_on(
        answer,
        grounded,
        facts=telling.facts,
        active=None if telling.active is None else telling.active.view.text,
        requests=telling.requests,
        questions=record.questions,
        continued=record.continued,
        shrunk=record.shrunk,
    )
    return Narrative(grounded.text, "+".join(record.versions), _sum_of(record.usages), report)


def _sum_of(usages: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The usage of several answers as one: numbers are added, the last other value stays."""
    if not usages:
        return None
    total: dict[str, Any] = {}
    for usage in usages:
        for key, value in usage.items():
            known = total.get(key, 0)
            number = isinstance(value, int | float) and isinstance(known, int | float)
            total[key] = known + value if number else value
    return total
