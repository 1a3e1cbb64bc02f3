"""Reasoning in rows of its own (the Responses dialect) leaves with what it led to, as reasoning inside a message does."""
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sessionstore import CompactionPolicy, SessionStore
from sessionstore.domain.pruning import Rendition
from sessionstore.domain.reasoning_items import without_reasoning_items
from sessionstore.domain.rules.reasoning import EMPTY_REASONING
from sessionstore.domain.transcript import Entry
from tests.store.conversations import compacted

Message = dict[str, Any]


def thought(number: int) -> Message:
    return {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": "gAAA" * 40}


def calling(number: int, call: int) -> Message:
    told = {"name": "shell", "arguments": f'{{"command":"make step_{number}_{call}"}}'}
    return {"type": "function_call", "id": f"fc_{number}_{call}", "call_id": f"c{number}_{call}", **told}


def output(number: int, call: int, text: str = "done") -> Message:
    return {"type": "function_call_output", "call_id": f"c{number}_{call}", "output": text}


def rows(*messages: Message) -> list[Entry]:
    return [Entry(number, "message", message) for number, message in enumerate(messages)]


STEP = rows(
    {"role": "user", "content": "Build."},
    thought(1), thought(2), calling(1, 0), calling(1, 1), output(1, 0, "long"), output(1, 1),
    thought(3), calling(3, 0), output(3, 0),
)
SHORTER = Rendition(5, 5, {**STEP[5].message, "output": "[shell] ran it"}, "output")


def without(inside: frozenset[int], *renditions: Rendition) -> dict[int, Message]:
    return {one.source_seq: one.message for one in without_reasoning_items(STEP, renditions, inside=inside)}


ALL = frozenset(range(len(STEP)))


def test_the_reasoning_behind_a_shortened_output_goes_and_its_answer_loses_the_ids_that_need_it() -> None:
    """ROLE-1."""
    made = without(ALL, SHORTER)
    assert sorted(made) == [1, 2, 3, 4, 5]
    assert made[1] == made[2] == EMPTY_REASONING
    assert made[5] == SHORTER.message
    for seq in (3, 4):
        assert made[seq] == {key: value for key, value in STEP[seq].message.items() if key != "id"}


def test_what_was_shortened_itself_is_shortened_still() -> None:
    shorter = Rendition(4, 4, {**STEP[4].message, "arguments": "{}"}, "arguments")
    made = {one.source_seq: one for one in without_reasoning_items(STEP, [shorter], inside=ALL)}
    assert made[4].message == {key: value for key, value in shorter.message.items() if key != "id"}
    assert made[4].reason == "arguments, reasoning"


def test_nothing_shortened_or_a_part_that_must_stay_leaves_it_unchanged() -> None:
    """ROLE-1."""
    assert without(ALL) == {}
    for kept in (1, 2, 3, 4):
        assert without(ALL - {kept}, SHORTER) == {5: SHORTER.message}
    flying = [*STEP[:5], STEP[5]]
    assert [one.source_seq for one in without_reasoning_items(flying, [SHORTER], inside=ALL)] == [5]


def test_doing_it_again_changes_nothing() -> None:
    made = without(ALL, SHORTER)
    again = [Entry(50 + entry.seq, "rendition", made.get(entry.seq, entry.message), origin_seq=entry.seq) for entry in STEP]
    assert without_reasoning_items(again, [], inside=ALL) == []


@pytest.mark.parametrize("drop", [False, True])
def test_a_context_of_items_is_sent_without_it(store: SessionStore, drop: bool) -> None:
    """ROLE-1: the rest is sent as it was, and the log keeps everything."""
    session = store.create_session("a", context_window=10_000, profile="responses")
    said: list[Message] = [{"role": "user", "content": "Build everything."}]
    for number in range(6):
        said += [thought(number), calling(number, 0), output(number, 0, f"compiling unit {number}\n" * 80)]
    said.append({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]})
    session.append(said)
    policy = replace(
        CompactionPolicy(summarize=False, keep_tool_results=2, tail_messages=2, min_tail_messages=0), drop_reasoning=drop
    )
    result = compacted(session, policy=policy)
    rendered = result.session.render()
    kinds = [message.get("type") for message in rendered]
    assert kinds.count("function_call") == kinds.count("function_call_output") == 6
    sent = [message["id"] for message in rendered if message.get("type") == "reasoning"]
    # The newest outputs stay whole, and what led to them.
    assert sent == [f"rs_{number}" for number in range(6) if number >= (4 if drop else 0)]
    calls = [message for message in rendered if message.get("type") == "function_call"]
    assert ["id" in call for call in calls] == [number >= (4 if drop else 0) for number in range(6)]
    assert [row.message for row in result.session.history(0, len(said) - 1)] == said
