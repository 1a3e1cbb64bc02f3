"""Damaged JSON Lines: everything whole comes back, everything else is reported with its line (IMP-1)."""
from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sessionstore.formats.json_lines import MAX_JOINED_LINES, JsonRecord, read_json_lines
from sessionstore.formats.parsed import DamagedLine


def _has_role(value: dict[str, Any]) -> bool:
    return isinstance(value.get("role"), str)


def _read(lines: list[str]) -> tuple[list[JsonRecord], list[DamagedLine]]:
    found = list(read_json_lines(lines, is_record=_has_role))
    records = [item for item in found if isinstance(item, JsonRecord)]
    return records, [item for item in found if isinstance(item, DamagedLine)]


def _message(text: str, **extra: Any) -> str:
    return json.dumps({"role": "user", "content": text, **extra})


def test_whole_lines_come_back_with_their_text_and_line() -> None:
    first, second = '{ "role":"user", "n":1e2 }', _message("two")
    records, damaged = _read([first + "\r\n", "", "  \n", second])
    assert [(record.line, record.text) for record in records] == [(1, first), (4, second)]
    assert damaged == []


def test_a_torn_last_line_is_reported_and_the_rest_comes_in() -> None:
    records, damaged = _read([_message("one"), _message("two"), '{"role": "user", "content": "thr'])
    assert [record.value["content"] for record in records] == ["one", "two"]
    assert [line.line for line in damaged] == [3]


def test_glued_records_are_taken_apart_and_braces_in_strings_are_not() -> None:
    records, damaged = _read([_message("a }{ b") + _message("c {not}{a} record") + " " + _message("d")])
    assert [record.value["content"] for record in records] == ["a }{ b", "c {not}{a} record", "d"]
    assert {record.line for record in records} == {1}
    assert damaged == []


def test_a_whole_record_behind_a_torn_one_is_recovered_and_the_line_reported() -> None:
    records, damaged = _read(['{"role": "assistant", "content": "fo' + _message("four") + _message("five")])
    assert [record.value["content"] for record in records] == ["four", "five"]
    assert [line.line for line in damaged] == [1]


def test_an_object_inside_a_torn_record_is_not_taken_for_a_record() -> None:
    torn = '{"role": "assistant", "tool_calls": [{"id": "x", "function": {"name": "grep"}}'
    records, damaged = _read([torn, _message("after")])
    assert [record.value["content"] for record in records] == ["after"]
    assert [line.line for line in damaged] == [1]


def test_padding_round_a_record_is_no_damage_but_a_line_of_nothing_else_is() -> None:
    padded = "\ufeff\x00\x00" + _message("one") + "\x00\x00\r\n"
    records, damaged = _read([padded, "\x00\x00\x00", _message("two")])
    assert [record.value["content"] for record in records] == ["one", "two"]
    assert records[0].text == _message("one")
    assert [line.line for line in damaged] == [2]


def test_a_record_with_raw_line_breaks_is_joined_to_one_line() -> None:
    lines = ['{"role": "tool", "content": "first', "", "second \t x", 'third", "ok": true}' + _message("glued")]
    records, damaged = _read([*lines, _message("end")])
    assert [record.value["content"] for record in records] == ["first\n\nsecond \t x\nthird", "glued", "end"]
    assert records[0].line == 1
    assert "\n" not in records[0].text
    assert json.loads(records[0].text) == {"role": "tool", "content": "first\n\nsecond \t x\nthird", "ok": True}
    assert damaged == []


def test_a_pretty_printed_record_is_joined() -> None:
    lines = json.dumps({"role": "assistant", "calls": [{"id": "x"}, {"id": "y"}]}, indent=2).split("\n")
    records, damaged = _read([*lines, _message("end")])
    assert [record.value["role"] for record in records] == ["assistant", "user"]
    assert damaged == []


def test_a_torn_record_in_the_middle_does_not_swallow_the_lines_after_it() -> None:
    torn = ['{"role": "user", "content": "to', "no json"]
    records, damaged = _read([_message("one"), *torn, _message("three"), _message("four")])
    assert [record.value["content"] for record in records] == ["one", "three", "four"]
    assert [line.line for line in damaged] == [2, 3]


def test_lines_that_cannot_be_joined_are_all_reported() -> None:
    lines = ['{"role": "user", "content": "open', *["x" for _ in range(MAX_JOINED_LINES + 5)]]
    records, damaged = _read([*lines, _message("end")])
    assert [record.value["content"] for record in records] == ["end"]
    assert [line.line for line in damaged] == list(range(1, len(lines) + 1))


def test_what_is_no_object_is_reported_by_what_it_is() -> None:
    records, damaged = _read(['"massive"', "42", '[{"role": "user"}]', "null", "true", "words", "{bad}", _message("ok")])
    assert len(records) == 1
    assert [line.line for line in damaged] == [1, 2, 3, 4, 5, 6, 7]
    assert "string" in damaged[0].reason
    assert "array" in damaged[2].reason


def test_nan_is_reported_and_the_word_in_a_text_is_not() -> None:
    lines = ['{"role": "user", "n": NaN}' + _message("glued"), _message("Infinity and [NaN]"), '{"role": "u", "n": -Infinity}']
    records, damaged = _read(lines)
    assert [record.value["content"] for record in records] == ["glued", "Infinity and [NaN]"]
    assert [line.line for line in damaged] == [1, 3]


def test_integers_of_any_length_and_raw_control_characters_come_in() -> None:
    records, damaged = _read(['{"role": "user", "n": ' + "9" * 5000 + "}", '{"role": "user", "content": "a\x00\x1b[0m"}'])
    assert damaged == []
    assert records[0].text.count("9") == 5000
    assert json.loads(records[1].text)["content"] == "a\x00\x1b[0m"


def test_nesting_beyond_what_can_be_read_is_reported() -> None:
    records, damaged = _read(['{"role": "user", "x": ' + "[" * 200_000, _message("ok")])
    assert [record.value["content"] for record in records] == ["ok"]
    assert [line.line for line in damaged] == [1]


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12) | st.sampled_from(["{", "}", '"', "\\", '{"role":"x"}']),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
_RECORDS = st.builds(lambda content, serial: {"role": "user", "content": content, "serial": serial}, _VALUES, st.integers())


_DAMAGE = st.sampled_from(["whole", "glued", "cut", "broken", "padded"])


@given(st.lists(st.tuples(_RECORDS, _DAMAGE, st.integers(0, 400)), max_size=12))
def test_every_intact_line_comes_back_whatever_stands_round_it(script: list[tuple[dict[str, Any], str, int]]) -> None:
    lines: list[str] = []
    intact: list[dict[str, Any]] = []
    for record, damage, position in script:
        text = json.dumps(record, ensure_ascii=False)
        if damage == "cut":
            lines.append(text[: position % len(text)])
        elif damage == "broken":
            at = position % len(text)
            lines += [text[:at], text[at:]]
        else:
            intact += [record] * (2 if damage == "glued" else 1)
            lines.append({"glued": text + text, "padded": "\x00" + text + "\x00\r\n"}.get(damage, text))
    records, damaged = _read(lines)
    remaining = [record.value for record in records]
    for record in intact:
        assert record in remaining
        remaining.remove(record)
    assert all(1 <= line.line <= len(lines) for line in damaged)


@given(st.text(alphabet='{}[]":,\\ \x00\nrole1', max_size=200))
def test_no_text_makes_the_reader_fail(text: str) -> None:
    for item in read_json_lines(text.split("\n"), is_record=_has_role):
        assert 1 <= item.line <= text.count("\n") + 1
