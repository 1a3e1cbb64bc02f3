"""Calls and results in a rendering: what is moved, stubbed, left out, and what stays open."""

from __future__ import annotations

from typing import Any

import pytest

from sessionstore.domain.closed_sets import Profile
from sessionstore.domain.rendering import UNANSWERED_STUB, Rendering, render_context
from sessionstore.domain.transcript import Entry, pair_calls

Message = dict[str, Any]


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def calling(*ids: str, content: str | None = None) -> Message:
    function = {"name": "run", "arguments": "{}"}
    return {
        "role": "assistant",
        "content": content,
        "tool_calls": [{"id": call_id, "type": "function", "function": function} for call_id in ids],
    }


def result(call_id: str, text: str) -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def rendered(*messages: Message, profile: Profile = "openai", covered: tuple[tuple[int, int], ...] = ()) -> Rendering:
    entries = [Entry(seq, "message", message) for seq, message in enumerate(messages)]
    return render_context(entries, profile=profile, system_prompt=None, covered=covered)


def test_a_context_that_needs_no_repair_is_handed_on_as_it_is() -> None:
    messages = [
        user("go"),
        {**calling("a"), "reasoning_content": "because"},
        result("a", "1"),
        {"role": "assistant", "content": "k"},
    ]
    rendering = rendered(*messages)
    assert rendering.messages == messages
    assert rendering.repairs == ()
    assert rendering.sources == ((0,), (1,), (2,), (3,))


def test_a_dead_call_gets_a_stub_and_a_late_result_takes_its_place() -> None:
    """PAIR-3."""
    before = [user("go"), calling("dead"), user("still there?")]
    assert rendered(*before).messages[2] == result("dead", UNANSWERED_STUB)
    late = rendered(*before, result("dead", "late answer"))
    assert late.messages == [user("go"), calling("dead"), result("dead", "late answer"), user("still there?")]
    assert [repair.kind for repair in late.repairs] == ["moved_result"]


def test_a_call_at_the_end_is_in_flight_and_stays_open() -> None:
    """PAIR-3: also when one of several parallel results is there already."""
    assert rendered(user("go"), calling("a")).messages == [user("go"), calling("a")]
    partly = [user("go"), calling("a", "b"), result("a", "1")]
    assert rendered(*partly).messages == partly


def test_a_result_without_its_call_is_left_out_and_reported() -> None:
    """PAIR-1."""
    rendering = rendered(user("go"), calling("a"), result("a", "1"), result("ghost", "boo"), user("b"))
    assert rendering.messages == [user("go"), calling("a"), result("a", "1"), user("b")]
    assert [(repair.kind, repair.call_id, repair.seq) for repair in rendering.repairs] == [("orphan_result", "ghost", 3)]


def test_parallel_results_are_brought_together_behind_their_call() -> None:
    """PAIR-1."""
    rendering = rendered(user("go"), calling("a", "b"), result("a", "1"), user("hm"), result("b", "2"))
    assert rendering.messages == [user("go"), calling("a", "b"), result("a", "1"), result("b", "2"), user("hm")]


def test_equal_ids_in_one_turn_are_answered_in_order() -> None:
    """PAIR-2."""
    messages = [user("both"), calling("0", "0"), result("0", "AAA"), result("0", "BBB"), user("next")]
    for profile in ("openai", "strict"):
        sent = rendered(*messages, profile=profile).messages
        assert [call["id"] for call in sent[1]["tool_calls"]] == ["0", "0_2"]
        assert sent[2:4] == [result("0", "AAA"), result("0_2", "BBB")]


def test_a_new_id_is_never_one_that_another_call_of_the_turn_has() -> None:
    """PAIR-2."""
    strict = rendered(user("go"), calling("x", "x", "x_2"), profile="strict").messages
    assert [call["id"] for call in strict[1]["tool_calls"]] == ["x", "x_3", "x_2"]


def test_ids_of_earlier_turns_keep_their_new_names_when_the_context_grows() -> None:
    """PAIR-2: an id depends on what stands before it only."""
    messages = [user("1"), calling("0"), result("0", "a"), user("2"), calling("0"), result("0", "b")]
    shorter = rendered(*messages, profile="anthropic").messages
    longer = rendered(*messages, user("3"), calling("0"), result("0", "c"), profile="anthropic").messages
    assert longer[: len(shorter) - 1] == shorter[:-1]
    uses = [block["id"] for message in longer for block in message["content"] if isinstance(block, dict) and "name" in block]
    assert uses == ["0", "0_2", "0_3"]


