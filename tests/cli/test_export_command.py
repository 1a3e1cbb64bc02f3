"""``sessionstore export``: a conversation as text."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .running import CommandLine


def test_a_lineage_imports_elsewhere_to_an_equal_lineage(compacted: CommandLine, tmp_path: Path) -> None:
    """LIN-8: export then import gives an equal lineage."""
    file = tmp_path / "fix-auth.jsonl"
    assert compacted.succeed("export", "fix-auth", "--lineage", "--output", str(file)) == ""
    elsewhere = CommandLine(tmp_path / "elsewhere.db")
    elsewhere.succeed("import", str(file))
    assert lineage_without_leases(elsewhere) == lineage_without_leases(compacted)
    rows = ("show", "fix-auth", "--log", "--json")
    assert elsewhere.json(*rows) == compacted.json(*rows)


def lineage_without_leases(program: CommandLine) -> Any:
    """The lineage without who ran its compactions: that is a process of one machine."""
    document = program.json("lineage", "fix-auth", "--json")
    for record in document["compactions"]:
        del record["lease_owner"]
    return document


def test_the_formats_hold_the_context(compacted: CommandLine) -> None:
    shown = compacted.json("show", "fix-auth", "--json")
    lines = compacted.succeed("export", "fix-auth").splitlines()
    assert [json.loads(line) for line in lines] == [row["message"] for row in shown]
    openai = json.loads(compacted.succeed("export", "fix-auth", "--format", "openai"))
    assert openai[0]["role"] == "system"
    assert compacted.succeed("export", "fix-auth", "--format", "markdown").startswith("# Fix auth #2\n")


def test_a_file_that_cannot_be_written_is_one_line(conversation: CommandLine, tmp_path: Path) -> None:
    result = conversation.run("export", "fix-auth", "--output", str(tmp_path / "nowhere" / "out.jsonl"))
    assert result.exit_code == 1
    assert "No such file or directory" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--format", "yaml"], []])
def test_a_failed_export_leaves_the_older_file_as_it_was(
    conversation: CommandLine, tmp_path: Path, arguments: list[str]
) -> None:
    older = tmp_path / "older.jsonl"
    older.write_text("older\n")
    reference = "fix-auth" if arguments else "nobody"
    assert conversation.run("export", reference, *arguments, "--output", str(older)).exit_code != 0
    assert older.read_text() == "older\n"
    assert not list(tmp_path.glob(".older*"))
