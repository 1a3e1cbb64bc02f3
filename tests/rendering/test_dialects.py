"""Messages of one provider for another, and what stays as it is."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from sessionstore.domain.closed_sets import Profile
from sessionstore.domain.rendering import UNANSWERED_STUB, render_context
from sessionstore.domain.transcript import Entry, view_message

Message = dict[str, Any]
ASK: Message = {"role": "user", "content": "look"}
DATA_URL = "data:image/png;base64,AAAA"
CHAT_IMAGE = {"type": "image_url", "image_url": {"url": DATA_URL}}
BLOCK_IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
ITEM_IMAGE = {"type": "input_image", "image_url": DATA_URL}

IN_CHAT: list[Message] = [
    ASK,
    {
        "role": "assistant",
        "content": "I read.",
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "read", "arguments": '{"path": "x"}'}}],
    },
    {"role": "tool", "tool_call_id": "a", "content": "text of x"},
]
IN_BLOCKS: list[Message] = [
    ASK,
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I read."},
            {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "x"}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "text of x"}]},
]
IN_ITEMS: list[Message] = [
    ASK,
    {"role": "assistant", "content": "I read."},
    {"type": "function_call", "call_id": "a", "name": "read", "arguments": '{"path": "x"}'},
    {"type": "function_call_output", "call_id": "a", "output": "text of x"},
]


def rendered(messages: list[Message], profile: Profile) -> list[Message]:
    entries = [Entry(seq, "message", message) for seq, message in enumerate(messages)]
    return render_context(entries, profile=profile, system_prompt=None).messages


@pytest.mark.parametrize("given", [IN_CHAT, IN_BLOCKS, IN_ITEMS])
@pytest.mark.parametrize(("profile", "expected"), [("openai", IN_CHAT), ("anthropic", IN_BLOCKS), ("responses", IN_ITEMS)])
def test_a_turn_says_the_same_to_every_provider(given: list[Message], profile: Profile, expected: list[Message]) -> None:
    """PAIR-1, ROLE-1."""
    assert rendered(given, profile) == expected


@pytest.mark.parametrize("image", [CHAT_IMAGE, BLOCK_IMAGE, ITEM_IMAGE])
@pytest.mark.parametrize(
    ("profile", "expected"), [("openai", CHAT_IMAGE), ("anthropic", BLOCK_IMAGE), ("responses", ITEM_IMAGE)]
)
def test_an_image_reaches_every_provider(image: Message, profile: Profile, expected: Message) -> None:
    """LAST-1."""
    content = rendered([{"role": "user", "content": [{"type": "text", "text": "see"}, image]}], profile)[0]["content"]
    assert content[1] == expected


def test_an_image_in_a_result_reaches_anthropic() -> None:
    context: list[Message] = [
        *IN_CHAT[:2],
        {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "seen"}, CHAT_IMAGE]},
    ]
    assert rendered(context, "anthropic")[2]["content"][0]["content"] == [{"type": "text", "text": "seen"}, BLOCK_IMAGE]


def test_a_failure_keeps_its_flag_or_says_so() -> None:
    """PRUNE-1."""
    flagged = [
        *IN_BLOCKS[:2],
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "no", "is_error": True}]},
    ]
    assert rendered(flagged, "anthropic") == flagged
    assert rendered(flagged, "openai")[2]["content"] == "[error] no"


def test_words_beside_results_become_a_message_of_their_own_for_chat() -> None:
    """LAST-1."""
    mixed = [*IN_BLOCKS[:2], {"role": "user", "content": [*IN_BLOCKS[2]["content"], {"type": "text", "text": "and now y"}]}]
    assert rendered(mixed, "anthropic") == mixed
    assert rendered(mixed, "openai") == [*IN_CHAT, {"role": "user", "content": "and now y"}]


def test_thinking_blocks_are_unchanged_or_absent() -> None:
    """ROLE-1."""
    signed = {"type": "thinking", "thinking": "deep", "signature": "SIG=="}
    hidden = {"type": "redacted_thinking", "data": "ENC=="}
    unsigned = {"type": "thinking", "thinking": "loose"}
    text = {"type": "text", "text": "42"}
    context: list[Message] = [ASK, {"role": "assistant", "content": [signed, hidden, unsigned, text]}, ASK]
    assert rendered(context, "anthropic")[1]["content"] == [signed, hidden, text]
    assert rendered(context, "openai")[1]["content"] == "42"


def test_a_reasoning_item_stays_beside_its_partner_or_leaves() -> None:
    """ROLE-1."""
    reasoning: Message = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E"}
    said: Message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}
    assert rendered([ASK, reasoning, said], "responses") == [ASK, reasoning, said]
    assert rendered([ASK, reasoning, ASK], "responses") == [ASK, ASK]
    assert rendered([ASK, reasoning, said], "openai") == [ASK, {"role": "assistant", "content": "hi"}]


def test_an_item_id_goes_when_what_it_requires_is_not_there() -> None:
    """ROLE-1."""
    reasoning: Message = {"type": "reasoning", "id": "rs_1", "summary": []}
    call = {"type": "function_call", "id": "fc_1", "requires": "rs_1", "call_id": "a", "name": "run", "arguments": "{}"}
    without = {key: value for key, value in call.items() if key != "requires"}
    assert rendered([ASK, reasoning, call], "responses") == [ASK, reasoning, without]
    assert "id" not in rendered([ASK, call], "responses")[1]


def test_unknown_items_of_the_provider_are_handed_on_to_it_only() -> None:
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    assert rendered([ASK, search], "responses") == [ASK, search]
    assert rendered([ASK, search], "openai") == [ASK]


@pytest.mark.parametrize("profile", get_args(Profile))
def test_keys_of_the_importer_are_not_sent_and_others_are_where_servers_have_their_own(profile: Profile) -> None:
    """LOG-3."""
    message = {
        "role": "user",
        "content": "hi",
        "id": "m1",
        "parent": "m0",
        "sidechain": True,
        "created_at": 1,
        "unknown": {"a": 1},
    }
    others = {"id": "m1", "unknown": {"a": 1}} if profile in ("openai", "strict") else {}
    assert rendered([message], profile) == [{"role": "user", "content": "hi", **others}]


def test_unknown_fields_stay_when_only_ids_are_rewritten() -> None:
    """PAIR-2, LOG-3."""
    call = {"id": "0", "type": "function", "function": {"name": "run", "arguments": "{}"}, "extra": 1}
    context: list[Message] = [
        ASK,
        {"role": "assistant", "content": None, "tool_calls": [call, call], "reasoning_content": "because"},
    ]
    message = rendered(context, "strict")[1]
    assert message["reasoning_content"] == "because"
    assert message["tool_calls"] == [call, {**call, "id": "0_2"}]


def test_arguments_that_are_no_object_are_wrapped_where_an_object_is_wanted() -> None:
    """PRUNE-1."""
    patch = {"type": "custom_tool_call", "call_id": "p", "name": "apply_patch", "input": "*** Begin Patch"}
    done = {"type": "custom_tool_call_output", "call_id": "p", "output": "ok"}
    assert rendered([ASK, patch, done], "responses") == [ASK, patch, done]
    assert rendered([ASK, patch, done], "anthropic")[1]["content"][0]["input"] == {"input": "*** Begin Patch"}
    assert rendered([ASK, patch, done], "openai")[1]["tool_calls"][0]["function"]["arguments"] == '{"input": "*** Begin Patch"}'


def test_a_block_that_a_provider_has_no_place_for_becomes_its_text() -> None:
    """ROLE-1."""
    file = {"type": "file", "path": "a.md", "content": "hello"}
    sealed = {"type": "encrypted_content", "data": "E"}
    message = {"role": "user", "content": [file, sealed]}
    assert rendered([message], "openai")[0]["content"] == [
        {"type": "text", "text": "a.md\nhello"},
        {"type": "text", "text": "[encrypted_content]"},
    ]
    audio = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}
    assert rendered([{"role": "user", "content": [audio]}], "openai")[0]["content"] == [audio]


def test_unknown_keys_of_a_block_reach_a_provider_that_has_the_block() -> None:
    """LOG-3."""
    block = {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}
    use = {"type": "tool_use", "id": "a:b", "name": "run", "input": {}, "cache_control": {"type": "ephemeral"}}
    messages = rendered([{"role": "user", "content": [block]}, {"role": "assistant", "content": [use]}], "anthropic")
    assert messages == [{"role": "user", "content": [block]}, {"role": "assistant", "content": [{**use, "id": "a_b"}]}]


SHELL: Message = {"type": "shell_call", "call_id": "s", "action": {"commands": ["ls"]}}
SHELL_OUTPUT: Message = {
    "type": "shell_call_output",
    "call_id": "s",
    "output": [{"stdout": "a.txt", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
}
PATCH: Message = {"type": "apply_patch_call", "call_id": "p", "operation": {"type": "delete_file", "path": "a.txt"}}


def test_a_built_in_tool_and_its_answer_are_a_pair_in_every_dialect() -> None:
    """PAIR-1: whoever runs the tool, the call is followed by its result."""
    context = [ASK, SHELL, SHELL_OUTPUT, ASK]
    assert rendered(context, "responses") == context
    chat = rendered(context, "openai")
    assert chat[1]["tool_calls"][0]["function"] == {"name": "shell", "arguments": '{"commands": ["ls"]}'}
    assert "a.txt" in chat[2]["content"]
    assert chat[2]["tool_call_id"] == "s"


@pytest.mark.parametrize("answer", [[], [{**SHELL_OUTPUT, "output": "[shell] ran ls"}]])
def test_a_built_in_tool_without_its_own_answer_is_told_as_a_function(answer: list[Message]) -> None:
    """PAIR-3: a stub, or a line in place of an old output, is no answer that the provider takes for its own tool."""
    call, result = rendered([ASK, SHELL, *answer, ASK], "responses")[1:3]
    assert call == {"type": "function_call", "call_id": "s", "name": "shell", "arguments": '{"commands": ["ls"]}'}
    assert (result["type"], result["call_id"]) == ("function_call_output", "s")


def test_a_call_in_flight_stays_what_it_is() -> None:
    assert rendered([ASK, SHELL, PATCH], "responses") == [ASK, SHELL, PATCH]


def test_the_stub_of_a_custom_tool_is_an_output_of_a_custom_tool() -> None:
    """PAIR-3."""
    call: Message = {"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": "*** Begin Patch"}
    stub = {"type": "custom_tool_call_output", "call_id": "c", "output": UNANSWERED_STUB}
    assert rendered([ASK, call, ASK], "responses") == [ASK, call, stub, ASK]


def test_a_screenshot_is_an_image() -> None:
    """METER-1: not its base64 as text."""
    call: Message = {"type": "computer_call", "call_id": "c", "action": {"type": "screenshot"}}
    picture = {"type": "computer_screenshot", "image_url": "data:image/png;base64,AAAA"}
    output: Message = {"type": "computer_call_output", "call_id": "c", "output": picture}
    assert rendered([ASK, call, output, ASK], "responses") == [ASK, call, output, ASK]
    assert "base64" not in view_message(output).results[0].text
    assert view_message(output).results[0].images == 1


@pytest.mark.parametrize("profile", get_args(Profile))
@pytest.mark.parametrize(
    "odd",
    [
        {"role": "user", "content": [{"type": []}]},
        {"role": "user", "content": [{"type": {"a": 1}, "text": "hi"}]},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": [], "function": {"name": "f"}}]},
        {"role": "assistant", "type": [], "content": "x"},
    ],
)
def test_a_type_that_is_no_text_blocks_no_rendering(profile: Profile, odd: Message) -> None:
    """LOG-3: one odd message never blocks later ones."""
    assert rendered([ASK, odd, ASK], profile)[-1]["content"]
