"""``search``, ``fork`` and ``task``."""
from __future__ import annotations

from .running import CommandLine


def test_search_finds_what_no_context_holds_any_more(compacted: CommandLine) -> None:
    in_context = {row["seq"] for row in compacted.json("show", "fix-auth", "--json")}
    hits = compacted.json("search", "pytest", "--lineage", "fix-auth", "--json", "--limit", "1000")
    assert {hit["seq"] for hit in hits} - in_context
    assert list(hits[0]) == ["session_id", "lineage_id", "seq", "role", "kind", "snippet", "created_at"]
    assert all("pytest" in hit["snippet"].lower() for hit in hits)


def test_an_index_changes_nothing_that_is_found(compacted: CommandLine) -> None:
    """OPS-1"""
    before = compacted.json("search", "pytest", "--json", "--limit", "1000")
    result = compacted.run("search", "--build-index", "pytest", "--json", "--limit", "1000")
    assert result.stderr == "indexed 205 messages\n"
    assert compacted.json("search", "pytest", "--json", "--limit", "1000") == before != []


def test_hits_are_shown_with_their_place_and_their_text(conversation: CommandLine) -> None:
    shown = conversation.succeed("search", "pytest", "--limit", "1")
    assert shown.startswith("fix-auth #")
    assert "pytest" in shown.lower()


def test_finding_nothing_is_no_error(conversation: CommandLine) -> None:
    result = conversation.run("search", '"unbalanced (nowhere')
    assert (result.exit_code, result.stdout) == (0, "")
    assert "no message" in result.stderr
    assert conversation.json("search", "nowhereatall", "--json") == []


def test_search_in_an_unknown_conversation_is_an_error(conversation: CommandLine) -> None:
    assert conversation.run("search", "x", "--lineage", "nope").exit_code == 1
    assert conversation.run("search").exit_code == 2


def test_fork_copies_up_to_a_message(compacted: CommandLine) -> None:
    """LIN-9"""
    shown = compacted.succeed("fork", "fix-auth", "--at", "#57", "--id", "again", "--title", "Again")
    assert shown == "forked: go on in again, 58 messages in its context, 58 messages in its log\n"
    assert [row["seq"] for row in compacted.json("show", "again", "--json")] == list(range(58))
    assert compacted.json("lineage", "Again", "--json")["tip"] == "again"
    assert "go on in whole~2, " in compacted.succeed("fork", "fix-auth", "--id", "whole")


def test_a_fork_that_cannot_be_is_an_error(compacted: CommandLine) -> None:
    assert compacted.run("fork", "fix-auth", "--id", "fix-auth").exit_code == 1
    assert compacted.run("fork", "fix-auth", "--at", "99999").exit_code == 1
    assert compacted.run("fork", "fix-auth", "--id", "a~2").exit_code == 2


def test_task_shows_and_changes_goal_and_todos(compacted: CommandLine) -> None:
    """STATE-1"""
    assert compacted.run("task", "fix-auth").stderr == "no goal and no todos\n"
    shown = compacted.succeed("task", "fix-auth", "--goal", "Make it safe", "--add", "Read", "--add", "Fix")
    assert shown == "# Goal\nMake it safe\n# Todos\n[ ] 1. Read (pending)\n[ ] 2. Fix (pending)\n"
    compacted.succeed("task", "fix-auth", "--set", "1", "completed", "--set", "2", "in_progress")
    compacted.succeed("undo", "fix-auth")
    assert compacted.json("task", "fix-auth", "--json") == {
        "goal": "Make it safe",
        "todos": [
            {"id": "1", "content": "Read", "status": "completed"},
            {"id": "2", "content": "Fix", "status": "in_progress"},
        ],
        "version": 4,
    }


def test_a_task_that_is_not_right_is_an_error(conversation: CommandLine) -> None:
    assert conversation.run("task", "fix-auth", "--set", "9", "completed").exit_code == 1
    assert conversation.run("task", "fix-auth", "--set", "9", "done").exit_code == 2
