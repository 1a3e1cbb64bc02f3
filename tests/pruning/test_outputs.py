"""What an old output becomes: one line with what it was, how it ended and how much there was."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sessionstore.domain.outputs import describe_output, is_described
from sessionstore.domain.transcript import ToolCall, ToolResult

LINES = "line\n" * 47


def described(name: str, arguments: dict[str, Any] | str, text: str, *, is_error: bool | None = None, images: int = 0) -> str:
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    line = describe_output(ToolCall("a", name, written), ToolResult("a", None, text, is_error, images))
    assert is_described(line)
    assert "\n" not in line
    return line


@pytest.mark.parametrize(
    ("name", "arguments", "text", "beginning"),
    [
        (
            "terminal",
            {"command": "npm test"},
            LINES + "\n[The command completed with exit code 0.]",
            '[terminal] ran "npm test" -> exit 0, 49 lines',
        ),
        (
            "shell",
            {"command": ["bash", "-lc", "make"]},
            json.dumps({"output": LINES, "exit_code": 0}),
            '[shell] ran "make" -> exit 0, 47 lines',
        ),
        (
            "exec_command",
            {"cmd": "ls"},
            f"Chunk ID: 1\nWall time: 1\nProcess exited with code 0\nOutput:\n{LINES}",
            '[exec_command] ran "ls" -> exit 0, 47 lines',
        ),
        ("Read", {"file_path": "src/a.py"}, LINES, "[Read] read src/a.py -> 47 lines"),
        ("Grep", {"pattern": "PORT", "path": "src"}, "a:1\nb:2\nc:3\n", '[Grep] searched "PORT" in src -> 3 matches, 3 lines'),
        (
            "search_files",
            {"query": "x"},
            json.dumps({"total_count": 12, "matches": []}),
            '[search_files] searched "x" -> 12 matches',
        ),
        ("Glob", {"pattern": "*.py"}, "Found 5 files\na\nb\nc\nd\ne", '[Glob] searched "*.py" -> 5 matches'),
        (
            "write_file",
            {"path": "a.md", "content": "x"},
            "Wrote 12 bytes",
            '[write_file] wrote a.md -> 14 characters, begins "Wrote 12 bytes"',
        ),
        (
            "apply_patch",
            "*** Begin Patch\n*** Update File: a.py\n*** Add File: b.py",
            "Done!",
            "[apply_patch] patched a.py and 1 more -> 5",
        ),
        (
            "WebFetch",
            {"url": "https://example.invalid"},
            "Title\nbody",
            '[WebFetch] browsed "https://example.invalid" -> 2 lines, begins "Title"',
        ),
        (
            "Task",
            {"description": "find bug", "prompt": "…"},
            "The bug is in a.py",
            '[Task] delegated "find bug" -> 18 characters, begins "The bug',
        ),
        ("TodoWrite", {"todos": []}, "ok", "[TodoWrite] updated the todo list -> 2 characters"),
        ("get_weather", {"city": "Köln"}, "rain", '[get_weather] called with "Köln" -> 4 characters, begins "rain"'),
        ("mystery", "not json", "x", "[mystery] called -> 1 character"),
    ],
)
def test_the_line_says_what_ran_how_it_ended_and_how_much_there_was(
    name: str, arguments: dict[str, Any] | str, text: str, beginning: str
) -> None:
    """PRUNE-1."""
    assert described(name, arguments, text).startswith(beginning)


@pytest.mark.parametrize(
    ("text", "is_error", "reason"),
    [
        ("ERROR permission denied: /etc/x " + "trace " * 200, None, "failed: ERROR permission denied: /etc/x"),
        ("Traceback (most recent call last):\n  File a\nValueError: bad port", None, "failed: ValueError: bad port"),
        (
            "Exit code 2\nmake: nothing\nmain.c:3: error: no such file",
            True,
            "exit 2, 3 lines, failed: main.c:3: error: no such file",
        ),
        (json.dumps({"output": "", "exit_code": 1, "error": "disk full"}), None, "failed: disk full"),
        ("that did not work", True, "failed: that did not work"),
    ],
)
def test_a_failure_keeps_its_reason(text: str, is_error: bool | None, reason: str) -> None:
    """PRUNE-1."""
    assert reason in described("terminal", {"command": "make"}, text, is_error=is_error)


def test_a_search_that_finds_errors_did_not_fail() -> None:
    """PRUNE-1."""
    assert "failed" not in described("grep", {"pattern": "error"}, "error.py:1: error = 1\n" * 3)


def test_images_are_counted() -> None:
    assert "2 images left out" in described("screenshot", {}, "page", images=2)


def test_a_result_without_a_known_call_is_described_by_its_own_name() -> None:
    assert describe_output(None, ToolResult("a", "ls", "x", None, 0)).startswith("[ls] called -> ")
    assert describe_output(None, ToolResult("a", None, "x", None, 0)).startswith("[tool] called -> ")


def test_odd_names_and_long_commands_still_give_one_line() -> None:
    line = described("a]b\nc", {"command": "echo\n" * 400}, "x\u2028y" * 500)
    assert len(line) < 700
