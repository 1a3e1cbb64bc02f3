"""What pruning does to repeats, old outputs, arguments, images and what is too large."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sessionstore.domain.policy import CompactionPolicy
from sessionstore.domain.pruning import Rendition, prune
from sessionstore.domain.transcript import Entry
from tests.counters import PieceCounter

Message = dict[str, Any]
LONG = "a line of output\n" * 60
OTHER = "quite another line\n" * 60
POLICY = CompactionPolicy(keep_tool_results=0)


def turn(tool: str, arguments: dict[str, Any], output: Any, **extra: Any) -> list[Message]:
    call = {"id": "c", "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": output, **extra},
    ]


def pruned(
    messages: list[Message],
    policy: CompactionPolicy = POLICY,
    *,
    start: int = 0,
    stop: int | None = None,
    oversized: int | None = None,
) -> dict[int, Rendition]:
    entries = [Entry(seq, "message", message) for seq, message in enumerate(messages)]
    found = prune(
        entries,
        start=start,
        stop=len(entries) if stop is None else stop,
        policy=policy,
        oversized_tokens=oversized,
        counter=PieceCounter(),
    )
    return {rendition.source_seq: rendition for rendition in found}


def test_an_old_output_becomes_one_line_and_every_other_key_stays() -> None:
    """PRUNE-1."""
    found = pruned(turn("bash", {"command": "ls"}, LONG, name="bash", unknown=1))
    assert list(found) == [1]
    assert found[1].message == {
        "role": "tool",
        "tool_call_id": "c",
        "content": '[bash] ran "ls" -> 60 lines, ends "a line of output"',
        "name": "bash",
        "unknown": 1,
    }
    assert (found[1].origin_seq, found[1].reason) == (1, "output")


@pytest.mark.parametrize("flag", [True, False])
def test_the_dialect_and_the_error_flag_stay(flag: bool) -> None:
    """PRUNE-1."""
    blocks: list[Message] = [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "bash", "input": {"command": "ls"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": LONG, "is_error": flag}]},
    ]
    block = pruned(blocks)[1].message["content"][0]
    assert list(block) == ["type", "tool_use_id", "content", "is_error"]
    assert block["is_error"] is flag
    assert block["content"].startswith('[bash] ran "ls" -> ')
    items: list[Message] = [
        {"type": "function_call", "call_id": "c", "name": "bash", "arguments": '{"command": "ls"}'},
        {"type": "function_call_output", "call_id": "c", "output": LONG},
    ]
    assert pruned(items)[1].message["output"].startswith('[bash] ran "ls" -> ')


def test_the_newest_outputs_and_protected_tools_stay_whole() -> None:
    """PRUNE-1."""
    messages = [message for number in range(5) for message in turn("bash", {"command": f"ls {number}"}, f"{number} {LONG}")]
    assert list(pruned(messages, CompactionPolicy())) == [1, 3]
    assert pruned(messages, CompactionPolicy(keep_tool_results=0, protected_tools=frozenset({"bash"}))) == {}


def test_a_repeat_says_where_the_full_copy_is_and_that_copy_stays() -> None:
    """PRUNE-1."""
    messages = [
        *turn("bash", {"command": "ls"}, LONG),
        *turn("bash", {"command": "ls"}, LONG),
        *turn("bash", {"command": "x"}, LONG),
    ]
    found = pruned(messages)
    assert {seq: rendition.message["content"] for seq, rendition in found.items()} == {
        1: "[same output as #5]",
        3: "[same output as #5]",
    }
    assert found[1].reason == "duplicate"


def test_a_repeated_failure_is_still_seen_as_one() -> None:
    """PRUNE-1."""
    failure = "Error: no route to host\n" + LONG
    found = pruned([*turn("bash", {"command": "ping"}, failure), *turn("bash", {"command": "ping"}, failure)])
    assert found[1].message["content"] == "[same output as #3] (failed: Error: no route to host)"


def test_reads_before_and_after_an_edit_are_not_the_same() -> None:
    """PRUNE-1."""
    read = turn("read_file", {"path": "src/a.py"}, LONG)
    for edit in (turn("edit", {"path": "src/a.py", "new_string": "x"}, "ok"), turn("edit", {"path": "/repo/src/a.py"}, "ok")):
        found = pruned([*read, *edit, *read])
        assert found[1].message["content"] == "[read_file] read src/a.py -> 60 lines"
    elsewhere = turn("edit", {"path": "src/b.py", "new_string": "x"}, "ok")
    assert pruned([*read, *elsewhere, *read])[1].message["content"] == "[same output as #5]"


def test_head_and_tail_stay_and_a_copy_in_the_tail_is_named() -> None:
    """PRUNE-1."""
    messages = [message for _ in range(3) for message in turn("bash", {"command": "ls"}, LONG)]
    found = pruned(messages, start=2, stop=4)
    assert {seq: rendition.message["content"] for seq, rendition in found.items()} == {3: "[same output as #5]"}


def test_a_short_output_stays() -> None:
    """SHRINK-1."""
    assert (
        pruned([*turn("bash", {"command": "ls"}, "x" * 200), *turn("bash", {"command": "id"}, "ok"), *turn("id", {}, "ok")])
        == {}
    )


def test_a_result_too_large_for_any_place_is_cut_in_the_tail_too() -> None:
    """PRUNE-1, STUCK-1."""
    output = "BEGIN " + LONG * 40 + " END"
    found = pruned(turn("bash", {"command": "ls"}, output), start=0, stop=0, oversized=1_000)
    text = found[1].message["content"]
    assert text.startswith("BEGIN ")
    assert text.endswith(" END")
    assert "characters cut; whole in #1] …" in text
    assert PieceCounter().count(text) <= 1_000
    assert found[1].reason == "oversized"


def test_a_cut_output_becomes_a_line_once_it_is_old() -> None:
    """PRUNE-1: and a rendition keeps the row it came from."""
    messages = turn("bash", {"command": "ls"}, LONG * 40)
    cut = pruned(messages, start=0, stop=0, oversized=1_000)[1].message
    entries = [Entry(0, "message", messages[0]), Entry(7, "rendition", cut, origin_seq=1)]
    (rendition,) = prune(entries, start=0, stop=2, policy=POLICY, oversized_tokens=1_000, counter=PieceCounter())
    assert (rendition.origin_seq, rendition.source_seq) == (1, 7)
    assert rendition.message["content"].startswith('[bash] ran "ls" -> ')


def test_arguments_lose_the_middle_of_long_strings_and_stay_json() -> None:
    """PRUNE-1."""
    words = "word " * 300
    arguments = {"path": "a.md", "content": words, "mode": 384, "edits": [{"new": words, "old": "x"}], "command": words}
    policy = CompactionPolicy(keep_tool_results=0, protected_arg_keys=frozenset({"command"}))
    found = pruned(turn("write_file", arguments, "ok"), policy)
    shorter = json.loads(found[0].message["tool_calls"][0]["function"]["arguments"])
    assert list(shorter) == list(arguments)
    assert (shorter["path"], shorter["mode"], shorter["command"], shorter["edits"][0]["old"]) == ("a.md", 384, words, "x")
    for leaf in (shorter["content"], shorter["edits"][0]["new"]):
        assert len(leaf) <= 200
        assert leaf.startswith("word word")
        assert leaf.endswith("word ")
        assert "1,3" in leaf
        assert "characters cut" in leaf
    assert found[0].reason == "arguments"


def test_arguments_in_blocks_stay_objects() -> None:
    """PRUNE-1."""
    block = {
        "type": "tool_use",
        "id": "c",
        "name": "write",
        "input": {"content": "word " * 300},
        "cache_control": {"type": "ephemeral"},
    }
    signed = {"type": "thinking", "thinking": "t", "signature": "s"}
    message = pruned([{"role": "assistant", "content": [signed, block]}, {"role": "user", "content": "go"}])[0].message
    assert message["content"][0] == signed
    assert len(message["content"][1]["input"]["content"]) <= 200
    assert message["content"][1]["cache_control"] == {"type": "ephemeral"}


def test_the_arguments_of_a_call_in_flight_stay() -> None:
    """PAIR-3."""
    assert pruned(turn("write", {"content": "word " * 300}, "ok")[:1]) == {}


def test_arguments_that_are_no_json_stay() -> None:
    """PRUNE-1."""
    call = {"id": "c", "type": "function", "function": {"name": "write", "arguments": '{"content": "' + "word " * 300}}
    assert pruned([{"role": "assistant", "tool_calls": [call]}, {"role": "user", "content": "hm"}]) == {}


def test_images_of_old_outputs_become_a_remark() -> None:
    """PRUNE-1."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    found = pruned(turn("screenshot", {}, [{"type": "text", "text": "page"}, image]))
    assert found[1].message["content"] == "page\n[1 image left out]"
    assert pruned(turn("screenshot", {}, [image]), CompactionPolicy()) == {}


