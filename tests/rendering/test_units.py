"""Where a context may be cut: the units of calls, results, reasoning and paired blocks."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings

from sessionstore.domain.rules.pairs import in_flight_index, units
from sessionstore.domain.transcript import Entry, pair_calls
from tests.transcripts import contexts

Message = dict[str, Any]
USER = {"role": "user", "content": "go"}


def units_of(*messages: Message) -> tuple[tuple[int, int], ...]:
    return units([Entry(seq, "message", message) for seq, message in enumerate(messages)])


def calling(*ids: str) -> Message:
    function = {"name": "run", "arguments": "{}"}
    return {"role": "assistant", "tool_calls": [{"id": call_id, "type": "function", "function": function} for call_id in ids]}


def result(call_id: str) -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": "x"}


@given(entries=contexts())
@settings(max_examples=150, deadline=None)
def test_units_partition_the_context_and_no_edge_parts_a_call_from_its_result(entries: list[Entry]) -> None:
    """PAIR-1, PAIR-2."""
    found = units(entries)
    assert [index for first, last in found for index in range(first, last + 1)] == list(range(len(entries)))
    unit_of = {index: number for number, (first, last) in enumerate(found) for index in range(first, last + 1)}
    for paired in pair_calls(entries).calls:
        if paired.result_index is not None:
            assert unit_of[paired.call_index] == unit_of[paired.result_index]


def test_a_call_and_everything_up_to_its_last_result_is_one_unit() -> None:
    """PAIR-1."""
    assert units_of(USER, calling("a", "b"), result("a"), USER, result("b"), USER) == ((0, 0), (1, 4), (5, 5))


def test_a_call_in_flight_reaches_to_the_end() -> None:
    """PAIR-3."""
    assert units_of(USER, calling("a", "b"), result("a")) == ((0, 0), (1, 2))
    assert units_of(USER, calling("a")) == ((0, 0), (1, 1))


def test_a_dead_call_holds_nothing_together() -> None:
    """PAIR-3."""
    assert units_of(USER, calling("dead"), USER, calling("a"), result("a"), USER) == ((0, 0), (1, 1), (2, 2), (3, 4), (5, 5))


def test_an_id_that_every_call_has_holds_only_the_nearest_together() -> None:
    """PAIR-2."""
    assert units_of(calling("0"), result("0"), USER, calling("0"), result("0")) == ((0, 1), (2, 2), (3, 4))


def test_parallel_items_and_their_outputs_are_one_unit() -> None:
    """PAIR-1."""
    items = [{"type": "function_call", "call_id": i, "name": "run", "arguments": "{}"} for i in ("a", "b")]
    outputs = [{"type": "function_call_output", "call_id": i, "output": "x"} for i in ("a", "b")]
    assert units_of(USER, *items, *outputs, USER) == ((0, 0), (1, 4), (5, 5))
    entries = [Entry(seq, "message", item) for seq, item in enumerate([USER, *items, outputs[0]])]
    assert in_flight_index(entries) == 1


def test_reasoning_stays_with_what_it_led_to() -> None:
    """ROLE-1."""
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": []}
    call = {"type": "function_call", "call_id": "a", "name": "run", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "a", "output": "x"}
    assert units_of(USER, reasoning, call, output, USER) == ((0, 0), (1, 3), (4, 4))
    thought = {"role": "assistant", "content": [{"type": "thinking", "thinking": "t", "signature": "s"}]}
    assert units_of(USER, thought, {"role": "assistant", "content": "said"}) == ((0, 0), (1, 2))


def test_an_item_stays_with_the_one_it_requires() -> None:
    """ROLE-1."""
    said = {"role": "assistant", "content": "b", "id": "m2", "requires": "m1"}
    assert units_of({"role": "assistant", "content": "a", "id": "m1"}, USER, said) == ((0, 2),)


def test_blocks_of_unknown_types_stay_with_the_block_that_names_them() -> None:
    """PAIR-1."""
    first = {"role": "assistant", "content": [{"type": "probe", "id": "p1"}]}
    second = {"role": "assistant", "content": [{"type": "probe_report", "probe_id": "p1", "text": "fine"}]}
    assert units_of(USER, first, USER, second, USER) == ((0, 0), (1, 3), (4, 4))
    item = {"type": "local_shell_call", "call_id": "s1"}
    output = {"type": "local_shell_call_output", "call_id": "s1", "output": "x"}
    assert units_of(item, output, USER) == ((0, 1), (2, 2))


def test_pieces_of_one_answer_stay_together() -> None:
    pieces = [{"role": "assistant", "id": "msg_1", "content": text} for text in ("a", "b")]
    assert units_of(USER, *pieces, USER) == ((0, 0), (1, 2), (3, 3))


def test_parallel_items_in_flight_are_one_unit() -> None:
    """PAIR-3."""
    items = [{"type": "function_call", "call_id": i, "name": "run", "arguments": "{}"} for i in ("a", "b")]
    output = {"type": "function_call_output", "call_id": "b", "output": "x"}
    assert units_of(USER, *items, output) == ((0, 0), (1, 3))
