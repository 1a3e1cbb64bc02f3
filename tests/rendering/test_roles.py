"""The order of roles: bridges, the one system message, the role of a summary."""

from __future__ import annotations

from typing import Any

import pytest

from sessionstore.domain.assembly import summary_role
from sessionstore.domain.closed_sets import Profile
from sessionstore.domain.rendering import ASSISTANT_BRIDGE, USER_BRIDGE, render_context
from sessionstore.domain.transcript import Entry
from tests.validity import faults

Message = dict[str, Any]
USER: Message = {"role": "user", "content": "please"}
ASSISTANT: Message = {"role": "assistant", "content": "done"}
CALL: Message = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "run", "arguments": "{}"}}],
}
RESULT: Message = {"role": "tool", "tool_call_id": "a", "content": "1"}


def entries(*messages: Message) -> list[Entry]:
    return [Entry(seq, "message", message) for seq, message in enumerate(messages)]


def rendered(*messages: Message, profile: Profile, **options: Any) -> list[Message]:
    return render_context(entries(*messages), profile=profile, **{"system_prompt": None, **options}).messages


def test_the_system_message_is_one_and_has_prompt_instructions_and_task_in_this_order() -> None:
    """ROLE-1, PROMPT-1, STATE-1."""
    context: list[Message] = [
        {"role": "developer", "content": "be brief"},
        USER,
        {"role": "system", "content": [{"type": "text", "text": "and kind"}]},
    ]
    messages = rendered(*context, profile="openai", system_prompt="You are X.", task_text="Goal: y")
    assert messages == [{"role": "system", "content": "You are X.\n\nbe brief\n\nand kind\n\nGoal: y"}, USER]


def test_without_prompt_and_task_there_is_no_system_message() -> None:
    assert rendered(USER, profile="anthropic", system_prompt=" ", task_text=None) == [USER]


@pytest.mark.parametrize("profile", ["openai", "responses", "anthropic", "strict"])
def test_a_context_without_a_users_message_gets_one(profile: Profile) -> None:
    """ROLE-1."""
    messages = rendered(ASSISTANT, profile=profile)
    assert messages == [{"role": "user", "content": USER_BRIDGE}, ASSISTANT]
    assert rendered(profile=profile) == [{"role": "user", "content": USER_BRIDGE}]


def test_the_bridge_of_a_context_of_only_a_summary_stands_behind_it() -> None:
    """ROLE-1."""
    context = [Entry(5, "summary", {"role": "user", "content": "so far"})]
    messages = render_context(context, profile="openai", system_prompt=None).messages
    assert messages == [{"role": "user", "content": "so far"}, {"role": "user", "content": USER_BRIDGE}]


@pytest.mark.parametrize("profile", ["anthropic", "strict"])
def test_users_messages_in_a_row_are_bridged_and_never_merged(profile: Profile) -> None:
    """LAST-1, ROLE-1."""
    second = {"role": "user", "content": "and this"}
    assert rendered(USER, second, profile=profile) == [USER, {"role": "assistant", "content": ASSISTANT_BRIDGE}, second]


def test_anthropic_gets_the_results_of_one_turn_in_one_user_message() -> None:
    """ROLE-1."""
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": i, "name": "run", "input": {}} for i in ("a", "b")]}
    answers = [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": i, "content": i}]} for i in ("a", "b")]
    messages = rendered(USER, call, *answers, USER, profile="anthropic")
    assert messages[2] == {"role": "user", "content": [*answers[0]["content"], *answers[1]["content"]]}
    assert messages[3:] == [{"role": "assistant", "content": ASSISTANT_BRIDGE}, USER]


def test_strict_sends_words_and_calls_apart_so_that_every_reading_of_alternation_holds() -> None:
    """ROLE-1."""
    messages = rendered(USER, {**CALL, "content": "I look."}, RESULT, ASSISTANT, USER, profile="strict")
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant", "tool", "assistant", "user"]
    assert messages[1] == {"role": "assistant", "content": "I look."}
    assert messages[3] == CALL
    assert faults(messages, "strict") == []


def test_openai_takes_roles_in_any_order() -> None:
    context: list[Message] = [ASSISTANT, ASSISTANT, USER, USER, {**CALL, "content": "I look."}, RESULT, USER]
    assert rendered(*context, profile="openai") == context


@pytest.mark.parametrize(
    ("before", "after", "profile", "role"),
    [
        ([USER], [ASSISTANT], "openai", "assistant"),
        ([ASSISTANT], [ASSISTANT], "responses", "assistant"),
        ([USER], [USER], "anthropic", "assistant"),
        ([USER, CALL, RESULT], [USER], "anthropic", "assistant"),
        ([USER, ASSISTANT], [ASSISTANT], "anthropic", "user"),
        ([], [ASSISTANT, USER], "anthropic", "user"),
        ([], [USER], "anthropic", "assistant"),
        ([USER, ASSISTANT], [USER], "anthropic", "assistant"),
        ([USER, ASSISTANT], [], "anthropic", "user"),
        ([USER, ASSISTANT], [CALL, RESULT], "strict", "user"),
        ([USER, CALL, RESULT], [USER], "strict", "assistant"),
        ([], [], "anthropic", "assistant"),
        ([], [ASSISTANT], "anthropic", "assistant"),
    ],
)
def test_the_summary_is_the_assistants_unless_that_collides(
    before: list[Message], after: list[Message], profile: Profile, role: str
) -> None:
    """ROLE-1."""
    assert summary_role(entries(*before), entries(*after), profile) == role


def test_where_both_roles_collide_a_bridge_stands_beside_the_summary() -> None:
    """ROLE-1, LAST-1."""
    context = [Entry(7, "summary", {"role": "assistant", "content": "so far"}), Entry(6, "message", USER)]
    messages = render_context(context, profile="anthropic", system_prompt=None).messages
    assert messages == [{"role": "user", "content": USER_BRIDGE}, {"role": "assistant", "content": "so far"}, USER]