def test_a_summary_and_a_persons_words_are_never_touched() -> None:
    """LAST-1, MARK-1."""
    mixed = {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "c", "content": LONG}, {"type": "text", "text": OTHER}],
    }
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "bash", "input": {}}]}
    assert pruned([call, mixed])[1].message["content"][1] == {"type": "text", "text": OTHER}
    summary = Entry(0, "summary", turn("bash", {}, LONG)[1])
    assert prune([summary], start=0, stop=1, policy=POLICY, oversized_tokens=10, counter=PieceCounter()) == ()


def test_a_rendition_is_valid_utf8_whatever_it_was_made_of() -> None:
    """LOG-3."""
    found = pruned(turn("bash", {"command": "echo \ud83d"}, "\ud83d " + LONG))
    json.dumps(found[1].message, ensure_ascii=False).encode("utf-8")


def test_a_write_that_names_no_file_may_have_changed_any() -> None:
    """PRUNE-1."""
    read = turn("read_file", {"path": "src/a.py"}, LONG)
    found = pruned([*read, *turn("edit", {"new_string": "x"}, "ok"), *read])
    assert found[1].message["content"] == "[read_file] read src/a.py -> 60 lines"


def test_a_copy_that_will_be_cut_is_not_referred_to() -> None:
    """PRUNE-1."""
    messages = [message for _ in range(2) for message in turn("bash", {"command": "ls"}, LONG * 40)]
    found = pruned(messages, start=0, stop=2, oversized=1_000)
    assert found[1].message["content"].startswith('[bash] ran "ls" -> ')
    assert found[3].reason == "oversized"


