"""The independent reading of calls and results: what it must accept and what it must find, in each dialect."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pytest

from tests.cases.pairing import block_faults, pair_faults

Messages = Sequence[Mapping[str, Any]]


def _chat(*ids: str) -> dict[str, Any]:
    calls = [{"id": one, "type": "function", "function": {"name": "run", "arguments": "{}"}} for one in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _tool(one: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": one, "content": "done"}


def _uses(*ids: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "tool_use", "id": one, "name": "run", "input": {}} for one in ids]}


def _results(*ids: str, text: str = "") -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "tool_result", "tool_use_id": one, "content": "done"} for one in ids]
    return {"role": "user", "content": blocks + ([{"type": "text", "text": text}] if text else [])}


def _item(one: str) -> dict[str, Any]:
    return {"type": "function_call", "call_id": one, "name": "run", "arguments": "{}"}


def _output(one: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": one, "output": "done"}


USER: Final = {"role": "user", "content": "go on"}

CLOSED: Final[Mapping[str, Messages]] = {
    "parallel calls": [USER, _chat("a", "b"), _tool("b"), _tool("a"), USER],
    "one id twice in a turn": [_chat("0", "0"), _tool("0"), _tool("0"), USER],
    "one id in two turns": [_chat("0"), _tool("0"), _chat("0"), _tool("0")],
    "a call in flight": [USER, _chat("a")],
    "one of two answered at the end": [USER, _chat("a", "b"), _tool("a")],
    "blocks": [USER, _uses("a", "b"), _results("a", "b"), USER],
    "blocks with words after them": [_uses("a"), _results("a", text="and now?")],
    "items": [USER, _item("a"), _item("b"), _output("a"), _output("b"), USER],
    "reasoning between items": [USER, {"type": "reasoning", "id": "r", "summary": []}, _item("a"), _output("a")],
}

BROKEN: Final[Mapping[str, tuple[Messages, str]]] = {
    "no result": ([_chat("a"), USER], "comes before the results of ['a']"),
    "no call": ([USER, _tool("a")], "a result 'a' without its call"),
    "one result of two": ([_chat("a", "b"), _tool("a"), USER], "comes before the results of ['b']"),
    "a second result": ([_chat("a"), _tool("a"), _tool("a")], "a result 'a' without its call"),
    "something between": ([_chat("a"), USER, _tool("a")], "comes before the results"),
    "blocks without a result": ([_uses("a", "b"), _results("a"), USER], "comes before the results of ['b']"),
    "words and no result": ([_uses("a"), {"role": "user", "content": "and now?"}], "comes before the results"),
    "an item without its output": ([_item("a"), _output("a"), _item("b"), USER], "comes before the results of ['b']"),
    "an output too many": ([_output("a")], "a result 'a' without its call"),
}


@pytest.mark.parametrize("what", CLOSED)
def test_closed_pairs_have_no_fault(what: str) -> None:
    """What a provider accepts is accepted (PAIR-1, PAIR-2)."""
    assert pair_faults(CLOSED[what]) == []


@pytest.mark.parametrize("what", BROKEN)
def test_broken_pairs_are_found(what: str) -> None:
    """What a provider refuses is found, with the id that it is about (PAIR-1)."""
    messages, said = BROKEN[what]
    assert any(said in fault for fault in pair_faults(messages))


def test_blocks_that_name_each_other_must_come_together() -> None:
    """A block with an id and the one that names it are found apart in either direction, whatever they are called."""
    made = {"role": "assistant", "content": [{"type": "server_tool_use", "id": "s", "name": "advisor", "input": {}}]}
    named = {"role": "assistant", "content": [{"type": "advisor_tool_result", "tool_use_id": "s", "content": "ok"}]}
    assert block_faults([made, named]) == []
    assert block_faults([named]) == ["block 0 (advisor_tool_result) names 's', which isn't before it"]
    assert block_faults([made]) == ["nothing answers the block 's'"]
    assert block_faults([named, made]) != []
