"""Things that one provider writes, or an agent stores, and another refuses: none of them is in a rendering."""

from __future__ import annotations

import copy
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessionstore.domain.closed_sets import Profile
from sessionstore.domain.rendering import UNANSWERED_STUB, Rendering, render_context
from sessionstore.domain.rules.pairs import units
from sessionstore.domain.transcript import Entry
from tests.rendering.refused_turns import ASK, CUSTOM, LOCAL_SHELL, LONG_ID, PICTURE, REFUSED, calling, function, result, use
from tests.validity import faults

Message = dict[str, Any]
PROFILES: tuple[Profile, ...] = get_args(Profile)


def entries_of(messages: list[Message]) -> list[Entry]:
    return [Entry(seq, "message", message) for seq, message in enumerate(messages)]


def rendering_of(messages: list[Message], profile: Profile) -> Rendering:
    return render_context(entries_of(messages), profile=profile, system_prompt=None)


def rendered(messages: list[Message], profile: Profile) -> list[Message]:
    return rendering_of(messages, profile).messages


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("messages", REFUSED.values(), ids=REFUSED.keys())
def test_what_a_provider_refuses_is_not_sent(messages: list[Message], profile: Profile) -> None:
    """ROLE-1, PAIR-1."""
    before = copy.deepcopy(messages)
    assert faults(rendered([ASK, *messages], profile), profile) == []
    assert faults(rendered([ASK, *messages, ASK], profile), profile) == []
    assert messages == before


@given(turns=st.lists(st.sampled_from(list(REFUSED.values())), max_size=6), profile=st.sampled_from(PROFILES))
@settings(max_examples=300, deadline=None)
def test_nor_is_any_mixture_of_them(turns: list[list[Message]], profile: Profile) -> None:
    """ROLE-1, PAIR-1, PAIR-2."""
    messages = [message for turn in turns for message in (ASK, *turn)]
    assert faults(rendered([ASK, *messages], profile), profile) == []


def test_a_picture_leaves_a_word_where_it_cannot_stand() -> None:
    """ROLE-1."""
    seen = [ASK, use(), result([{"type": "text", "text": "see"}, PICTURE])]
    words = [{"type": "text", "text": "see"}, {"type": "text", "text": "[image]"}]
    assert rendered(seen, "openai")[2]["content"] == words
    assert rendered(seen, "anthropic") == seen
    drawn: list[Message] = [ASK, {"role": "assistant", "content": [{"type": "text", "text": "see"}, PICTURE]}]
    assert rendered(drawn, "anthropic")[1]["content"] == words
    assert rendered(drawn, "responses")[1]["content"][1] == {"type": "output_text", "text": "[image]"}


def test_a_chat_server_gets_its_own_fields_back() -> None:
    """LOG-3."""
    thought: Message = {"role": "assistant", "content": "x", "reasoning_content": "r", "reasoning_details": [{"a": 1}]}
    assert rendered([ASK, thought], "openai") == [ASK, thought]


@pytest.mark.parametrize("profile", PROFILES)
def test_a_made_id_is_the_same_at_every_rendering_and_on_the_result(profile: Profile) -> None:
    """PAIR-2."""
    turn = [ASK, calling(function(id=LONG_ID)), {"role": "tool", "tool_call_id": LONG_ID, "content": "r"}]
    first = rendered(turn, profile)
    assert rendered([*turn, ASK, *turn[1:]], profile)[: len(first)] == first
    assert rendering_of(turn, profile).repairs[0].kind == "renamed_call"


def test_an_id_of_a_chat_server_keeps_its_characters() -> None:
    """PAIR-2: servers that make ids such as this one read them."""
    turn = [ASK, calling(function(id="functions.run:0")), {"role": "tool", "tool_call_id": "functions.run:0", "content": "r"}]
    assert rendered(turn, "openai") == turn


def test_a_call_of_the_old_form_stays_with_a_result_of_the_old_form() -> None:
    """PAIR-1."""
    called: Message = {"role": "assistant", "content": None, "function_call": {"name": "run", "arguments": "{}"}}
    turn = [ASK, called, {"role": "function", "name": "run", "content": "r"}, ASK]
    assert rendered(turn, "openai") == turn


def test_the_name_of_a_tool_is_rewritten_alike_in_call_and_result() -> None:
    """ROLE-1."""
    chat = rendered([ASK, *REFUSED["a name with a dot"]], "openai")
    assert chat[1]["tool_calls"][0]["function"]["name"] == chat[2]["name"] == "my_tool_name"


def test_the_answer_has_the_type_of_its_call() -> None:
    """PAIR-1, PAIR-3."""
    stub = rendered([ASK, LOCAL_SHELL, ASK], "responses")[2]
    assert stub == {"type": "local_shell_call_output", "id": "s", "call_id": "s", "output": UNANSWERED_STUB}
    given = rendered([ASK, CUSTOM, {"type": "function_call_output", "call_id": "c", "output": "r"}], "responses")
    assert given[2] == {"type": "custom_tool_call_output", "call_id": "c", "output": "r"}


def test_an_approval_stays_with_its_request_and_with_what_it_allowed() -> None:
    """PAIR-1."""
    request: Message = {"type": "mcp_approval_request", "id": "mcpr_1", "server_label": "s", "name": "t", "arguments": "{}"}
    approval: Message = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
    call: Message = {"type": "mcp_call", "id": "mcp_1", "approval_request_id": "mcpr_1", "server_label": "s", "name": "t"}
    context = [ASK, request, approval, {"role": "assistant", "content": "x"}, call]
    assert units(entries_of(context)) == ((0, 0), (1, 4))
    assert rendered(context, "responses") == context
    linked = [ASK, *({"type": "web_search_call", "id": f"ws_{n}", "parent_id": f"ws_{n - 1}"} for n in range(3))]
    assert units(entries_of(linked)) == ((0, 0), (1, 1), (2, 2), (3, 3))
    assert [repair.kind for repair in rendering_of([ASK, approval], "responses").repairs] == ["orphan_result"]


def test_the_ids_of_items_that_nobody_knows_are_in_the_providers_form_and_still_a_pair() -> None:
    """ROLE-1: new kinds of tools come with items of their own."""
    listed: list[dict[str, Any]] = [
        {"role": "user", "content": "Which tools are there?"},
        {"type": "tool_search_call", "call_id": "search: 1", "arguments": {"query": "git"}},
        {"type": "tool_search_output", "call_id": "search: 1", "tools": []},
        {"type": "tool_search_call", "call_id": "search_2", "arguments": {"query": "hg"}},
    ]
    entries = [Entry(seq, "message", message) for seq, message in enumerate(listed)]
    handed = [message.get("call_id") for message in render_context(entries, profile="responses", system_prompt=None).messages]
    assert handed == [None, "search__1", "search__1", "search_2"]
