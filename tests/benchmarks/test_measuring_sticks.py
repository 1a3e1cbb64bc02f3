"""The measuring sticks of the benchmarks: that they measure what they say."""
from __future__ import annotations

import random

import pytest

from benchmarks.corpus.converters import CONVERTERS, aider
from benchmarks.payloads import messages, turn
from benchmarks.report import Table, against_goal, ratio
from benchmarks.retention.facts import KINDS, plant
from benchmarks.retention.scripted import SCRIPTS, answer
from benchmarks.retention.work import text_of
from benchmarks.timing import Times, interleaved
from tests.validity import faults


@pytest.mark.parametrize("kind", KINDS)
def test_a_planted_fact_stands_in_its_own_turn_and_its_statement_and_nowhere_else(kind: str) -> None:
    planted, other = (plant(kind, random.Random(seed), 100 + seed) for seed in (1, 2))
    said = " ".join(text_of(message) for message in planted.turn)
    assert planted.fact.stands_in(said)
    assert planted.fact.stands_in(planted.fact.statement)
    assert not planted.fact.stands_in(" ".join(text_of(message) for message in other.turn))
    assert not faults(planted.turn, "openai")


def test_a_command_counts_only_with_its_exit_code() -> None:
    fact = plant("command", random.Random(3), 103).fact
    assert not fact.stands_in(f"{fact.marks[0]} exit code: 77")
    assert not fact.stands_in(fact.marks[0])


def test_the_perfect_model_repeats_the_facts_that_it_saw_and_no_other() -> None:
    seen, unseen = (plant("URL", random.Random(seed), 100 + seed).fact for seed in (1, 2))
    text = answer(SCRIPTS[2], f"… {seen.marks[0]} …", [seen.as_json(), unseen.as_json()])
    assert seen.stands_in(text)
    assert not unseen.stands_in(text)


@pytest.mark.parametrize("body_bytes", [200, 1_000, 2_000])
def test_a_turn_has_about_the_size_that_was_asked_for_and_is_the_same_every_time(body_bytes: int) -> None:
    listed = messages(30, body_bytes)
    sizes = [len(text_of(message)) for message in listed]
    assert 0.5 * body_bytes < sum(sizes) / len(sizes) < 1.1 * body_bytes
    assert listed[:3] == turn(0, body_bytes)
    assert not faults(listed, "openai")


def test_every_action_runs_once_a_round_and_reports_its_own_times() -> None:
    order: list[str] = []

    def action(name: str, seconds: float) -> float:
        order.append(name)
        return seconds

    first, second = interleaved((lambda: action("a", 1.0), lambda: action("b", 2.0)), rounds=3)
    assert (first.seconds, second.seconds) == ((1.0, 1.0, 1.0), (2.0, 2.0, 2.0))
    assert "".join(order) == "abbaab"
    assert Times((3.0, 1.0, 2.0)).median == 2.0


def test_a_table_says_ratios_goals_and_gaps_as_people_write_them() -> None:
    table = Table("T", ("what", "value"), (("a|b", None), ("c", 1234)), ("note",))
    assert table.to_markdown() == "### T\n\n| what | value |\n| --- | --- |\n| a\\|b | – |\n| c | 1,234 |\n\n* note\n"
    assert (ratio(3.0, 2.0), ratio(None, 2.0)) == ("1.50×", None)
    assert (against_goal(1.5, 1.5), against_goal(1.6, 1.5)) == ("yes (≤ 1.5)", "NO (≤ 1.5)")


def test_converters_keep_a_call_with_its_result() -> None:
    call = {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a"}}
    pi = [
        {"message": {"role": "user", "content": [{"type": "text", "text": "read it"}]}},
        {"message": {"role": "assistant", "content": [call]}},
        {"message": {"role": "toolResult", "toolCallId": "c1", "content": [{"type": "text", "text": "text of a"}]}},
    ]
    share = {
        "conversations": [
            {"from": "human", "value": "read it"},
            {"from": "function_call", "value": '{"name": "read", "arguments": {"path": "a"}}'},
            {"from": "observation", "value": "text of a"},
        ]
    }
    for kind, documents in (("pi", pi), ("sharegpt", [share])):
        (listed,) = CONVERTERS[kind](documents)
        assert [message["role"] for message in listed] == ["user", "assistant", "tool"]
        assert not faults(listed, "openai")
    (said,) = aider("#### fix it\n\nDone.\n\n> Applied edit to a.py\n")
    assert [message["role"] for message in said] == ["user", "assistant"]
