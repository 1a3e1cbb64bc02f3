"""``sessionstore copy``: what it says, and that it can be run again."""
from __future__ import annotations

from pathlib import Path

from .running import CommandLine


def test_a_database_is_copied_and_compared(compacted: CommandLine, tmp_path: Path) -> None:
    """LIN-8"""
    target = CommandLine(tmp_path / "copied.db")
    text = compacted.succeed("copy", str(compacted.database), str(target.database))
    assert text.startswith("1 conversation copied with ")
    assert text.endswith("0 there already; all compared\n")
    exported = [program.succeed("export", "fix-auth", "--lineage") for program in (compacted, target)]
    assert exported[0] == exported[1]
    again = compacted.json("copy", str(compacted.database), str(target.database), "--json")
    assert again == {"copied": 0, "rows": 0, "unchanged": 1}


def test_a_database_that_is_not_there_is_one_line_and_makes_no_file(empty: CommandLine, tmp_path: Path) -> None:
    result = empty.run("copy", str(tmp_path / "nothing.db"), str(tmp_path / "target.db"))
    assert result.exit_code == 1
    assert "there is no such file" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "target.db").exists()


def test_what_went_another_way_at_the_target_ends_it(conversation: CommandLine, tmp_path: Path) -> None:
    target = CommandLine(tmp_path / "target.db")
    conversation.succeed("copy", str(conversation.database), str(target.database))
    conversation.succeed("rewind", "fix-auth", "20")
    target.succeed("compact", "fix-auth", "--context-window", "48000")
    result = conversation.run("copy", str(conversation.database), str(target.database))
    assert result.exit_code == 1
    assert "fix-auth" in result.stderr
    assert target.json("lineage", "fix-auth", "--json")["sessions"][1]["edge"] == "compaction"
