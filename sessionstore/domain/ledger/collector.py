"""Gathers facts into a ledger: the same fact seen again adds its seq, and what is already known is never taken away."""
from __future__ import annotations

from bisect import insort
from collections.abc import Mapping
from dataclasses import replace
from hashlib import blake2b
from typing import Final

from sessionstore.domain.ledger.entry import FACT_KINDS, FactKind, Ledger, LedgerEntry, Source
from sessionstore.domain.messages import clean_text

_MAX_KEY = 300
_CLOSENESS: Final[Mapping[Source, int]] = {"output": 0, "bulk": 1, "call": 2, "assistant": 3, "user": 4}
"""How near a source is to what the conversation is about: what an output has and somebody then speaks of is spoken of."""


class FactCollector:
    """A ledger that is being written: it starts as a previous one and only grows, and adding a fact twice changes nothing."""

    def __init__(self, previous: Ledger) -> None:
        self._by_kind: dict[FactKind, dict[str, LedgerEntry]] = {kind: {} for kind in FACT_KINDS}
        self._order: list[tuple[FactKind, str]] = []
        for entry in previous.entries:
            self._put(entry)
        self._last_ordinal = max((entry.ordinal for entry in previous.entries), default=0)

    def entries(self) -> tuple[LedgerEntry, ...]:
        """What was gathered, in the order in which it first appeared."""
        return tuple(self._by_kind[kind][key] for kind, key in self._order)

    def get(self, kind: FactKind, key: str) -> LedgerEntry | None:
        """The fact of this kind and key, or None."""
        return self._by_kind[kind].get(fact_key(key))

    def of_kind(self, *kinds: FactKind) -> list[LedgerEntry]:
        """The facts of these kinds so far."""
        return [entry for kind in kinds for entry in self._by_kind[kind].values()]

    def add(
        self, kind: FactKind, key: str, text: str, seq: int, *, source: Source, about: str = "", outcome: str = "",
        outcome_seq: int | None = None, operation: str = "", numbered: bool = False,
    ) -> LedgerEntry:
        """Note a fact that was seen at ``seq``; of one that is known the seq, outcome and operation are merged in.

        A source gives way to a nearer one: the user before the assistant, a call before an output.
        The text of a ``state`` is that of its latest outcome; every other text stays as it was first written. ``numbered``
        gives a new fact the next ordinal. ``outcome_seq`` is where the outcome was seen, ``seq`` unless told. A lone surrogate,
        which a call's arguments may spell out, is U+FFFD in a fact: facts are sent and stored as text.
        """
        text, about, outcome = clean_text(text), clean_text(about), clean_text(outcome)
        identity = fact_key(key)
        entry = self._by_kind[kind].get(identity)
        if entry is None:
            self._last_ordinal += numbered
            entry = LedgerEntry(kind, identity, text, (), source, about, ordinal=self._last_ordinal if numbered else 0)
        if _CLOSENESS[source] > _CLOSENESS[entry.source]:
            entry = replace(entry, source=source)
        if seq not in entry.seqs:
            entry = replace(entry, seqs=_with(entry.seqs, seq))
        if outcome:
            entry = replace(entry, outcomes=_with_outcome(entry.outcomes, seq if outcome_seq is None else outcome_seq, outcome))
            if kind == "state":
                entry = replace(entry, text=entry.outcome)
        if operation:
            entry = replace(entry, operations=_with_operation(entry.operations, operation, seq))
        self._put(entry)
        return entry

    def name(self, entry: LedgerEntry, name: str) -> None:
        """Note another name of a fact, on a line of its own in its ``about``; a name that it has changes nothing."""
        current, name = self._by_kind[entry.kind][entry.key], clean_text(name)
        names = current.about.split("\n") if current.about else []
        if name and name not in names:
            self._put(replace(current, about="\n".join([*names, name])))

    def close(self, entry: LedgerEntry, seq: int, outcome: str = "") -> None:
        """Note that a fact was resolved, answered or replaced at ``seq``; what was closed before stays as it was closed."""
        current = self._by_kind[entry.kind][entry.key]
        if current.closed_by is not None:
            return
        outcomes = _with_outcome(current.outcomes, seq, clean_text(outcome)) if outcome else current.outcomes
        self._put(replace(current, closed_by=seq, outcomes=outcomes))

    def reopen(self, entry: LedgerEntry, seq: int) -> None:
        """Note that a closed fact came up again at ``seq``, after it was closed; an earlier ``seq`` changes nothing."""
        if entry.closed_by is not None and seq > entry.closed_by:
            self._put(replace(entry, closed_by=None))

    def _put(self, entry: LedgerEntry) -> None:
        if entry.key not in self._by_kind[entry.kind]:
            self._order.append((entry.kind, entry.key))
        self._by_kind[entry.kind][entry.key] = entry


def fact_key(text: str) -> str:
    """A text as an identity: white space folded, and a digest in place of the end of a long one."""
    folded = " ".join(clean_text(text).split())
    if len(folded) <= _MAX_KEY:
        return folded
    digest = blake2b(folded.encode("utf-8"), digest_size=8).hexdigest()
    return f"{folded[: _MAX_KEY - 20]}…{digest}"


def _with(seqs: tuple[int, ...], seq: int) -> tuple[int, ...]:
    if not seqs or seq > seqs[-1]:
        return (*seqs, seq)
    ordered = list(seqs)
    insort(ordered, seq)
    return tuple(ordered)


def _with_outcome(outcomes: tuple[tuple[int, str], ...], seq: int, text: str) -> tuple[tuple[int, str], ...]:
    before = [outcome for outcome in outcomes if outcome[0] <= seq]
    if before and (before[-1][1] == text or before[-1][0] == seq):
        return outcomes
    return (*before, (seq, text), *outcomes[len(before):])


def _with_operation(
    operations: tuple[tuple[str, tuple[int, ...]], ...], operation: str, seq: int
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    known = dict(operations)
    seqs = known.get(operation, ())
    if seq not in seqs:
        known[operation] = _with(seqs, seq)
    return tuple(known.items())
