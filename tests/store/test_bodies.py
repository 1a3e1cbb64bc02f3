"""Whatever JSON comes in comes out again, and one odd message never blocks the next."""
from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sessionstore import Session, SessionStore
from tests.store.conversations import SMALL, WINDOW, compacted, talk

ODD: dict[str, dict[str, Any]] = {
    "NUL": {"role": "user", "content": "a\x00b\x00"},
    "NUL in a key": {"role": "user", "a\x00b": 1},
    "lone high surrogate": {"role": "user", "content": "cut \ud83d off"},
    "lone low surrogate": {"role": "user", "content": "\udc00"},
    "surrogates the wrong way round": {"role": "user", "content": "\ude00\ud83d"},
    "surrogate in a key": {"role": "user", "\ud83d": 1},
    "surrogate in the role": {"role": "us\ud83der", "content": "x"},
    "NUL in the role": {"role": "us\x00er", "content": "x"},
    "odd call": {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c\ud83d\x00", "type": "function", "function": {"name": "t\ud83d\x00 t", "arguments": "{"}}],
    },
    "odd result": {"role": "tool", "tool_call_id": "c\ud83d\x00", "content": "r"},
    "calls of the wrong type": {"role": "assistant", "content": None, "tool_calls": {"id": 1}},
    "call ids that are numbers": {"role": "tool", "tool_call_id": 7, "content": 3.5},
    "key order": {"z": 1, "role": "user", "a": {"y": 1, "b": 2}, "content": "x"},
    "unknown keys": {"role": "user", "content": "x", "vendor": {"deep": [1, {"k": None}]}, "": ""},
    "null content": {"role": "assistant", "content": None},
    "empty lists": {"role": "assistant", "content": [], "tool_calls": []},
    "no content": {"role": "user"},
    "Responses call": {"type": "function_call", "call_id": "c", "name": "n", "arguments": "{}"},
    "Responses reasoning": {"type": "reasoning", "summary": [], "encrypted_content": "E=="},
    "unknown item": {"type": "computer_call", "action": {"x": 1}},
    "big integer": {"role": "user", "content": "x", "n": 10**4000, "m": -(2**70)},
    "floats": {"role": "user", "content": "x", "n": [1e2, 0.1, -0.0, 1e-300, 1.5e300]},
    "booleans beside numbers": {"role": "user", "content": [True, 1, 1.0, False, 0]},
    "special tokens": {"role": "user", "content": "<|endoftext|><|im_start|>"},
    "line ends": {"role": "user", "content": "a\r\nb\u2028c\u2029d\u0085e\ufefff"},
    "a fence that could close a statement": {"role": "user", "content": "'); DROP TABLE messages; --"},
}


def exactly(value: Any) -> str:
    """A value with its types, the order of its keys and the sign of its zeros."""
    return repr(value)


@pytest.mark.parametrize("name", ODD)
def test_an_odd_message_comes_back_equal_with_its_keys_in_order(store: SessionStore, name: str) -> None:
    """LOG-3, for append and flush alike."""
    message = ODD[name]
    session = store.create_session("odd")
    assert session.append(message) == [0]
    assert session.flush([message, message]) == [1]
    assert [exactly(found) for found in session.context()] == [exactly(message)] * 2
    assert [exactly(row.message) for row in session.history(0, 1)] == [exactly(message)] * 2


@pytest.mark.parametrize("name", ODD)
def test_an_odd_message_never_blocks_a_compaction_or_what_comes_later(store: SessionStore, name: str) -> None:
    """LOG-3: one odd message in the middle, another in the tail."""
    session = store.create_session("odd", context_window=WINDOW)
    session.flush([*talk(16), ODD[name], *talk(13, start=17), ODD[name]])
    continuation = compacted(session).session
    assert exactly(continuation.context()[-1]) == exactly(ODD[name])
    continuation.render("openai")
    continuation.render("anthropic")
    assert len(continuation.append(talk(2, start=40))) == 2


TEXTS = {
    "1e2": '{"role":"user","content":"x","n":1e2}',
    "spaces and order": ' { "b" : 1 ,\t"role":"user" , "a":[ ] }\n',
    "escapes": r'{"role":"user","content":"\u00e9\u0000\ud83d\/ \u0041"}',
    "duplicate keys": '{"role":"user","content":"first","content":"second"}',
    "integer of 5,000 digits": '{"role":"user","n":' + "9" * 5000 + "}",
    "long fraction": '{"role":"user","n":0.1234567890123456789012345678901234567890}',
    "minus zero": '{"role":"user","n":[-0,-0.0,0E+7]}',
    "number beyond a float": '{"role":"user","n":[1e400,-1e400]}',
    "non-ASCII": '{"role":"user","content":"Größe 你好 🙂"}',
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_is_kept_byte_for_byte(store: SessionStore, name: str) -> None:
    """LOG-3: what is given as JSON text is stored as it is."""
    session = store.create_session("text", context_window=WINDOW)
    assert session.append_json(TEXTS[name]) == 0
    assert session.history(0, 0)[0].body == TEXTS[name]
    assert session.flush([*session.context(), {"role": "user", "content": "next"}]) == [1]
    session.append(talk(30))
    continuation = compacted(session).session
    assert continuation.history(0, 0)[0].body == TEXTS[name]
    assert continuation.flush(continuation.context()) == []


def test_an_integer_of_5000_digits_comes_back_from_a_dict(store: SessionStore) -> None:
    """LOG-3: big integers, whatever the interpreter's limit on the digits of int(text)."""
    session = store.create_session("big")
    message = {"role": "user", "n": 7 * 10**4999 + 3}
    session.append(message)
    assert session.context() == [message]


def test_messages_with_integers_of_5000_digits_are_told_apart(store: SessionStore) -> None:
    """FLUSH-2, where a digest can't be made the short way."""
    session = store.create_session("big")
    session.append_json('{"role":"user","n":' + "9" * 5000 + "}")
    messages = session.context()
    assert session.flush(messages) == []
    messages[0] = {"role": "user", "n": messages[0]["n"] - 1}
    with pytest.raises(Exception, match="differs") as caught:
        session.flush(messages)
    assert type(caught.value).__name__ == "StaleCursorError"


@pytest.mark.parametrize("depth", [10, 390])
def test_deep_nesting_comes_back(store: SessionStore, depth: int) -> None:
    """LOG-3"""
    nested: Any = "leaf"
    for level in range(depth):
        nested = [nested] if level % 2 else {"k": nested}
    session = store.create_session("deep", context_window=WINDOW)
    message = {"role": "user", "content": nested}
    session.flush([*talk(15), message, *talk(14, start=16)])
    assert session.history(15, 15)[0].message == message
    compacted(session)


def test_a_string_of_30_million_characters_comes_back(store: SessionStore) -> None:
    """LOG-3"""
    session = store.create_session("large")
    message = {"role": "tool", "tool_call_id": "c", "content": "log line\n" * (30_000_000 // 9)}
    session.append(message)
    assert session.last(1) == [message]


def test_the_callers_values_are_never_touched_and_never_shared(store: SessionStore) -> None:
    """LOG-4: neither by the call, nor later by a change on either side."""
    session = store.create_session("mine", context_window=WINDOW)
    messages = [*talk(29), ODD["unknown keys"] | {"content": [{"type": "text", "text": "x"}]}]
    before = copy.deepcopy(messages)
    session.flush(messages)
    session.append(messages[-1])
    result = session.compact([*messages, messages[-1]], policy=SMALL)
    result.session.render("anthropic")
    assert messages == before
    messages[0]["content"] = "changed by the caller"
    messages[-1]["content"][0]["text"] = "changed by the caller"
    session.context()[1]["content"] = "changed by a reader"
    result.messages[0]["content"] = "changed by a reader"
    assert [row.message for row in session.history(0, 29)] == before
    assert result.session.context()[0] == before[0]


JSON_VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=20),
        st.sampled_from(["\ud83d", "\udc00x", "\x00", "~", "\\", '"']),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=6), inner, max_size=4)),
    max_leaves=12,
)
MESSAGES = st.dictionaries(
    st.sampled_from(["content", "tool_calls", "tool_call_id", "name", "type", "function_call", "x"]), JSON_VALUES, max_size=5
).map(lambda fields: fields | {"role": "assistant"})


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(messages=st.lists(MESSAGES, max_size=5))
def test_any_list_of_json_objects_comes_back_and_flushes_to_nothing(
    store: SessionStore, messages: list[dict[str, Any]]
) -> None:
    """LOG-3, LOG-4, FLUSH-1"""
    session: Session = store.create_session()
    before = copy.deepcopy(messages)
    assert len(session.flush(messages)) == len(messages)
    assert exactly(session.context()) == exactly(before) == exactly(messages)
    assert store.session(session.id).flush(session.context()) == []
    texts = [json.dumps(message) for message in messages]
    seqs = [session.append_json(text) for text in texts]
    assert [session.history(seq, seq)[0].body for seq in seqs] == texts
