"""Random transcripts in three dialects, damage included: what the properties of the rules are tried on."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from sessionstore.domain.transcript import Entry

Message = dict[str, Any]

WORDS = st.sampled_from(
    [
        "ok",
        "continue",
        "",
        " ",
        "fix the bug in a.py",
        "Größe 12 µm",
        "你好",
        "a\x00b",
        "\ud83d lone",
        "🙂 done",
        "x" * 260,
        "line\n" * 90,
    ]
)
CALL_IDS = st.sampled_from(["c1", "c2", "0", "td:1", "", "call_1"])
TOOLS = st.sampled_from(["bash", "read_file", "grep", "edit", "todo_write", "mystery", "task"])
DATA_URL = "data:image/png;base64,iVBORw0KGgo="


@st.composite
def argument_objects(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments of a call, some of them long."""
    return draw(
        st.dictionaries(
            st.sampled_from(["command", "path", "content", "pattern", "deep", "n"]),
            st.one_of(WORDS, st.integers(), st.lists(WORDS, max_size=2), st.just("y" * 900), st.none()),
            max_size=3,
        )
    )


@st.composite
def chat_messages(draw: st.DrawFn) -> list[Message]:
    """A few messages in OpenAI's form that belong together, or should."""
    kind = draw(st.integers(0, 6))
    if kind == 0:
        return [{"role": "user", "content": draw(WORDS)}]
    if kind == 1:
        image = {"type": "image_url", "image_url": {"url": draw(st.sampled_from([DATA_URL, "https://example.invalid/a.png"]))}}
        return [{"role": "user", "content": [{"type": "text", "text": draw(WORDS)}, image]}]
    if kind == 2:
        extras: list[Message] = [{}, {"reasoning_content": "because"}, {"unknown": {"a": [1]}}]
        extra = draw(st.sampled_from(extras))
        return [{"role": "assistant", "content": draw(WORDS), **extra}]
    if kind == 3:
        return [{"role": "tool", "tool_call_id": draw(CALL_IDS), "content": draw(WORDS)}]
    if kind == 4:
        return [{"role": draw(st.sampled_from(["system", "developer"])), "content": draw(WORDS)}]
    calls = draw(st.lists(st.tuples(CALL_IDS, TOOLS, argument_objects()), min_size=1, max_size=3))
    written = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for call_id, name, arguments in calls
    ]
    results = [{"role": "tool", "tool_call_id": call_id, "content": draw(WORDS)} for call_id, _, _ in calls]
    return [{"role": "assistant", "content": draw(st.one_of(st.none(), WORDS)), "tool_calls": written}, *damaged(draw, results)]


@st.composite
def anthropic_messages(draw: st.DrawFn) -> list[Message]:
    """A few messages of content blocks that belong together, or should."""
    kind = draw(st.integers(0, 4))
    if kind == 0:
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
        images = [image] if draw(st.booleans()) else []
        return [{"role": "user", "content": [{"type": "text", "text": draw(WORDS)}, *images]}]
    thoughts: list[list[Message]] = [
        [],
        [{"type": "thinking", "thinking": "deep", "signature": "SIG=="}],
        [{"type": "redacted_thinking", "data": "ENC=="}],
        [{"type": "thinking", "thinking": "unsigned"}],
    ]
    thinking = draw(st.sampled_from(thoughts))
    if kind == 1:
        return [{"role": "assistant", "content": [*thinking, {"type": "text", "text": draw(WORDS)}]}]
    if kind == 2:
        use = {"type": "server_tool_use", "id": "srv1", "name": "advisor", "input": {}}
        answer = {"type": "advisor_tool_result", "tool_use_id": "srv1", "content": "use a queue"}
        fates: list[list[list[Message]]] = [[[use, answer]], [[use], [answer]], [[use]], [[answer]]]
        pieces = draw(st.sampled_from(fates))
        return [{"role": "assistant", "content": piece} for piece in pieces]
    if kind == 3:
        return [{"role": "assistant", "content": thinking}] if thinking else []
    calls = draw(st.lists(st.tuples(CALL_IDS, TOOLS, argument_objects()), min_size=1, max_size=3))
    blocks = [{"type": "tool_use", "id": call_id, "name": name, "input": arguments} for call_id, name, arguments in calls]
    answers: list[Message] = [
        {
            "type": "tool_result",
            "tool_use_id": call_id,
            "content": draw(WORDS),
            **draw(st.sampled_from([{}, {"is_error": True}])),
        }
        for call_id, _, _ in calls
    ]
    answers = damaged(draw, answers)
    call = {"role": "assistant", "content": [*thinking, *blocks]}
    if draw(st.booleans()):
        return [call, *({"role": "user", "content": [answer]} for answer in answers)]
    said = draw(st.sampled_from([[], [{"type": "text", "text": "and one more thing"}]]))
    return [call, {"role": "user", "content": [*answers, *said]}]


@st.composite
def responses_items(draw: st.DrawFn) -> list[Message]:
    """A few Responses items that belong together, or should."""
    kind = draw(st.integers(0, 3))
    if kind == 0:
        return [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": draw(WORDS)}]}]
    reasoning = draw(st.sampled_from([[], [{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E"}]]))
    if kind == 1:
        said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": draw(WORDS)}]}
        return [*reasoning, said]
    if kind == 2:
        return [*reasoning]
    calls = draw(st.lists(st.tuples(CALL_IDS, TOOLS, argument_objects()), min_size=1, max_size=3))
    items: list[Message] = [
        {
            "type": "function_call",
            "id": "fc_1",
            "requires": "rs_1",
            "call_id": call_id,
            "name": name,
            "arguments": json.dumps(value),
        }
        for call_id, name, value in calls
    ]
    outputs = [{"type": "function_call_output", "call_id": call_id, "output": draw(WORDS)} for call_id, _, _ in calls]
    return [*reasoning, *items, *damaged(draw, outputs)]


@st.composite
def transcripts(draw: st.DrawFn, max_turns: int = 8) -> list[Message]:
    """A whole message list; one dialect, or mixed."""
    dialects = draw(
        st.sampled_from(
            [
                [chat_messages()],
                [anthropic_messages()],
                [responses_items()],
                [chat_messages(), anthropic_messages(), responses_items()],
            ]
        )
    )
    turns = draw(st.lists(st.one_of(*dialects), max_size=max_turns))
    return [message for turn in turns for message in turn]


@st.composite
def contexts(draw: st.DrawFn, max_turns: int = 8) -> list[Entry]:
    """A context with a summary in it, perhaps."""
    messages = draw(transcripts(max_turns))
    summary_at = draw(st.one_of(st.none(), st.integers(0, len(messages))))
    entries = [Entry(seq=seq, kind="message", message=message) for seq, message in enumerate(messages)]
    if summary_at is None:
        return entries
    role = draw(st.sampled_from(["assistant", "user"]))
    summary = Entry(seq=len(entries), kind="summary", message={"role": role, "content": "Reference only: what came before."})
    return [*entries[:summary_at], summary, *entries[summary_at:]]


def damaged(draw: st.DrawFn, results: list[Message]) -> list[Message]:
    """Results as they really come in: whole, late by a message, partly missing, or one too many."""
    fate = draw(st.integers(0, 5))
    if fate == 0:
        return results[1:]
    if fate == 1:
        return list(reversed(results))
    if fate == 2:
        return [*results, results[-1]]
    return results
