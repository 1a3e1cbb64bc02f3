"""The classic policy: a placeholder, five headings, a tail of 20,000 tokens, and an exception where too little was saved."""
from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from sessionstore import CompactionPolicy, LittleSavedError, SessionStore
from sessionstore.domain.outputs.lines import PLACEHOLDER
from tests.counters import PieceCounter
from tests.store.conversations import SMALL, compacted, talk

FIVE = ["Goal", "Progress", "Key Decisions", "Files Modified", "Next Steps"]
SHORT = replace(CompactionPolicy.classic(), head_messages=0, tail_tokens=None, tail_messages=2, min_tail_messages=0)
"""Classic, for conversations of a test's size."""


def turn(number: int, output: str, **said: Any) -> list[dict[str, Any]]:
    """A call with its output."""
    function = {"name": "terminal", "arguments": f'{{"command":"make step_{number}"}}'}
    call = {"id": f"c{number}", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call], **said},
        {"role": "tool", "tool_call_id": f"c{number}", "content": output},
    ]


def worked(store: SessionStore, turns: int = 8) -> list[dict[str, Any]]:
    """Session ``a`` with long outputs, the second of them an error."""
    said = [{"role": "user", "content": "Build everything."}]
    for number in range(turns):
        end = "make: *** [Makefile:7: all] Error 2\nexit code: 2" if number == 1 else f"done {number}"
        said += turn(number, f"compiling unit {number}\n" * 80 + end)
    store.create_session("a", context_window=10_000).append(said)
    return said


def test_its_numbers() -> None:
    """The tail doesn't grow with the window, three outputs stay; everything else is as ever."""
    classic, usual = CompactionPolicy.classic(), CompactionPolicy()
    assert (classic.tail_budget(128_000), classic.tail_budget(1_000_000)) == (20_000, 20_000)
    assert classic.tail_budget(200_000) == usual.tail_budget(200_000)
    assert classic.keep_tool_results == 3
    told = {"tail_tokens", "old_outputs", "headings", "on_little_saving"}
    assert {name for name in usual.__slots__ if getattr(classic, name) != getattr(usual, name)} == told


def test_old_outputs_become_a_placeholder_and_an_error_stays_an_error(store: SessionStore) -> None:
    """PRUNE-1: the newest three stay whole, and pruning again changes nothing."""
    said = worked(store)
    result = compacted(store.session("a"), policy=replace(SHORT, summarize=False))
    outputs = [message["content"] for message in result.messages if message["role"] == "tool"]
    assert outputs[0] == PLACEHOLDER
    assert outputs[1].startswith(f"{PLACEHOLDER} (failed: ")
    assert "Error 2" in outputs[1]
    assert outputs[2:5] == [PLACEHOLDER] * 3
    assert outputs[5:] == [message["content"] for message in said if message["role"] == "tool"][5:]
    result.session.append({"role": "user", "content": "go on"})
    again = result.session.compact(policy=replace(SHORT, summarize=False))
    assert (again.status, again.messages[:-1]) == ("noop", result.messages)


def test_a_summary_has_the_five_headings_after_every_compaction(store: SessionStore) -> None:
    """NEST-1, NEST-2: what the thirteen sections hold is under them, and is carried on."""
    session = store.create_session("a", context_window=10_000)
    session.append([*talk(20), *turn(1, "npm ERR! missing script: lint\nexit code: 1"), *talk(4, start=20)])
    first = compacted(session, policy=SHORT)
    assert re.findall(r"^#+ (.*)$", first.summary or "", re.MULTILINE) == FIVE
    assert "missing script: lint" in (first.summary or "")
    first.session.append([*talk(20, start=40), *turn(2, "ok"), *talk(4, start=60)])
    second = compacted(first.session, policy=SHORT)
    assert re.findall(r"^#+ (.*)$", second.summary or "", re.MULTILINE) == FIVE
    assert "make step_1" in (second.summary or "")
    assert "make step_2" in (second.summary or "")
    assert "Request 62: look at module 62" in (second.summary or "")


def test_a_models_notes_come_under_the_five_headings(database_url: str) -> None:
    """FAIL-1: it is asked for the thirteen, and what it told of each is kept."""
    notes = "\n".join([
        "## Goal", "Every module of the billing service shall be free of faults before the release.",
        "## Key Decisions", "Module 3 keeps its old interface because two customers depend on it.",
        "## Blocked", "The certificate for the test server has expired.",
        "## Remaining Work", "Modules 20 to 30 are still to be looked at.",
    ])  # fmt: skip
    with SessionStore.open(database_url, counter=PieceCounter()) as store:
        session = store.create_session("a", context_window=20_000)
        session.append([*talk(30), {"role": "user", "content": notes}, *talk(4, start=30)])
        summary = compacted(session, policy=SHORT, summarizer=lambda _prompt: notes).summary or ""
    parts = dict(zip(FIVE, re.split(r"^## .*\n", summary, flags=re.MULTILINE)[1:], strict=True))
    assert "free of faults" in parts["Goal"]
    assert "old interface" in parts["Key Decisions"]
    assert "**Blocked**\nThe certificate" in parts["Progress"]
    assert "Modules 20 to 30" in parts["Next Steps"]


def test_too_little_saved_is_raised_at_once(store: SessionStore) -> None:
    """THRASH-1, ATOM-3: after the strike was written, and the context is as it was."""
    session = store.create_session("a", context_window=10_000)
    said = [*talk(30), *turn(1, "file\n" * 60), *talk(2, start=30)]
    session.append(said)
    policy = replace(SHORT, summarize=False, keep_tool_results=0)
    with pytest.raises(LittleSavedError, match="less than 10%") as caught:
        session.compact(policy=policy)
    (job,) = store.lineage("a").compactions
    assert (job.status, job.reason, job.error) == ("aborted", caught.value.reason, None)
    assert (caught.value.session_id, caught.value.job_id) == ("a", job.job_id)
    assert store.lineage("a").lineage.strikes == 1
    assert session.context() == said
    session.compact(policy=replace(SMALL, summarize=False, keep_tool_results=0)).raise_for_status()


@pytest.mark.parametrize("drop", [False, True])
def test_reasoning_leaves_with_the_output_it_led_to(store: SessionStore, drop: bool) -> None:
    """ROLE-1: or stays unchanged; beside calls that stay whole it is never touched."""
    session = store.create_session("a", context_window=10_000)
    thought = {"type": "thinking", "thinking": "Which unit is next?", "signature": "c2ln"}
    said: list[dict[str, Any]] = [{"role": "user", "content": "Build everything."}]
    for number in range(6):
        use = {"type": "tool_use", "id": f"t{number}", "name": "terminal", "input": {"command": f"make step_{number}"}}
        output = {"type": "tool_result", "tool_use_id": f"t{number}", "content": f"compiling unit {number}\n" * 80}
        said += [{"role": "assistant", "content": [thought, use]}, {"role": "user", "content": [output]}]
    said += turn(9, "compiling unit 9\n" * 80, reasoning_content="That was all.")
    session.append(said)
    policy = CompactionPolicy(summarize=False, drop_reasoning=drop, keep_tool_results=2, tail_messages=2, min_tail_messages=0)
    result = compacted(session, policy=policy)
    held = [thought in message["content"] for message in result.messages[1:-2:2]]
    assert held == ([False] * 5 + [True] if drop else [True] * 6)
    assert result.messages[-2] == said[-2]
    assert [row.message for row in result.session.history(0, len(said) - 1)] == said
