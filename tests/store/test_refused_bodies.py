"""What JSON cannot hold, and what is no message, is refused by name and blocks nothing."""
from __future__ import annotations

import json
from typing import Any

import pytest

from sessionstore import InvalidMessageError, MessageTooLargeError, SessionStore


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '"user"',
        '{"role":"user"} {"role":"user"}',
        '{"role":"user","n":NaN}',
        '{"role":"user","n":-Infinity}',
        '{"role":"user","content":"a\x00b"}',
        '{"role":"user","content":"line\nbreak"}',
        '{"role":"user","content":"\\\ud83d"}',
        "{'role':'user'}",
        '\ufeff{"role":"user"}',
        '{"role":"user",}',
        '{"content":"nobody said it"}',
        '{"role":5}',
        '{"role":""}',
    ],
    ids=repr,
)
def test_text_that_is_no_message_is_refused_and_blocks_nothing(store: SessionStore, text: str) -> None:
    """LOG-3"""
    session = store.create_session("text")
    with pytest.raises(InvalidMessageError):
        session.append_json(text)
    assert session.append({"role": "user", "content": "next"}) == [0]


def cycle() -> dict[str, Any]:
    message: dict[str, Any] = {"role": "user"}
    message["self"] = message
    return message


REFUSED: dict[str, tuple[Any, str]] = {
    "NaN": ({"role": "user", "n": float("nan")}, "NaN"),
    "Infinity": ({"role": "user", "n": [float("inf")]}, "Infinity"),
    "minus Infinity": ({"role": "user", "n": {"m": float("-inf")}}, "Infinity"),
    "tuple": ({"role": "user", "content": ("a", "b")}, "tuple"),
    "number as key": ({"role": "user", 1: "a"}, "keys"),
    "None as key": ({"role": "user", None: "a"}, "keys"),
    "bytes": ({"role": "user", "content": b"x"}, "bytes"),
    "set": ({"role": "user", "content": {"x"}}, "set"),
    "itself": (cycle(), "contains itself"),
    "no role": ({"content": "x"}, "role"),
    "role that is no text": ({"role": None, "content": "x"}, "role"),
    "text": ("hello", "str"),
    "nothing": (None, "NoneType"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_json_cannot_hold_is_refused_by_name_and_index(store: SessionStore, name: str) -> None:
    """LOG-3: nothing of the list is stored, the good messages of the next list are."""
    message, reason = REFUSED[name]
    session = store.create_session("bad")
    good = {"role": "user", "content": "good"}
    for write in (session.append, session.flush):
        with pytest.raises(InvalidMessageError, match=reason) as caught:
            write([good, message, good])
        assert caught.value.index == 1
    assert session.context() == []
    assert session.flush([good]) == [0]


@pytest.mark.parametrize("depth", [500, 5_000, 200_000])
def test_nesting_beyond_the_limit_is_a_typed_error(store: SessionStore, depth: int) -> None:
    """LOG-3: as value and as text, and never a crash of the interpreter."""
    session = store.create_session("deep")
    nested: Any = []
    for _ in range(depth):
        nested = [nested]
    with pytest.raises(InvalidMessageError, match="nested"):
        session.append({"role": "user", "content": nested})
    with pytest.raises(InvalidMessageError, match="nested"):
        session.append_json('{"role":"user","content":' + "[" * depth + "]" * depth + "}")
    assert session.append({"role": "user", "content": "next"}) == [0]


def test_a_message_above_the_limit_is_a_typed_error_with_its_size(database_url: str) -> None:
    """LOG-3: measured in bytes of UTF-8, at the very limit still accepted."""
    fits = {"role": "user", "content": "é" * 50}
    size = len(json.dumps(fits, ensure_ascii=False, separators=(",", ":")).encode())
    with SessionStore.open(database_url, max_message_bytes=size) as store:
        session = store.create_session("large")
        assert session.append(fits) == [0]
        for write in (session.append, session.flush):
            with pytest.raises(MessageTooLargeError) as caught:
                write([fits, {"role": "user", "content": "é" * 51}])
            assert (caught.value.size, caught.value.limit, caught.value.index) == (size + 2, size, 1)
        assert session.append(fits) == [1]
