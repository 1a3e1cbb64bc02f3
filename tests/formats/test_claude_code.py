"""Claude Code session files: threads, pieces, compactions, rewinds, side chains, and files that grow."""
from __future__ import annotations

import json
from typing import Any

from sessionstore.formats.claude_code import read_claude_code
from sessionstore.formats.message_pieces import unstored_part
from sessionstore.formats.parsed import ParsedLineage, ParsedMessage

Record = dict[str, Any]


def record(kind: str, uuid: str, parent: str | None, message: Any = None, **extra: Any) -> Record:
    base = {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s1", "isSidechain": False}
    base["timestamp"] = "2026-01-02T03:04:05.250Z"
    return {**base, **({} if message is None else {"message": message}), **extra}


def user(uuid: str, parent: str | None, content: Any, **extra: Any) -> Record:
    return record("user", uuid, parent, {"role": "user", "content": content}, **extra)


def piece(uuid: str, parent: str | None, message_id: str, block: Record, **extra: Any) -> Record:
    message = {"id": message_id, "role": "assistant", "model": "m-1", "content": [block], "usage": {"output_tokens": len(uuid)}}
    return record("assistant", uuid, parent, message, requestId="r-" + message_id, **extra)


def text(words: str) -> Record:
    return {"type": "text", "text": words}


def call(call_id: str) -> Record:
    return {"type": "tool_use", "id": call_id, "name": "Read", "input": {"path": call_id}}


def result(uuid: str, parent: str, call_id: str, **extra: Any) -> Record:
    return user(uuid, parent, [{"type": "tool_result", "tool_use_id": call_id, "content": "out " + call_id}], **extra)


def lines(*records: Record) -> list[str]:
    return [json.dumps(one, separators=(",", ":")) for one in records]


def main_of(*records: Record) -> ParsedLineage:
    return read_claude_code(lines(*records)).lineages[0]


def said(lineage: ParsedLineage) -> list[str]:
    """The key of each message."""
    return [message.key for message in lineage.messages]


def blocks(message: ParsedMessage) -> list[Any]:
    content: list[Any] = json.loads(message.body)["content"]
    return content


def test_records_become_messages_in_order_with_id_time_line_and_title() -> None:
    lineage = main_of(
        user("u1", None, "go"),
        piece("a1", "u1", "m1", text("done")),
        {"type": "summary", "summary": "A title", "leafUuid": "a1"},
        {"type": "summary", "summary": "Of another file", "leafUuid": "elsewhere"},
    )
    assert (lineage.session_id, lineage.title, lineage.model) == ("s1", "A title", "m-1")
    assert said(lineage) == ["u1", "a1"]
    assert lineage.messages[0].created_at == 1767323045.25
    assert [message.line for message in lineage.messages] == [1, 2]


def test_a_name_that_the_user_gave_beats_other_titles() -> None:
    lineage = main_of(
        user("u1", None, "go"),
        {"type": "custom-title", "customTitle": "Old", "sessionId": "s1"},
        {"type": "custom-title", "customTitle": "Mine", "sessionId": "s1"},
        {"type": "summary", "summary": "Theirs", "leafUuid": "u1"},
    )
    assert lineage.title == "Mine"


def test_the_body_is_the_message_byte_for_byte() -> None:
    body = '{"role":"user", "content":"x\\u00e9 1", "n":1e2, "big":123456789012345678901234567890}'
    line = '{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s1","message":' + body + ',"toolUseResult":{"x":1}}'
    assert read_claude_code([line]).lineages[0].messages[0].body == body


def test_pieces_of_one_message_are_merged_in_order_with_the_last_usage_even_with_results_between() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    lineage = main_of(
        user("u1", None, "go"),
        piece("a1", "u1", "m1", thinking),
        piece("a02", "a1", "m1", call("t1")),
        result("r1", "a02", "t1"),
        piece("a003", "r1", "m1", call("t2")),
        result("r2", "a003", "t2"),
        piece("b1", "r2", "m2", text("end")),
    )
    assert said(lineage) == ["u1", "a003", "r1", "r2", "b1"]
    merged = lineage.messages[1]
    assert blocks(merged) == [thinking, call("t1"), call("t2")]
    assert json.loads(merged.body)["usage"] == {"output_tokens": 4}
    assert [part.key for part in merged.pieces] == ["a1", "a02", "a003"]
    assert lineage.rewinds == ()


def test_results_of_parallel_calls_are_all_on_the_main_line() -> None:
    lineage = main_of(
        user("u1", None, "go"),
        piece("a1", "u1", "m1", call("t1")),
        piece("a2", "a1", "m1", call("t2")),
        record("progress", "p1", "a2", data={"type": "bash_progress"}),
        result("r2", "a2", "t2"),
        record("attachment", "h1", "r2", attachment={"type": "hook_success"}),
        result("r1", "a1", "t1"),
        user("skill", "r1", [text("Base directory")], isMeta=True),
        piece("b1", "h1", "m2", text("end")),
    )
    assert said(lineage) == ["u1", "a2", "r2", "r1", "skill", "b1"]
    assert lineage.rewinds == ()


def test_notices_and_attachments_are_links_of_the_chain_and_counted() -> None:
    transcript = read_claude_code(
        lines(
            record("attachment", "x1", None, attachment={"type": "hook_success"}),
            user("u1", "x1", "go"),
            record("progress", "p1", "u1", data={"type": "hook_progress"}),
            record("system", "s1", "p1", subtype="turn_duration"),
            piece("a1", "s1", "m1", text("one")),
            {"type": "file-history-snapshot", "snapshot": {}},
            {"type": "sparkle", "x": 1},
            {"silly": "this"},
        )
    )
    assert said(transcript.lineages[0]) == ["u1", "a1"]
    assert transcript.lineages[0].rewinds == ()
    assert transcript.damaged == ()
    assert transcript.skipped == {
        "attachment/hook_success": 1, "progress/hook_progress": 1, "system/turn_duration": 1,
        "file-history-snapshot": 1, "sparkle": 1, "without type": 1,
    }


def test_commands_notes_and_queued_prompts_were_in_the_context_and_come_in() -> None:
    lineage = main_of(
        user("c1", None, "<local-command-caveat>Caveat: …", isMeta=True),
        user("c2", "c1", "<command-name>/exit</command-name>"),
        user("c3", "c2", "<local-command-stdout>Bye!"),
        piece("a1", "c1", "m1", text("No response requested.")),
        record("attachment", "q1", "a1", attachment={"type": "queued_command", "prompt": "and also this"}),
    )
    assert said(lineage) == ["c1", "c2", "c3", "a1", "q1"]
    assert json.loads(lineage.messages[4].body) == {"role": "user", "content": "and also this"}
    assert lineage.rewinds == ()


def test_images_come_in_as_they_are() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    assert blocks(main_of(user("u1", None, [image])).messages[0]) == [image]


def test_what_was_rewound_away_stays_in_the_log_and_the_rewind_says_where_it_went_on() -> None:
    lineage = main_of(
        user("u1", None, "go"),
        piece("a1", "u1", "m1", text("one")),
        user("u2", "a1", "wrong turn"),
        piece("a2", "u2", "m2", text("lost")),
        user("u3", "a1", "better"),
        piece("a3", "u3", "m3", text("kept")),
        user("first", None, "a new root follows what stands before it"),
    )
    assert said(lineage) == ["u1", "a1", "u2", "a2", "u3", "a3", "first"]
    assert [(rewind.position, rewind.target) for rewind in lineage.rewinds] == [(4, 1)]


def boundary(uuid: str, **metadata: Any) -> Record:
    return record("system", uuid, None, subtype="compact_boundary", logicalParentUuid="gone", compactMetadata=metadata)


def summary(uuid: str, parent: str, words: str = "This session is being continued") -> Record:
    return user(uuid, parent, words, isCompactSummary=True, isVisibleInTranscriptOnly=True)


def test_a_boundary_with_its_summary_is_a_compaction_and_no_message() -> None:
    lineage = main_of(
        user("u1", None, "go"),
        piece("a1", "u1", "m1", text("one")),
        boundary("c1", trigger="manual", preTokens=1000, postTokens=80),
        summary("k1", "c1"),
        user("u2", "k1", "on"),
    )
    assert said(lineage) == ["u1", "a1", "u2"]
    (compaction,) = lineage.compactions
    assert (compaction.key, compaction.position, compaction.kept, compaction.trigger) == ("c1", 2, (), "manual")
    assert (compaction.tokens_before, compaction.tokens_after) == (1000, 80)
    assert compaction.summary == "This session is being continued"
    assert lineage.rewinds == ()


def test_a_kept_tail_is_named_and_going_on_from_it_is_no_rewind() -> None:
    notice = record("system", "d1", "a1", subtype="turn_duration")
    before = [user("u1", None, "go"), piece("a1", "u1", "m1", text("one")), notice]
    named = boundary("c1", preservedMessages={"uuids": ["a1", "d1", "absent"], "allUuids": []})
    segment = boundary("c1", preservedSegment={"headUuid": "a1", "tailUuid": "d1"})
    for mark in (named, segment):
        lineage = main_of(*before, mark, summary("k1", "c1"), user("u2", "d1", "on"), piece("a2", "u2", "m2", text("two")))
        assert lineage.compactions[0].kept == (1,)
        assert lineage.compactions[0].trigger == "auto"
        assert lineage.rewinds == ()


def test_going_back_to_the_summary_or_behind_it_is_a_rewind() -> None:
    lineage = main_of(
        user("u1", None, "go"),
        boundary("c1"),
        summary("k1", "c1"),
        user("u2", "k1", "on"),
        user("u3", "k1", "on, differently"),
        user("u4", "u1", "as if nothing had been compacted"),
    )
    assert [(one.position, one.target, one.compaction) for one in lineage.rewinds] == [(2, None, "c1"), (3, 0, None)]


def test_a_file_may_begin_at_a_boundary_and_have_a_summary_without_one() -> None:
    begun = main_of(boundary("c1"), summary("k1", "c1"), user("u1", "k1", "on"))
    assert [compaction.position for compaction in begun.compactions] == [0]
    alone = main_of(user("u1", None, "go"), summary("k1", "u1", "so far"), user("u2", "k1", "on"))
    assert [(one.key, one.position, one.summary) for one in alone.compactions] == [("k1", 1, "so far")]


def test_a_boundary_whose_summary_is_not_written_yet_is_left_for_the_next_import() -> None:
    records = [user("u1", None, "go"), boundary("c1"), summary("k1", "c1")]
    torn = read_claude_code(lines(*records[:2]))
    assert torn.lineages[0].compactions == ()
    assert sum(torn.skipped.values()) == 1
    assert len(main_of(*records).compactions) == 1


def test_inline_side_chains_are_numbered_lineages_of_the_session() -> None:
    transcript = read_claude_code(
        lines(
            user("u1", None, "go"),
            piece("a1", "u1", "m1", call("t1")),
            user("x1", None, "sub task", isSidechain=True),
            piece("x2", "x1", "n1", text("sub done"), isSidechain=True),
            user("y1", None, "other task", isSidechain=True),
            piece("x3", "lost", "n2", text("orphan"), isSidechain=True),
            result("r1", "a1", "t1"),
        )
    )
    main, first, second = transcript.lineages
    assert said(main) == ["u1", "a1", "r1"]
    assert (first.session_id, first.parent, first.relation, first.branch) == ("s1.1", "s1", "subagent", "1")
    assert first.branched_after == 1
    assert (said(first), said(second)) == (["x1", "x2"], ["y1", "x3"])
    assert [note.line for note in transcript.notes] == [6]


def test_the_file_of_a_sub_agent_is_a_lineage_of_its_session() -> None:
    extra = {"isSidechain": True, "agentId": "ea02"}
    transcript = read_claude_code(lines(user("x1", None, "task", **extra), piece("x2", "x1", "n1", text("ok"), **extra)))
    (side,) = transcript.lineages
    assert (side.session_id, side.parent, side.relation, side.branch) == ("s1.ea02", "s1", "subagent", "ea02")
    assert said(side) == ["x1", "x2"]


def test_two_session_ids_that_hang_together_are_one_conversation_and_else_two() -> None:
    continued = user("u2", "u1", "resumed", sessionId="s2")
    apart = user("z1", "nowhere", "unrelated", sessionId="s3")
    transcript = read_claude_code(lines(user("u1", None, "go"), continued, apart, user("u3", "u2", "old id again")))
    assert [(one.session_id, said(one)) for one in transcript.lineages] == [("s1", ["u1", "u2", "u3"]), ("s3", ["z1"])]
    assert transcript.lineages[0].metadata["sessionIds"] == ["s1", "s2"]


def test_missing_and_cyclic_parents_lose_nothing_and_are_noted() -> None:
    """IMP-1"""
    transcript = read_claude_code(
        lines(user("u1", "absent", "one"), user("u2", "u3", "two"), user("u3", "u2", "three"), user("u4", "u4", "self"))
    )
    assert sorted(said(transcript.lineages[0])) == ["u1", "u2", "u3", "u4"]
    assert [note.line for note in transcript.notes] == [1, 2, 3, 4]
    assert transcript.damaged == ()


def test_a_record_before_its_parent_follows_it() -> None:
    assert said(main_of(user("u1", None, "one"), user("u3", "u2", "three"), user("u2", "u1", "two"))) == ["u1", "u2", "u3"]


def test_the_same_record_again_is_one_message_and_another_with_its_id_is_kept() -> None:
    transcript = read_claude_code(lines(user("u1", None, "a"), user("u1", None, "a", version="2"), user("u1", None, "b")))
    assert said(transcript.lineages[0]) == ["u1", "u1:2"]
    assert transcript.skipped == {"the same record again": 1}
    assert [note.line for note in transcript.notes] == [3]


def test_what_cannot_be_stored_is_reported_and_its_children_come_in() -> None:
    """LOG-3: one odd message never blocks later ones."""
    no_role = record("user", "u2", "u1", {"content": "x"})
    no_message = record("user", "u3", "u2", "error")
    transcript = read_claude_code(lines(user("u1", None, "a"), no_role, no_message, user("u4", "u3", "b")))
    assert said(transcript.lineages[0]) == ["u1", "u4"]
    assert [line.line for line in transcript.damaged] == [2, 3]
    assert transcript.lineages[0].rewinds == ()


GROWING = [
    user("u1", None, "go"),
    piece("a1", "u1", "m1", text("I look")),
    piece("a2", "a1", "m1", call("t1")),
    result("r1", "a2", "t1"),
    piece("a3", "r1", "m1", call("t2")),
    result("r2", "a3", "t2"),
    piece("b1", "r2", "m2", text("wrong")),
    user("u2", "b1", "no"),
    piece("c1", "u2", "m3", text("still wrong")),
    user("u3", "r2", "again"),
    piece("d1", "u3", "m4", text("right")),
]


def store(stored: dict[str, ParsedMessage], lineage: ParsedLineage) -> None:
    """What an import does: append what is not stored yet."""
    for message in lineage.messages:
        part = unstored_part(message, stored.__contains__)
        if part is not None:
            stored[part.key] = part


def test_a_file_imported_at_any_two_lengths_stores_every_block_once() -> None:
    """IMP-2"""
    whole = [block for message in main_of(*GROWING).messages for block in _content(message)]
    for shorter in range(1, len(GROWING) + 1):
        for longer in range(shorter, len(GROWING) + 1):
            stored: dict[str, ParsedMessage] = {}
            for length in (shorter, longer, len(GROWING), len(GROWING)):
                store(stored, main_of(*GROWING[:length]))
            found = [block for message in stored.values() for block in _content(message)]
            assert sorted(map(str, found)) == sorted(map(str, whole)), (shorter, longer)


def test_the_log_of_a_grown_file_begins_with_the_log_of_the_shorter_one() -> None:
    """IMP-2"""
    final = main_of(*GROWING)
    for length in range(1, len(GROWING)):
        shorter = main_of(*GROWING[:length])
        first_pieces = [message.pieces[0].key if message.pieces else message.key for message in final.messages]
        assert first_pieces[: len(shorter.messages)] == [
            message.pieces[0].key if message.pieces else message.key for message in shorter.messages
        ]
        assert final.rewinds[: len(shorter.rewinds)] == shorter.rewinds
    assert [(rewind.position, rewind.target) for rewind in final.rewinds] == [(7, 3)]


def _content(message: ParsedMessage) -> list[Any]:
    content = json.loads(message.body)["content"]
    return content if isinstance(content, list) else [content]
