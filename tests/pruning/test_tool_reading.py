"""What a call is about and how it ended, as real tools write it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sessionstore.domain.tool_reading import call_subject, exit_status
from sessionstore.domain.transcript import ToolCall


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("Exit code 1\nfoo", 1),
        ("Error: Exit code 127\nnot found", 127),
        ('{"output": "x", "exit_code": 0, "error": null}', 0),
        ('{"output": "x", "metadata": {"exit_code": 3, "duration": 1}}', 3),
        ("Chunk ID: 1\nWall time: 2\nProcess exited with code 2\nOutput:\nexit code 9\na\nb\nc", 2),
        ("<returncode>3</returncode>\n<output>\nexit status 5\na\nb\nc\n</output>", 3),
        ("abc\n[The command completed with exit code 4.]\n[Current directory: /]\n[Python: x]", 4),
        ("(no output)\n\nCommand exited with code -5", -5),
        ("done\n<shellId: 5 completed with exit code 6>", 6),
        ("Output: x\nError: (none)\nExit Code: 7\nSignal: 0", 7),
        ("exit status 1", 1),
        ("the exit code was fine", None),
        ("", None),
        ("{", None),
        ("exit code 3 is discussed here\n" + "log\n" * 40, 3),
        ("log\n" * 40 + "exit code 3 in the middle\n" + "log\n" * 40, None),
    ],
)
def test_the_exit_status_is_read_from_the_wrapper(text: str, status: int | None) -> None:
    """NEST-2."""
    assert exit_status(text) == status


@pytest.mark.parametrize(
    ("name", "arguments", "kind", "path", "command"),
    [
        ("Bash", {"command": "npm test", "description": "run"}, "terminal", None, "npm test"),
        ("shell", {"command": ["bash", "-lc", "ls -la"], "workdir": "/"}, "terminal", None, "ls -la"),
        ("local_shell", {"command": ["git", "commit", "-m", "a b"]}, "terminal", None, "git commit -m 'a b'"),
        ("developer__shell", {"command": "ls"}, "terminal", None, "ls"),
        ("shell", {"command": ["apply_patch", "*** Begin Patch\n*** Add File: z.py\n"]}, "patch", "z.py", None),
        ("apply_patch", "*** Begin Patch\n*** Update File: a/b.py\n@@", "patch", "a/b.py", None),
        ("str_replace_editor", {"command": "view", "path": "/x"}, "read", "/x", None),
        ("str_replace_editor", {"command": "create", "path": "/x"}, "write", "/x", None),
        ("str_replace_editor", {"command": "str_replace", "path": "/x"}, "patch", "/x", None),
        ("mcp__files__readFile", {"path": "q"}, "read", "q", None),
        ("MultiEdit", {"file_path": "a.py", "edits": []}, "patch", "a.py", None),
        ("read_many_files", {"paths": ["a", "b"]}, "read", "a", None),
        ("Grep", {"pattern": "x", "path": "src"}, "search", "src", None),
        ("TodoWrite", {"todos": [{"content": "a"}]}, "todo", None, None),
        ("mcp__Claude_Browser__navigate", {"url": "http://x"}, "browser", None, None),
        ("Task", {"description": "d", "prompt": "p"}, "delegate", None, None),
        ("calculate_tip", {"amount": 3}, "other", None, None),
        ("", "[1", "other", None, None),
    ],
)
def test_a_call_is_read_for_its_kind_file_and_command(
    name: str, arguments: dict[str, Any] | str, kind: str, path: str | None, command: str | None
) -> None:
    """NEST-2."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    subject = call_subject(ToolCall("a", name, written))
    assert (subject.kind, subject.path, subject.command) == (kind, path, command)


def test_every_file_of_a_patch_is_named() -> None:
    """NEST-2."""
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n*** Delete File: b.py\n*** End Patch"
    assert call_subject(ToolCall("a", "apply_patch", patch)).paths == ("a.py", "b.py")
    assert call_subject(ToolCall("a", "apply_patch", json.dumps({"input": patch}))).paths == ("a.py", "b.py")