def test_the_row_that_holds_the_full_copy_stays_as_it_is() -> None:
    """PRUNE-1: a back-reference names it by its number."""
    use = {"type": "server_tool_use", "id": "s", "name": "search", "input": {"query": "word " * 300}}
    answer = {"type": "search_tool_result", "tool_use_id": "s", "content": LONG}
    found = pruned(
        [
            *turn("bash", {"command": "ls"}, LONG),
            {"role": "assistant", "content": [use, answer]},
            {"role": "user", "content": "go"},
        ]
    )
    assert {seq: rendition.message["content"] for seq, rendition in found.items()} == {1: "[same output as #2]"}


def test_the_output_of_a_call_that_the_provider_ran_becomes_a_line() -> None:
    """The item stays what it is, with its arguments."""
    item = {"type": "mcp_call", "id": "m", "name": "bash", "arguments": '{"command": "make"}', "error": None}
    (rendition,) = pruned([{**item, "output": LONG}, {"role": "user", "content": "go on"}]).values()
    assert rendition.message == {**item, "output": rendition.message["output"]}
    assert "make" in rendition.message["output"]
    assert len(rendition.message["output"]) < 200
    (cut,) = pruned([{**item, "output": LONG * 40}], oversized=500, start=1).values()
    assert cut.reason == "oversized"
    argued = {**item, "arguments": json.dumps({"content": LONG * 10}), "output": "ok"}
    (shorter,) = pruned([argued, {"role": "user", "content": "go on"}]).values()
    assert shorter.message["output"] == "ok"
    assert len(json.loads(shorter.message["arguments"])["content"]) < len(LONG)


def test_a_file_in_an_old_output_goes_and_its_name_stays() -> None:
    source = {"type": "base64", "media_type": "application/pdf", "data": "QUJD" * 500}
    pages = {"type": "document", "title": "Plan", "source": source}
    messages = turn("read", {"path": "plan.pdf"}, [{"type": "text", "text": "See."}, pages])
    rendition = pruned(messages)[1]
    assert (rendition.reason, rendition.message["content"]) == ("payload", "See.\n[document Plan]\n[file content left out]")
    assert pruned([messages[0], rendition.message]) == {}


def test_outputs_with_other_files_of_one_name_are_no_repeats() -> None:
    """PRUNE-1"""
    said = {"type": "text", "text": "Here are the pages that were asked for."}
    shots = [{"type": "file", "filename": "shot.pdf", "file_data": data * 50} for data in ("QUJD", "REVG")]
    messages = [*turn("shoot", {"page": 1}, [said, shots[0]]), *turn("shoot", {"page": 1}, [said, shots[1]])]
    assert [rendition.reason for rendition in pruned(messages).values()] == ["payload", "payload"]
