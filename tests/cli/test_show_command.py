"""``sessionstore show``: what is seen of a conversation, and which part of it."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sessionstore import SessionStore
from sessionstore.cli.conversation_view import OUTPUT_LINES
from sessionstore.cli.settings import database_url

from .running import TRANSCRIPT, CommandLine

KEYS = ["seq", "kind", "role", "generation", "created_at", "origin_seq", "message"]


def stored(program: CommandLine, *messages: dict[str, Any]) -> CommandLine:
    with SessionStore.open(database_url(str(program.database))) as store:
        store.create_session("s").append(list(messages))
    return program


def recorded_messages() -> list[dict[str, Any]]:
    """The transcript's messages as they are stored."""
    records = [json.loads(line) for line in TRANSCRIPT.read_text(encoding="utf-8").splitlines()]
    return [record for record in records if record["role"] != "system"]


def test_json_gives_the_context_row_by_row(compacted: CommandLine) -> None:
    rows = compacted.json("show", "fix-auth", "--json")
    assert {tuple(row) for row in rows} == {tuple(KEYS)}
    assert [row["seq"] for row in rows if row["kind"] == "summary"] == [204]
    with SessionStore.open(database_url(str(compacted.database))) as store:
        assert [row["message"] for row in rows] == store.resume("fix-auth").context()


def test_the_log_holds_everything_whatever_was_compacted(compacted: CommandLine) -> None:
    """LOG-1: rows are appended, never rewritten."""
    rows = compacted.json("show", "fix-auth", "--log", "--json")
    assert [row["seq"] for row in rows] == list(range(205))
    expected = recorded_messages()
    assert [row["message"]["content"] for row in rows[:204]] == [message["content"] for message in expected]


def test_a_json_body_comes_out_as_it_was_stored(empty: CommandLine) -> None:
    """LOG-3: keys in order, numbers as they were written, lone surrogates."""
    body = '{"role":"user","z":1e2,"content":"lone \\ud83d half","big":123456789012345678901234567890,"a":null}'
    with SessionStore.open(database_url(str(empty.database))) as store:
        store.create_session("s").append_json(body)
    text = empty.succeed("show", "s", "--json")
    assert body in text
    assert json.loads(text)[0]["message"] == json.loads(body)


@pytest.mark.parametrize(
    ("range_", "seqs"),
    [
        ("12-15", [12, 13, 14, 15]),
        ("#12-#14", [12, 13, 14]),
        ("7", [7]),
        ("202-", [202, 203, 204]),
        ("203-999", [203, 204]),
        ("900-", []),
    ],
)
def test_a_range_is_of_the_log_with_both_ends(compacted: CommandLine, range_: str, seqs: list[int]) -> None:
    assert [row["seq"] for row in compacted.json("show", "fix-auth", "--range", range_, "--json")] == seqs


@pytest.mark.parametrize("range_", ["5-3", "a-b", "-3", "1-2-3", "9" * 30])
def test_a_range_that_is_none_is_wrong_usage(conversation: CommandLine, range_: str) -> None:
    assert conversation.run("show", "fix-auth", f"--range={range_}").exit_code == 2


@pytest.mark.parametrize("count", [0, 1, 2, 10, 500])
def test_the_last_messages_are_those_at_the_end_of_the_context(compacted: CommandLine, count: int) -> None:
    whole = compacted.json("show", "fix-auth", "--json")
    assert compacted.json("show", "fix-auth", "--last", str(count), "--json") == (whole[-count:] if count else [])


def test_a_log_of_many_pages_is_whole_and_in_order(empty: CommandLine) -> None:
    stored(empty, *({"role": "user", "content": f"message {number}"} for number in range(1_234)))
    assert [row["seq"] for row in empty.json("show", "s", "--log", "--json")] == list(range(1_234))
    assert [row["seq"] for row in empty.json("show", "s", "--last", "450", "--json")] == list(range(784, 1_234))


def test_an_ended_generation_is_shown_when_it_is_asked_for_exactly(compacted: CommandLine) -> None:
    """LIN-1 and LIN-2: any id gives the tip, and a generation that ended shows the same context for ever."""
    assert compacted.json("show", "fix-auth~2", "--json") == compacted.json("show", "Fix auth", "--json")
    exact = compacted.json("show", "fix-auth", "--exact", "--json")
    assert [row["seq"] for row in exact] == list(range(204))


def test_each_message_has_its_role_number_and_text(conversation: CommandLine) -> None:
    text = conversation.succeed("show", "fix-auth")
    first = recorded_messages()[0]
    assert "\n#0 user  2025-07-08 " in text
    assert first["content"] in text
    assert "\n  → terminal  command=git status --short && git log --oneline" in text
    assert "\nsystem prompt\n" in text


