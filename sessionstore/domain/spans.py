"""Contexts as spans over a log: ``[first, last]`` with both ends included, in the order of the context."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple


class Span(NamedTuple):
    """Rows ``first`` to ``last`` of a log, both included."""

    first: int
    last: int


def spans_of(seqs: Iterable[int]) -> tuple[Span, ...]:
    """The fewest spans that list these seqs in this order; a run is joined only where each seq follows the one before."""
    spans: list[Span] = []
    for seq in seqs:
        if spans and seq == spans[-1].last + 1:
            spans[-1] = Span(spans[-1].first, seq)
        else:
            spans.append(Span(seq, seq))
    return tuple(spans)


def seqs_of(spans: Iterable[Span]) -> Iterator[int]:
    """Every seq of the spans, in order."""
    for first, last in spans:
        yield from range(first, last + 1)


def count_of(spans: Iterable[Span]) -> int:
    """How many rows the spans hold."""
    return sum(last - first + 1 for first, last in spans)


def holds(spans: Iterable[Span], seq: int) -> bool:
    """Whether one of the spans holds this seq."""
    return any(first <= seq <= last for first, last in spans)


def joined(spans: Sequence[Span]) -> tuple[Span, ...]:
    """The same rows in the same order in fewer spans, where one begins right after the one before it ends."""
    result: list[Span] = []
    for span in spans:
        if result and span.first == result[-1].last + 1:
            result[-1] = Span(result[-1].first, span.last)
        else:
            result.append(span)
    return tuple(result)


def cut_after(spans: Sequence[Span], seq: int) -> tuple[Span, ...]:
    """The spans up to and including this seq, in the order of the context; ``ValueError`` when none of them holds it."""
    kept: list[Span] = []
    for span in spans:
        if span.first <= seq <= span.last:
            return (*kept, Span(span.first, seq))
        kept.append(span)
    raise ValueError(f"no span holds #{seq}")
