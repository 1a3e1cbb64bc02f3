"""``sessionstore lineage``: the chain of generations, for people and for programs."""
from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime

from sessionstore.domain.records import CompactionRecord

from .running import CommandLine

SESSION_KEYS = [
    "id", "generation", "parent_session_id", "edge", "started_at", "ended_at", "end_reason", "messages", "context_tokens",
    "spans",
]  # fmt: skip


def test_json_has_the_shape_that_programs_rely_on(compacted: CommandLine) -> None:
    document = compacted.json("lineage", "fix-auth", "--json")
    assert list(document) == ["lineage_id", "tip", "title", "sessions", "compactions"]
    assert (document["lineage_id"], document["tip"], document["title"]) == ("fix-auth", "fix-auth~2", "Fix auth")
    root, tip = document["sessions"]
    assert list(root) == list(tip) == SESSION_KEYS
    assert (root["id"], root["parent_session_id"], root["edge"]) == ("fix-auth", None, "root")
    assert (tip["id"], tip["parent_session_id"], tip["edge"]) == ("fix-auth~2", "fix-auth", "compaction")
    assert (root["end_reason"], root["messages"], root["spans"]) == ("compaction", 204, [[0, None]])
    assert tip["ended_at"] is None
    assert [last for _, last in tip["spans"]].count(None) == 1
    assert tip["spans"][-1][1] is None
    assert root["ended_at"] == tip["started_at"]
    assert datetime.fromisoformat(root["started_at"]).tzinfo == UTC


def test_json_has_every_column_of_a_compaction_with_ids_for_generations(compacted: CommandLine) -> None:
    document = compacted.json("lineage", "fix-auth", "--json")
    (record,) = document["compactions"]
    renamed = {"generation": "session_id", "opened_generation": "continuation_id"}
    columns = [renamed.get(field.name, field.name) for field in fields(CompactionRecord)]
    assert list(record) == [*columns, "ledger"]
    assert record["ledger"]["entries"]
    assert (record["session_id"], record["continuation_id"]) == ("fix-auth", "fix-auth~2")
    assert (record["status"], record["trigger"], record["summarizer"]) == ("committed", "offline", "extractive")
    assert record["summary_seq"] == 204
    assert all(len(span) == 2 for part in ("head", "middle", "tail") for span in record[part])
    assert datetime.fromisoformat(record["finished_at"]) >= datetime.fromisoformat(record["started_at"])
    before, after = (session["context_tokens"] for session in document["sessions"])
    assert (before, after) == (record["tokens_before"], record["tokens_after"])


def test_the_tree_shows_each_compaction_with_its_figures(compacted: CommandLine) -> None:
    document = compacted.json("lineage", "fix-auth", "--json")
    record = document["compactions"][0]
    text = compacted.succeed("lineage", "fix-auth")
    before, after = record["tokens_before"], record["tokens_after"]
    assert f"compacted into fix-auth~2  {before:,} → {after:,} tokens ({(before - after) * 100 // before}% saved)" in text
    kept = sorted(tuple(span) for span in document["sessions"][1]["spans"][:-1] if span[0] < 204)
    (line,) = [line for line in text.splitlines() if " kept " in line]
    assert line.rpartition("kept ")[2].startswith(f"#{kept[0][0]}")
    assert f"#{kept[-1][0]}–#{kept[-1][1]}" in line
    assert "trigger offline, summariser extractive" in text
    assert "└── fix-auth~2  Fix auth #2" in text
    assert "← the tip" in text


def test_undo_and_rewind_say_what_they_restore(compacted: CommandLine) -> None:
    compacted.succeed("undo", "fix-auth")
    compacted.succeed("rewind", "fix-auth", "57")
    text = compacted.succeed("lineage", "fix-auth")
    assert "undo: restores the context of fix-auth, followed by what was said since" in text
    assert "rewind: restores the context of fix-auth~3 up to #57" in text
    edges = [session["edge"] for session in compacted.json("lineage", "fix-auth", "--json")["sessions"]]
    assert edges == ["root", "compaction", "undo", "rewind"]


def test_attempts_that_changed_nothing_are_one_line(compacted: CommandLine) -> None:
    assert compacted.succeed("compact", "fix-auth").startswith("noop: ")
    text = compacted.succeed("lineage", "fix-auth")
    assert "noop (offline): there is no new message since the last compaction" in text
    assert compacted.json("lineage", "fix-auth", "--json")["compactions"][1]["status"] == "noop"


def test_a_session_that_was_never_compacted_has_a_lineage_too(conversation: CommandLine) -> None:
    document = conversation.json("lineage", "fix-auth", "--json")
    assert document["compactions"] == []
    assert document["sessions"][0]["context_tokens"] > 40_000
    assert conversation.succeed("lineage", "fix").startswith("Fix auth  lineage fix-auth\n")


def test_an_unknown_session_is_an_error(conversation: CommandLine) -> None:
    result = conversation.run("lineage", "nobody", "--json")
    assert (result.exit_code, result.stdout) == (1, "")