def test_a_long_output_is_cut_and_full_shows_it(empty: CommandLine) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "seq 40"}'}}
    output = "\n".join(f"line {number}" for number in range(40))
    stored(
        empty,
        {"role": "user", "content": "count"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": output},
    )
    cut = empty.succeed("show", "s")
    assert f"line {OUTPUT_LINES - 1}\n    … {40 - OUTPUT_LINES} more lines, --full shows them\n" in cut
    assert "← bash" in cut
    full = empty.succeed("show", "s", "--full")
    assert all(f"    line {number}\n" in full for number in range(40))
    assert "--full" not in full


def test_a_call_is_one_line_however_long_its_arguments(empty: CommandLine) -> None:
    arguments = json.dumps({"path": "a.py", "text": "first\nsecond\n" * 500})
    call = {"id": "c1", "type": "function", "function": {"name": "write", "arguments": arguments}}
    text = stored(empty, {"role": "assistant", "content": None, "tool_calls": [call]}).succeed("show", "s")
    (line,) = [line for line in text.splitlines() if "→" in line]
    assert line.startswith("  → write  path=a.py text=first second")
    assert len(line) < 200


def test_summaries_and_shortened_forms_are_marked(compacted: CommandLine, tmp_path: Path) -> None:
    """MARK-1: what is a summary is a stored field, not a look."""
    assert "\n#204 assistant  [summary of earlier messages]" in compacted.succeed("show", "fix-auth")
    policy = tmp_path / "prune.toml"
    policy.write_text("summarize = false\n")
    compacted.succeed("undo", "fix-auth")
    compacted.succeed("compact", "fix-auth", "--policy", str(policy))
    rows = [row for row in compacted.json("show", "fix-auth", "--json") if row["kind"] == "rendition"]
    assert rows
    text = compacted.succeed("show", "fix-auth")
    assert all(f"\n#{row['seq']} {row['role']}  [shortened form of #{row['origin_seq']}]" in text for row in rows)


def test_text_that_looks_like_a_summary_is_not_marked(empty: CommandLine) -> None:
    text = stored(empty, {"role": "user", "content": "## Active Task\nThis is a summary"}).succeed("show", "s")
    assert "[summary" not in text


def test_a_message_cannot_drive_the_terminal(empty: CommandLine) -> None:
    evil = "\x1b]0;title\x07\x1b[2J\x9b31m red\rover"
    call = {"id": "c\x1b", "type": "function", "function": {"name": f"t{evil}", "arguments": json.dumps({"a": evil})}}
    stored(
        empty,
        {"role": "user", "content": evil},
        {"role": "assistant", "content": evil, "tool_calls": [call], "reasoning_content": evil},
        {"role": "tool", "tool_call_id": "c\x1b", "content": evil},
    )
    for arguments in (["show", "s"], ["show", "s", "--full"]):
        text = empty.on_terminal(*arguments, environment={"NO_COLOR": "1"})
        assert not {"\x1b", "\x07", "\x9b", "\r"} & set(text)
        assert "␛[2J" in text


def test_markdown_is_rendered_on_a_terminal_and_nothing_is_swallowed(empty: CommandLine) -> None:
    stored(
        empty,
        {"role": "assistant", "content": "some **bold** words"},
        {"role": "assistant", "content": "a <tag>inside</tag> of **bold** words"},
        {"role": "user", "content": "my **own** words"},
    )
    shown = empty.on_terminal("show", "s", environment={"NO_COLOR": "1"})
    assert "some bold words" in shown
    assert "a <tag>inside</tag> of **bold** words" in shown
    assert "my **own** words" in shown
    assert "some **bold** words" in empty.succeed("show", "s")


def test_messages_of_every_dialect_are_shown(empty: CommandLine) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    stored(
        empty,
        {"role": "user", "content": [{"type": "text", "text": "look"}, image]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "a.py"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "no file", "is_error": True}]},
        {"type": "function_call", "call_id": "f1", "name": "grep", "arguments": '{"pattern": "x"}'},
        {"type": "function_call_output", "call_id": "f1", "output": "a.py:1:x"},
    )
    text = empty.succeed("show", "s")
    assert "[1 image]" in text
    assert "iVBOR" not in text
    assert "  → Read  path=a.py\n" in text
    assert "  ← Read failed\n    no file\n" in text
    assert "  → grep  pattern=x\n" in text
    assert "  ← grep\n    a.py:1:x\n" in text
