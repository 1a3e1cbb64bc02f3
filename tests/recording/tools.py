"""The tools of the recorded agent: each call is data, and running it gives the text the agent gets to see.

``terminal`` ends its result with a line ``exit status N``. The others say ``error: …`` when they can't do what they
were asked, and change nothing then.
"""
import difflib
import json
import re
from dataclasses import dataclass
from typing import Any

from .workspace import Workspace


@dataclass(frozen=True)
class ToolCall:
    """A tool by name with its arguments, as a model would send them."""

    name: str
    arguments: dict[str, Any]


def terminal(command: str) -> ToolCall:
    """Run a line of bash in the project's folder."""
    return ToolCall("terminal", {"command": command})


def read_file(path: str, first_line: int = 1, line_count: int | None = None) -> ToolCall:
    """Read a text file with line numbers; without a count, to its end."""
    arguments: dict[str, Any] = {"path": path}
    if first_line != 1 or line_count is not None:
        arguments |= {"first_line": first_line, "line_count": line_count}
    return ToolCall("read_file", arguments)


def write_file(path: str, content: str) -> ToolCall:
    """Write a whole file, replacing what was there."""
    return ToolCall("write_file", {"path": path, "content": content})


def patch(path: str, search: str, replace: str) -> ToolCall:
    """Replace the one place in a file where a text stands."""
    return ToolCall("patch", {"path": path, "search": search, "replace": replace})


def search_files(pattern: str, path: str = ".", file_glob: str = "*") -> ToolCall:
    """Find the lines that match a regular expression."""
    return ToolCall("search_files", {"pattern": pattern, "path": path, "file_glob": file_glob})


def todo(*items: tuple[str, str, str]) -> ToolCall:
    """Replace the list of things to do; an item is id, content and status."""
    return ToolCall("todo", {"todos": [{"id": id_, "content": content, "status": status} for id_, content, status in items]})


def run_tool(workspace: Workspace, call: ToolCall, moment: str) -> str:
    """Carry out a call and return its result's text; ``moment`` dates the commits that a command makes."""
    arguments = call.arguments
    match call.name:
        case "terminal":
            result = workspace.run(arguments["command"], moment)
            body = result.output if not result.output or result.output.endswith("\n") else result.output + "\n"
            return f"{body}exit status {result.exit_status}"
        case "read_file":
            return _read(workspace, arguments["path"], arguments.get("first_line", 1), arguments.get("line_count"))
        case "write_file":
            return _write(workspace, arguments["path"], arguments["content"])
        case "patch":
            return _patch(workspace, arguments["path"], arguments["search"], arguments["replace"])
        case "search_files":
            return _search(workspace, arguments["pattern"], arguments["path"], arguments["file_glob"])
        case "todo":
            return json.dumps(arguments, ensure_ascii=False)
        case unknown:
            raise ValueError(f"the script calls a tool that does not exist: {unknown}")


def _read(workspace: Workspace, path: str, first_line: int, line_count: int | None) -> str:
    target = workspace.root / path
    if not target.is_file():
        return f"error: no such file: {path}"
    lines = target.read_text(encoding="utf-8").splitlines()
    last_line = len(lines) if line_count is None else min(len(lines), first_line + line_count - 1)
    shown = [f"{number:>4}|{lines[number - 1]}" for number in range(first_line, last_line + 1)]
    return "\n".join([f"{path}, lines {first_line}-{last_line} of {len(lines)}", *shown])


def _write(workspace: Workspace, path: str, content: str) -> str:
    target = workspace.root / path
    existed = target.exists()
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(content, encoding="utf-8")
    return f"{'replaced' if existed else 'created'} {path}, {len(content.encode())} bytes"


def _patch(workspace: Workspace, path: str, search: str, replace: str) -> str:
    target = workspace.root / path
    if not target.is_file():
        return f"error: no such file: {path}"
    before = target.read_text(encoding="utf-8")
    places = before.count(search)
    if places != 1:
        found = "search text not found" if places == 0 else f"search text stands in {places} places"
        return f"error: {found} in {path}; nothing was changed. Read the file and try again with the exact lines."
    after = before.replace(search, replace)
    target.write_text(after, encoding="utf-8")
    difference = difflib.unified_diff(before.splitlines(), after.splitlines(), f"a/{path}", f"b/{path}", lineterm="")
    return "\n".join([f"patched {path}", *difference])


def _search(workspace: Workspace, pattern: str, path: str, file_glob: str) -> str:
    start = workspace.root / path
    if not start.exists():
        return f"error: no such path: {path}"
    files = [start] if start.is_file() else sorted(start.rglob(file_glob))
    hits: list[str] = []
    files_hit = 0
    for file in files:
        relative = file.relative_to(workspace.root)
        if not file.is_file() or ".git" in relative.parts or ".pytest_cache" in relative.parts:
            continue
        lines = file.read_text(encoding="utf-8").splitlines()
        found = [f"{relative}:{number}: {line}" for number, line in enumerate(lines, 1) if re.search(pattern, line)]
        files_hit += bool(found)
        hits += found
    return "\n".join([*hits, f"{len(hits)} matches in {files_hit} files"])
