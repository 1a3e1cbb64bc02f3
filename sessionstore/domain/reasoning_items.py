"""Reasoning that stands in a row of its own, as the Responses dialect has it: taken away together with the ids that need it."""
from __future__ import annotations

from collections.abc import Iterator, Sequence

from sessionstore.domain.messages import Message
from sessionstore.domain.outputs.rewriting import storable
from sessionstore.domain.pruning import Rendition
from sessionstore.domain.rules.pairs import in_flight_index
from sessionstore.domain.rules.reasoning import EMPTY_REASONING, is_reasoning_item
from sessionstore.domain.transcript import Entry, pair_calls


def without_reasoning_items(
    entries: Sequence[Entry], renditions: Sequence[Rendition], *, inside: frozenset[int]
) -> list[Rendition]:
    """The renditions, and with them those that empty the reasoning which led to what they shorten.

    What the reasoning led to loses its ``id``: a provider that knows the item by it asks for the reasoning too. Reasoning stays
    unchanged where not all of its answer is ``inside``, the indexes that may be pruned, or where a call of it is in flight.
    """
    made = {rendition.source_seq: rendition for rendition in renditions}
    flight = in_flight_index(entries)
    touched = {index for index, entry in enumerate(entries) if entry.seq in made}
    touched.update(paired.call_index for paired in pair_calls(entries).calls if paired.result_index in touched)
    for thoughts, answer in _answers(entries):
        is_free = inside.issuperset([*thoughts, *answer]) and flight not in answer
        if not is_free or touched.isdisjoint(answer):
            continue
        for index in thoughts:
            _replace(made, entries[index], EMPTY_REASONING)
        for index in answer:
            entry = entries[index]
            message = made[entry.seq].message if entry.seq in made else entry.message
            _replace(made, entry, {key: value for key, value in message.items() if key != "id"})
    order = {entry.seq: index for index, entry in enumerate(entries)}
    return sorted(made.values(), key=lambda rendition: order[rendition.source_seq])


def _answers(entries: Sequence[Entry]) -> Iterator[tuple[range, range]]:
    """Indexes of reasoning items in a row, and of what of the same answer comes behind them."""
    index = 0
    while index < len(entries):
        first = index
        while index < len(entries) and is_reasoning_item(entries[index]):
            index += 1
        behind = index
        while index < len(entries) and first < behind and _answers_on(entries[index]):
            index += 1
        if first < behind:
            yield range(first, behind), range(behind, index)
        index = max(index, first + 1)


def _answers_on(entry: Entry) -> bool:
    return entry.view.role == "assistant" and entry.kind != "summary" and not is_reasoning_item(entry)


def _replace(made: dict[int, Rendition], entry: Entry, message: Message) -> None:
    before = made.get(entry.seq)
    if message == (entry.message if before is None else before.message):
        return
    origin = entry.written_seq
    reasons = ["reasoning"] if before is None else [*before.reason.split(", "), "reasoning"]
    made[entry.seq] = Rendition(origin, entry.seq, storable(message), ", ".join(dict.fromkeys(reasons)))
