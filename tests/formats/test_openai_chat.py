"""OpenAI chat transcripts: documents and lines, threads, side chains, keys and times."""
from __future__ import annotations

import json
from typing import Any

import pytest

from sessionstore.errors import ImportFormatError
from sessionstore.formats.openai_chat import read_openai_document, read_openai_lines
from sessionstore.formats.parsed import ParsedLineage


def lines(*records: dict[str, Any]) -> list[str]:
    return [json.dumps(record) for record in records]


def message(content: str, role: str = "user", **extra: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **extra}


def contents(lineage: ParsedLineage) -> list[str]:
    return [json.loads(one.body)["content"] for one in lineage.messages]


def test_lines_come_in_byte_for_byte_with_their_times() -> None:
    raw = '{"role":"user", "content":"a\\u00e9", "n":1e2,  "id":"m1", "created_at":"2026-01-02T03:04:05Z"}'
    seconds = json.dumps(message("b", "assistant", timestamp=1767323045, parent="m1"))
    milliseconds = json.dumps(message("c", timestamp=1767323045250))
    (lineage,) = read_openai_lines([raw, seconds, milliseconds]).lineages
    assert [one.body for one in lineage.messages] == [raw, seconds, milliseconds]
    assert [one.created_at for one in lineage.messages] == [1767323045.0, 1767323045.0, 1767323045.25]
    assert lineage.session_id is None


def test_leading_system_and_developer_messages_are_the_system_prompt() -> None:
    records = lines(message("be kind", "system"), message("be brief", "developer"), message("hi"), message("later", "system"))
    (lineage,) = read_openai_lines(records).lineages
    assert lineage.system_prompt == "be kind\n\nbe brief"
    assert contents(lineage) == ["hi", "later"]


def test_a_document_comes_in_as_a_list_or_with_messages_and_names_the_lines() -> None:
    listed = json.dumps([message("hi"), message("hi"), "odd"], indent=1)
    transcript = read_openai_document("\n" + listed + "\n")
    assert contents(transcript.lineages[0]) == ["hi", "hi"]
    assert [one.line for one in transcript.lineages[0].messages] == [3, 7]
    assert [one.line for one in transcript.damaged] == [11]
    assert all("\n" not in one.body for one in transcript.lineages[0].messages)
    answer = {"choices": [{"message": message("bye", "assistant")}]}
    wrapped = json.dumps({"tools": [], "messages": [message("hi")], "response": answer})
    assert contents(read_openai_document(wrapped).lineages[0]) == ["hi", "bye"]
    assert contents(read_openai_lines([wrapped]).lineages[0]) == ["hi", "bye"]


def test_text_that_is_no_document_is_refused() -> None:
    with pytest.raises(ImportFormatError, match="not one JSON document"):
        read_openai_document("[1,")


def test_equal_messages_have_keys_of_their_own_that_a_grown_file_repeats() -> None:
    """IMP-2"""
    short = read_openai_lines(lines(message("ok"), message("go", id="x"), message("ok"))).lineages[0]
    grown = read_openai_lines(lines(message("ok"), message("go", id="x"), message("ok"), message("ok"))).lineages[0]
    keys = [one.key for one in grown.messages]
    assert len(set(keys)) == 4
    assert keys[1] == "x"
    assert keys[:3] == [one.key for one in short.messages]


def test_side_chains_leave_the_main_line_also_when_they_are_newer() -> None:
    calls = [{"id": "t", "function": {"name": "x", "arguments": "{}"}}]
    transcript = read_openai_lines(
        lines(
            message("go", id="a"),
            message("", "assistant", id="b", parent="a", tool_calls=calls),
            message("sub done", "tool", tool_call_id="t", id="c", parent="b"),
            message("end", "assistant", id="d", parent="c"),
            message("progress 1", "assistant", id="p1", parent="b", sidechain=True),
            message("progress 2", "assistant", id="p2", parent="p1", sidechain=True),
            message("other", "assistant", id="q1", parent="d", sidechain=True),
        )
    )
    main, first, second = transcript.lineages
    assert contents(main) == ["go", "", "sub done", "end"]
    assert contents(first) == ["progress 1", "progress 2"]
    assert (first.relation, first.branch, first.branched_after) == ("subagent", "1", 1)
    assert (contents(second), second.branch, second.branched_after) == (["other"], "2", 3)
    assert main.rewinds == ()


def test_a_branch_is_a_rewind_to_where_it_begins() -> None:
    answers = [message(words, "assistant", id=words, parent="a") for words in ("one", "two")]
    (lineage,) = read_openai_lines(lines(message("go", id="a"), *answers)).lineages
    assert contents(lineage) == ["go", "one", "two"]
    assert [(rewind.position, rewind.target) for rewind in lineage.rewinds] == [(2, 0)]


def test_missing_and_cyclic_parents_lose_nothing_and_never_loop() -> None:
    """IMP-1"""
    transcript = read_openai_lines(
        lines(
            message("1", id="a", parent="gone"), message("2", id="b", parent="c"), message("3", id="c", parent="b"),
            message("4", id="d", parent="c"), message("5", id="e", parent="e"),
        )
    )
    assert sorted(contents(transcript.lineages[0])) == ["1", "2", "3", "4", "5"]
    assert [note.line for note in transcript.notes] == [1, 2, 3, 5]
    assert transcript.damaged == ()


def test_a_message_before_its_parent_follows_it() -> None:
    (lineage,) = read_openai_lines(lines(message("2", id="b", parent="a"), message("3"), message("1", id="a"))).lineages
    order = contents(lineage)
    assert order.index("1") < order.index("2")
    assert sorted(order) == ["1", "2", "3"]


def test_a_repeated_id_loses_no_message() -> None:
    transcript = read_openai_lines(lines(message("a", id="x"), message("b", id="x"), message("a", id="x")))
    assert contents(transcript.lineages[0]) == ["a", "b", "a"]
    assert len({one.key for one in transcript.lineages[0].messages}) == 3


def test_what_cannot_be_stored_is_reported_and_the_rest_comes_in() -> None:
    """LOG-3"""
    transcript = read_openai_lines([*lines({"content": "no role"}, message("ok")), '{"role": "user", "content'])
    assert contents(transcript.lineages[0]) == ["ok"]
    assert [one.line for one in transcript.damaged] == [1, 3]


def test_surrogates_and_nul_come_in() -> None:
    """LOG-3"""
    raw = '{"role": "user", "content": "a\\u0000b \ud99c"}'
    (lineage,) = read_openai_lines([raw]).lineages
    assert json.loads(lineage.messages[0].body)["content"] == "a\x00b \ud99c"
    lineage.messages[0].body.encode("utf-8")
