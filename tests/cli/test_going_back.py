"""``undo``, ``rewind``, ``pin`` and ``delete``."""
from __future__ import annotations

from .running import CommandLine


def test_undo_brings_the_compacted_context_back(compacted: CommandLine) -> None:
    """LIN-9: undo loses nothing."""
    before = compacted.json("show", "fix-auth", "--exact", "--json")
    assert compacted.succeed("undo", "fix-auth") == "undone: go on in fix-auth~3, 204 messages in its context\n"
    assert compacted.json("show", "fix-auth", "--json") == before


def test_undo_without_a_compaction_is_an_error(conversation: CommandLine) -> None:
    result = conversation.run("undo", "fix-auth")
    assert result.exit_code == 1
    assert "no compaction is in force" in result.stderr


def test_rewind_goes_back_to_a_message_across_a_compaction(compacted: CommandLine) -> None:
    """LIN-9: rewind crosses compaction boundaries."""
    assert compacted.succeed("rewind", "fix-auth", "#57").startswith("back at #57: go on in fix-auth~3, 58 messages")
    assert [row["seq"] for row in compacted.json("show", "fix-auth", "--json")] == list(range(58))


def test_rewind_to_a_summary_is_an_error(compacted: CommandLine) -> None:
    """LIN-9: a summary is never a target."""
    result = compacted.run("rewind", "fix-auth", "204")
    assert result.exit_code == 1
    assert "#204 is a summary" in result.stderr


def test_a_pinned_message_stays_in_the_context(conversation: CommandLine) -> None:
    """PIN-1: in every context of its lineage, verbatim, until it is unpinned."""
    assert conversation.succeed("pin", "fix-auth", "14", "#15") == "fix-auth: pinned #14–#15\n"
    conversation.succeed("compact", "fix-auth", "--context-window", "48000")
    rows = {row["seq"] for row in conversation.json("show", "fix-auth", "--json")}
    assert {14, 15} <= rows
    assert "pinned #14–#15" in conversation.succeed("lineage", "fix-auth")
    assert conversation.succeed("pin", "fix-auth", "14", "15", "--remove") == "fix-auth: pinned nothing\n"


def test_only_messages_of_the_context_can_be_pinned(compacted: CommandLine) -> None:
    assert compacted.run("pin", "fix-auth", "999").exit_code == 1
    assert compacted.run("pin", "fix-auth").exit_code == 2


def test_delete_asks_and_takes_no_for_an_answer(compacted: CommandLine) -> None:
    result = compacted.run("delete", "fix-auth", answer="n\n")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("Delete fix-auth (Fix auth), 2 generations, 205 messages? [y/N]")
    assert result.stderr.endswith("error: nothing was deleted\n")
    assert compacted.json("list", "--json")


def test_delete_removes_the_whole_lineage(compacted: CommandLine) -> None:
    """LIN-7: deletion acts on whole lineages."""
    assert "deleted fix-auth, 2 generations" in compacted.succeed("delete", "fix-auth~2", answer="y\n")
    assert compacted.json("list", "--json") == []


def test_delete_without_anybody_to_ask_is_an_error(conversation: CommandLine) -> None:
    result = conversation.run("delete", "fix-auth", answer="")
    assert result.exit_code == 1
    assert "--yes" in result.stderr
    assert conversation.json("list", "--json")
    conversation.succeed("delete", "fix-auth", "--yes")
    assert conversation.json("list", "--json") == []
