"""Calls and results of the tip's context that have no partner (PAIR-1 to PAIR-3): renderings mend them, a person may wonder."""
from __future__ import annotations

from collections.abc import Iterator, Sequence

from sessionstore.domain.health.evidence import CallRow, Evidence
from sessionstore.domain.health.finding import Diagnosis
from sessionstore.domain.spans import Span, holds, seqs_of
from sessionstore.domain.transcript import pair_calls


def doubtful_calls(context: Sequence[Span], rows: Sequence[CallRow]) -> list[int]:
    """The rows of a context whose bodies must be read to tell which calls are answered: none where the ids alone tell.

    They do where each id stands in exactly two rows, first in one of the assistant, then in one of somebody else.
    """
    roles: dict[str, list[str]] = {}
    inside = sorted((row for row in rows if holds(context, row.seq)), key=lambda row: _position(context, row.seq))
    for row in inside:
        for call_id in row.call_ids.split():
            roles.setdefault(call_id, []).append(row.role)
    plain = all(len(found) == 2 and found[0] == "assistant" != found[1] for found in roles.values())
    return [] if plain else [row.seq for row in inside]


def check_calls(evidence: Evidence) -> Iterator[Diagnosis]:
    """Unanswered calls that are not in flight, and results without a call."""
    tip = evidence.tip
    if tip is None or not evidence.calls:
        return
    context = evidence.context(tip)
    pairing = pair_calls(evidence.calls)
    for call in pairing.unanswered():
        entry = evidence.calls[call.call_index]
        if not _is_in_flight(evidence, context, call.call_index):
            yield evidence.diagnosis(
                "call_without_result",
                f"the call {call.call.call_id!r} in #{entry.seq} was never answered",
                generation=tip.generation,
                seq=entry.seq,
            )
    for index, result in pairing.orphans:
        seq = evidence.calls[index].seq
        yield evidence.diagnosis(
            "result_without_call",
            f"#{seq} answers the call {result.call_id!r}, which is not before it",
            generation=tip.generation,
            seq=seq,
        )


def _is_in_flight(evidence: Evidence, context: Sequence[Span], index: int) -> bool:
    """Whether nothing but results follows a call up to the end of the context."""
    # Calls made in parallel may stand in several rows of their own: items of one Responses answer.
    following = {entry.seq: bool(entry.view.results) or "role" not in entry.message for entry in evidence.calls[index + 1 :]}
    seqs = list(seqs_of(context))
    behind = seqs[seqs.index(evidence.calls[index].seq) + 1 :]
    return all(following.get(seq, False) for seq in behind)


def _position(context: Sequence[Span], seq: int) -> int:
    before = 0
    for first, last in context:
        if first <= seq <= last:
            return before + seq - first
        before += last - first + 1
    return before