def test_a_result_that_a_summary_covers_is_named_as_such() -> None:
    """PAIR-1."""
    entries = [
        Entry(0, "message", user("go")),
        Entry(1, "message", calling("a")),
        Entry(9, "summary", {"role": "user", "content": "so far"}),
        Entry(8, "message", user("next")),
    ]
    rendering = render_context(entries, profile="openai", system_prompt=None, covered=((2, 7),))
    assert rendering.messages[2] == result("a", "[result is covered by the summary of #2–#7]")
    assert [repair.kind for repair in rendering.repairs] == ["covered_result"]


def test_the_results_of_parallel_items_stay_together() -> None:
    """PAIR-1."""
    items: list[Message] = [
        user("go"),
        {"type": "function_call", "call_id": "a", "name": "run", "arguments": "{}"},
        {"type": "function_call", "call_id": "b", "name": "run", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "1"},
        {"type": "function_call_output", "call_id": "b", "output": "2"},
    ]
    assert rendered(*items, profile="responses").messages == items
    chat = rendered(*items, profile="openai").messages
    assert [call["id"] for call in chat[1]["tool_calls"]] == ["a", "b"]
    assert chat[2:] == [result("a", "1"), result("b", "2")]


@pytest.mark.parametrize("profile", ["anthropic", "openai"])
def test_a_servers_call_and_result_stay_together_or_leave_together(profile: Profile) -> None:
    """PAIR-1."""
    use = {"type": "server_tool_use", "id": "srv1", "name": "advisor", "input": {}}
    answer = {"type": "advisor_tool_result", "tool_use_id": "srv1", "content": "use a queue"}
    whole = [user("think"), {"role": "assistant", "content": [use]}, {"role": "assistant", "content": [answer]}, user("go on")]
    messages = rendered(*whole, profile=profile).messages
    if profile == "anthropic":
        assert messages[1] == {"role": "assistant", "content": [use, answer]}
    else:
        assert messages[2] == result("srv1", "use a queue")
    half = rendered(user("think"), {"role": "assistant", "content": [answer]}, user("go on"), profile=profile)
    assert "use a queue" not in str(half.messages)


def test_a_message_with_a_servers_call_and_result_is_handed_on_whole() -> None:
    said: Message = {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Let me ask."},
            {"type": "server_tool_use", "id": "srv1", "name": "advisor", "input": {}},
            {"type": "advisor_tool_result", "tool_use_id": "srv1", "content": "use a queue"},
            {"type": "text", "text": "A queue it is."},
        ],
    }
    assert rendered(user("think"), said, profile="anthropic").messages == [user("think"), said]


def test_what_follows_a_servers_result_continues_the_same_answer() -> None:
    """ROLE-1."""
    use = {"type": "server_tool_use", "id": "srv1", "name": "advisor", "input": {}}
    answer = {"type": "advisor_tool_result", "tool_use_id": "srv1", "content": "use a queue"}
    said = {"type": "text", "text": "A queue it is."}
    pieces = [{"role": "assistant", "content": [block]} for block in (use, answer, said)]
    messages = rendered(user("think"), *pieces, user("go on"), profile="anthropic").messages
    assert messages == [user("think"), {"role": "assistant", "content": [use, answer, said]}, user("go on")]


def test_what_a_person_wrote_keeps_its_order_when_results_are_moved() -> None:
    """LAST-1, PAIR-1."""
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "run", "input": {}}]}
    answer = {"type": "tool_result", "tool_use_id": "a", "content": "1"}
    late = {"role": "user", "content": [answer, {"type": "text", "text": "second"}]}
    messages = rendered(user("go"), call, user("first"), late, profile="anthropic").messages
    assert [message["content"] for message in messages if message["role"] == "user"] == [
        "go",
        [answer],
        "first",
        "second",
    ]


def test_one_answer_to_several_calls_is_the_answer_of_each() -> None:
    """PAIR-1: the first has its text, the others say where it is, and none counts as unanswered."""
    answer = {"role": "tool", "tool_call_ids": ["a", "b"], "content": "both done"}
    rendering = rendered(user("go"), calling("a", "b"), answer, user("more"))
    assert rendering.messages[2:4] == [result("a", "both done"), result("b", "[answered together with call a]")]
    assert rendering.repairs == ()


def test_a_local_shells_answer_finds_its_call_by_its_own_id_too() -> None:
    """PAIR-1: older libraries of the vendor write it so."""
    call = {"type": "local_shell_call", "id": "lsh_1", "call_id": "c1", "status": "completed", "action": {"type": "exec"}}
    answer = {"type": "local_shell_call_output", "id": "c1", "output": "all good"}
    (paired,) = pair_calls([Entry(0, "message", call), Entry(1, "message", answer)]).calls
    assert (paired.result_index, paired.result and paired.result.text) == (1, "all good")
