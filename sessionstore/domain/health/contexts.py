"""A context lists rows that are there, each once, one summary at most; its cursor is its length (FLUSH-1, LIN-2, NEST-1)."""
from __future__ import annotations

from collections.abc import Iterator

from sessionstore.domain.health.evidence import Evidence, set_session
from sessionstore.domain.health.finding import Diagnosis
from sessionstore.domain.records import SessionRecord
from sessionstore.domain.spans import count_of, holds


def check_contexts(evidence: Evidence) -> Iterator[Diagnosis]:
    """Every generation's spans, and what counts or names rows of them."""
    for session in evidence.sessions:
        broken = list(_spans(evidence, session))
        yield from broken
        yield from _summaries(evidence, session)
        if not broken:
            yield from _cursor(evidence, session)
        yield from _meter(evidence, session)
        if session.system_prompt_digest is not None and session.system_prompt_digest not in evidence.prompts:
            yield evidence.diagnosis(
                "prompt_missing",
                f"the system prompt {session.system_prompt_digest} of {session.session_id} is not there",
                generation=session.generation,
            )


def _spans(evidence: Evidence, session: SessionRecord) -> Iterator[Diagnosis]:
    stored = evidence.spans.get(session.generation, ())
    opened = [index for index, span in enumerate(stored) if span.last is None]
    if opened != [len(stored) - 1]:
        yield evidence.diagnosis(
            "span_outside_log",
            f"the context of {session.session_id} does not end in one open span",
            generation=session.generation,
        )
    elif stored[-1].first != session.start_seq:
        yield evidence.diagnosis(
            "span_outside_log",
            f"the own messages of {session.session_id} begin at #{session.start_seq}, its open span at #{stored[-1].first}",
            generation=session.generation,
            seq=stored[-1].first,
        )
    for span in stored:
        last = session.next_seq - 1 if span.last is None else span.last
        if span.first < 0 or last >= session.next_seq or last >= evidence.end or (span.last is not None and last < span.first):
            yield evidence.diagnosis(
                "span_outside_log",
                f"the context of {session.session_id} lists #{span.first} to #{last}, its log ends at "
                f"#{min(session.next_seq, evidence.end) - 1}",
                generation=session.generation,
                seq=span.first,
            )
    behind = -1
    for first, last in sorted(evidence.context(session)):
        if first <= behind:
            yield evidence.diagnosis(
                "row_twice_in_context",
                f"the context of {session.session_id} lists #{first} twice",
                generation=session.generation,
                seq=first,
            )
        behind = max(behind, last)


def _summaries(evidence: Evidence, session: SessionRecord) -> Iterator[Diagnosis]:
    context = evidence.context(session)
    found = [row.seq for row in evidence.derived if row.kind == "summary" and holds(context, row.seq)]
    if len(found) > 1:
        listed = ", ".join(f"#{seq}" for seq in found)
        yield evidence.diagnosis(
            "two_summaries",
            f"the context of {session.session_id} holds {len(found)} summaries ({listed})",
            generation=session.generation,
            seq=found[-1],
        )


def _cursor(evidence: Evidence, session: SessionRecord) -> Iterator[Diagnosis]:
    length = count_of(evidence.context(session))
    digest = evidence.tail_digests.get(session.generation, session.tail_digest)
    if session.flush_cursor != length:
        yield evidence.diagnosis(
            "cursor_outside_context",
            f"the flush cursor of {session.session_id} is {session.flush_cursor}, its context has {length} messages",
            set_session(session.generation, flush_cursor=length, tail_digest=digest),
            generation=session.generation,
        )
    elif session.tail_digest != digest:
        yield evidence.diagnosis(
            "tail_digest_stale",
            f"the digest of the last message of {session.session_id} is another one than is stored",
            set_session(session.generation, tail_digest=digest),
            generation=session.generation,
        )


def _meter(evidence: Evidence, session: SessionRecord) -> Iterator[Diagnosis]:
    measured = {
        "usage": session.usage_seq,
        "context_tokens": session.context_tokens_seq,
    }
    for name, seq in measured.items():
        if seq is None or seq <= session.next_seq:
            continue
        cleared = (
            {"usage_prompt": None, "usage_completion": None, "usage_seq": None}
            if name == "usage"
            else {"context_tokens": None, "context_tokens_method": None, "context_tokens_seq": None}
        )
        yield evidence.diagnosis(
            "meter_ahead",
            f"{name} of {session.session_id} was measured up to #{seq}, its log ends at #{session.next_seq - 1}",
            set_session(session.generation, **cleared),
            generation=session.generation,
            seq=seq,
        )
