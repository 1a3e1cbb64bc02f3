"""``sessionstore import``: what is reported of each file, and that nothing is dropped in silence."""
from __future__ import annotations

import json
from pathlib import Path

from sessionstore.cli.import_command import DAMAGE_SHOWN

from .running import TRANSCRIPT, CommandLine, write_transcript

MESSAGES = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "good day"}]


def test_a_transcript_comes_in_once(empty: CommandLine) -> None:
    """IMP-2: importing the same file again adds nothing."""
    first = empty.json("import", str(TRANSCRIPT), "--id", "fix-auth", "--json")
    again = empty.json("import", str(TRANSCRIPT), "--id", "fix-auth", "--json")
    assert [(report["imported"], report["skipped"]) for report in (*first, *again)] == [(204, 0), (0, 204)]
    assert again[0]["sessions"][0]["session_id"] == "fix-auth"


def test_a_grown_file_adds_the_rest_to_the_tip(empty: CommandLine, tmp_path: Path) -> None:
    """IMP-2: also after a compaction of what had come in."""
    lines = TRANSCRIPT.read_text(encoding="utf-8").splitlines(keepends=True)
    part = tmp_path / "growing.jsonl"
    part.write_text("".join(lines[:142]), encoding="utf-8")
    empty.succeed("import", str(part), "--id", "fix-auth")
    empty.succeed("compact", "fix-auth", "--context-window", "48000")
    part.write_text("".join(lines), encoding="utf-8")
    text = empty.succeed("import", str(part), "--id", "fix-auth")
    assert "continued fix-auth~2: 63 imported, 141 already there" in text


def test_the_report_names_format_sessions_and_sizes(empty: CommandLine) -> None:
    text = empty.succeed("import", str(TRANSCRIPT), "--id", "fix-auth", "--title", "Fix auth")
    assert text.startswith(f"{TRANSCRIPT}: openai, 204 of 204 messages imported\n")
    assert "created fix-auth: 204 imported, 0 already there, " in text
    listed = empty.json("list", "--json")
    assert (listed[0]["title"], listed[0]["messages"]) == ("Fix auth", 204)
    assert f"{listed[0]['context_tokens']:,} tokens in context" in text


def test_damaged_lines_are_reported_by_number_and_the_rest_comes_in(empty: CommandLine, tmp_path: Path) -> None:
    """IMP-1: everything readable comes in, everything else is reported with its line."""
    path = write_transcript(tmp_path / "damaged.jsonl", MESSAGES)
    path.write_text(path.read_text() + "what is this\n" + json.dumps(MESSAGES[0]) + "\n")
    result = empty.run("import", str(path))
    assert result.exit_code == 0
    assert "damaged line 3: " in result.stdout
    assert "3 of 3 messages imported" in result.stdout


def test_many_damaged_lines_are_counted_and_json_has_them_all(empty: CommandLine, tmp_path: Path) -> None:
    path = write_transcript(tmp_path / "damaged.jsonl", MESSAGES)
    path.write_text(path.read_text() + "nonsense\n" * 30)
    text = empty.succeed("import", str(path))
    assert text.count("  damaged line ") == DAMAGE_SHOWN
    assert f"and {30 - DAMAGE_SHOWN} more damaged lines" in text
    report = empty.json("import", str(path), "--json")[0]
    assert [line["line"] for line in report["damaged"]] == list(range(3, 33))


def test_records_without_a_message_are_counted_by_type(empty: CommandLine, tmp_path: Path) -> None:
    said = {"type": "user", "uuid": "u1", "parentUuid": None, "sessionId": "s1", "message": MESSAGES[0]}
    path = write_transcript(tmp_path / "claude.jsonl", [said, {"type": "progress", "sessionId": "s1"}])
    text = empty.succeed("import", str(path))
    assert "claude-code" in text
    assert "left out, as they hold no message: 1 progress" in text


def test_a_file_that_cannot_be_read_fails_and_the_others_come_in(empty: CommandLine, tmp_path: Path) -> None:
    good = write_transcript(tmp_path / "good.jsonl", MESSAGES)
    result = empty.run("import", str(tmp_path / "missing.jsonl"), str(good), "--json")
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert "missing.jsonl" in result.stderr
    failed, done = json.loads(result.stdout)
    assert "error" in failed
    assert done["imported"] == 2


def test_an_id_for_several_files_is_wrong_usage(empty: CommandLine, tmp_path: Path) -> None:
    paths = [str(write_transcript(tmp_path / name, MESSAGES)) for name in ("a.jsonl", "b.jsonl")]
    assert empty.run("import", *paths, "--id", "x").exit_code == 2
    assert empty.run("import", paths[0], "--id", "a~2").exit_code == 2
    assert empty.json("list", "--json") == []


def test_a_large_file_gets_a_progress_bar_on_a_terminal_only(empty: CommandLine, tmp_path: Path) -> None:
    messages = [{"role": "user", "content": f"{number} " + "word " * 400} for number in range(600)]
    path = write_transcript(tmp_path / "large.jsonl", messages)
    assert "━" in empty.on_terminal("import", str(path), "--id", "seen")
    done = empty.child("import", str(path), "--id", "piped")
    assert (done.returncode, done.stderr) == (0, "")
    assert "━" not in done.stdout
