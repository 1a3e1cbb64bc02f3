"""What a tool call is about and how it ended, read from names, arguments and outputs of tools that agents really have.

Every framework calls its shell, its editor and its search differently. The names and argument keys here are those of common
coding agents; a tool that nobody knows is of kind ``other``, and its longest short argument still says what it was about.
"""
from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from sessionstore.domain.transcript import ToolCall

SubjectKind = Literal["terminal", "read", "search", "write", "patch", "browser", "delegate", "todo", "other"]
"""What a tool does to the world, as far as it matters for a summary."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a call is about.

    ``path`` is the first file it names and ``paths`` all of them; ``command`` the command line of a terminal; ``detail`` the
    argument that says most where neither does: a pattern, a query, a URL, a task. Each is None (or empty) where there is none.
    """

    kind: SubjectKind
    path: str | None = None
    command: str | None = None
    paths: tuple[str, ...] = ()
    detail: str | None = None


_KIND_OF_NAME: Final[Mapping[str, SubjectKind]] = {
    **dict.fromkeys(
        ("bash", "shell", "terminal", "exec", "exec_command", "execute_bash", "execute_command", "execute_code", "execute",
         "run_shell_command", "run_command", "run_terminal_cmd", "run_in_terminal", "local_shell", "cmd", "powershell",
         "python", "ipython", "execute_ipython", "run_python", "run", "write_stdin", "process", "sandbox_exec"),
        "terminal",
    ),
    **dict.fromkeys(
        ("read", "read_file", "read_files", "read_many_files", "view", "view_file", "open", "open_file", "cat", "get_file",
         "get_file_contents", "read_text_file", "notebook_read", "view_image", "file_read"),
        "read",
    ),
    **dict.fromkeys(
        ("grep", "glob", "ls", "find", "rg", "search", "search_files", "search_file", "search_dir", "find_file", "find_files",
         "list_files", "list_directory", "list_dir", "search_file_content", "codebase_search", "grep_search", "file_search",
         "codesearch", "search_code", "history_search", "tool_search"),
        "search",
    ),
    **dict.fromkeys(
        ("write", "write_file", "write_to_file", "create", "create_file", "save_file", "file_write", "delete_file", "insert"),
        "write",
    ),
    **dict.fromkeys(
        ("edit", "edit_file", "multi_edit", "notebook_edit", "patch", "apply_patch", "str_replace", "str_replace_editor",
         "str_replace_based_edit_tool", "file_editor", "text_editor", "replace", "replace_in_file", "search_replace",
         "apply_diff", "file_edit", "edit_notebook", "insert_edit_into_file"),
        "patch",
    ),
    **dict.fromkeys(
        ("web_fetch", "fetch", "webfetch", "web_search", "websearch", "google_web_search", "browse", "browser",
         "browser_action", "open_url", "navigate", "goto_url", "url_fetch", "read_url", "web_extract", "screenshot"),
        "browser",
    ),
    **dict.fromkeys(
        ("task", "agent", "delegate", "delegate_task", "subagent", "sub_agent", "spawn_agent", "new_task", "dispatch_agent",
         "call_agent", "run_agent", "send_message_to_agent"),
        "delegate",
    ),
    **dict.fromkeys(
        ("todo", "todo_write", "todo_update", "todo_read", "todowrite", "todoread", "update_plan", "task_tracker",
         "task_create", "task_update", "task_list", "task_set_goal", "write_todos", "create_todo", "manage_todo_list"),
        "todo",
    ),
}
_KIND_OF_WORD: Final[tuple[tuple[frozenset[str], SubjectKind], ...]] = (
    (frozenset({"todo", "todos"}), "todo"),
    (frozenset({"browser", "playwright", "puppeteer", "webpage"}), "browser"),
    (frozenset({"shell", "bash", "terminal", "powershell"}), "terminal"),
    (frozenset({"subagent", "delegate"}), "delegate"),
    (frozenset({"grep", "glob"}), "search"),
)
_KIND_OF_EDITOR_COMMAND: Final[Mapping[str, SubjectKind]] = {
    "view": "read", "read": "read", "create": "write", "write": "write", "insert": "patch", "str_replace": "patch",
    "replace": "patch", "undo_edit": "patch",
}
_PATH_KEYS: Final = (
    "path", "file_path", "filepath", "filePath", "absolute_path", "file", "filename", "file_name", "target_file",
    "notebook_path", "relative_workspace_path", "AbsolutePath", "TargetFile",
)
_PATHS_KEYS: Final = ("paths", "files", "file_paths", "absolute_paths")
_COMMAND_KEYS: Final = ("command", "cmd", "commands", "CommandLine", "code", "script", "chars", "input")
_DETAIL_KEYS: Final = (
    "pattern", "query", "regex", "search_term", "search", "url", "description", "prompt", "task", "goal", "question", "name",
    "subject", "text", "message", "title",
)
_SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash", "fish", "powershell", "pwsh", "cmd"})
_PATCHED_FILE: Final = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+?)\s*$", re.MULTILINE)
_DIFFED_FILE: Final = re.compile(r"^\+\+\+ (?:b/)?(\S+)", re.MULTILINE)
_WORD_BREAK: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NOT_A_WORD: Final = re.compile(r"[^a-z0-9]+")
_LONGEST_DETAIL: Final = 300
_WINDOW: Final = 2_000
_STATUS_KEYS: Final = ("exit_code", "exitCode", "exit_status", "exitStatus", "returncode", "return_code", "returnCode")
_STATUS_FIELD: Final = re.compile(
    r'"(?:exit_code|exitCode|exit_status|exitStatus|returncode|return_code|returnCode)"\s*:\s*"?(-?\d{1,10})\b'
)
_WRAPPER_STATUS: Final = re.compile(
    r"^\s*(?:<returncode>\s*|(?:error:\s*)?(?:process |command )?exit(?:ed with)?(?: exit)? (?:code|status)[:=]?\s*)"
    r"(-?\d{1,10})\b",
    re.IGNORECASE | re.MULTILINE,
)
_SAID_STATUS: Final = re.compile(
    r"\b(?:exit(?:ed)?(?: with)?(?: exit)?[ _]?(?:code|status)|return[ _]?code)\b[\"'`>:=\s(]*(-?\d{1,10})\b", re.IGNORECASE
)


def call_subject(call: ToolCall) -> Subject:
    """What a call is about; never fails, whatever its name and arguments are."""
    arguments = call.argument_values()
    paths = _paths(arguments, call.arguments)
    kind = _kind(call.name, arguments)
    command = _command(arguments, call.arguments) if kind == "terminal" else None
    if command is not None and "*** Begin Patch" in command[:_WINDOW]:
        kind, command = "patch", None
    detail = None if command else _detail(arguments)
    return Subject(kind, paths[0] if paths else None, command, paths, detail)


def exit_status(text: str) -> int | None:
    """The exit status that a tool's output states, None where it states none.

    Read from a JSON field, a wrapper's own line at the start (up to a line ``Output:``), or a remark in the last three lines.
    What a command printed in between is not looked at, so a log about exit codes is not taken for one.
    """
    stripped = text.strip()
    if stripped.startswith("{") and (found := _status_in_json(stripped)) is not None:
        return found
    head: list[str] = []
    for line in stripped[:_WINDOW].split("\n")[:8]:
        if line.strip().lower() in ("output:", "<output>"):
            break
        head.append(line)
    if (match := _WRAPPER_STATUS.search("\n".join(head))) is not None:
        return int(match.group(1))
    tail = "\n".join(stripped[-_WINDOW:].split("\n")[-3:])
    said = _SAID_STATUS.findall(tail)
    return int(said[-1]) if said else None


def _status_in_json(text: str) -> int | None:
    value: Any = None
    if len(text) <= 200_000:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
    if isinstance(value, dict):
        nested = value.get("metadata")
        for holder in (value, nested if isinstance(nested, dict) else {}):
            for key in _STATUS_KEYS:
                if isinstance(holder.get(key), int) and not isinstance(holder[key], bool):
                    return int(holder[key])
        return None
    # Cut-off or very long JSON: the field is looked for near both ends, where tools put it.
    match = _STATUS_FIELD.search(text[:_WINDOW]) or _STATUS_FIELD.search(text[-_WINDOW:])
    return None if match is None else int(match.group(1))


def _kind(name: str, arguments: Mapping[str, Any]) -> SubjectKind:
    editor_command = arguments.get("command")
    if isinstance(editor_command, str) and editor_command in _KIND_OF_EDITOR_COMMAND and _first_text(arguments, _PATH_KEYS):
        return _KIND_OF_EDITOR_COMMAND[editor_command]
    # Servers put their own name in front: mcp__files__read_file, developer__shell, functions.exec_command.
    for part in (name, re.split(r"__|[./:]", name)[-1]):
        snake = _NOT_A_WORD.sub("_", _WORD_BREAK.sub("_", part).lower()).strip("_")
        if snake in _KIND_OF_NAME:
            return _KIND_OF_NAME[snake]
    words = frozenset(_NOT_A_WORD.split(_WORD_BREAK.sub("_", name).lower()))
    for known, kind in _KIND_OF_WORD:
        if words & known:
            return kind
    return "other"


def _paths(arguments: Mapping[str, Any], raw: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    if (single := _first_text(arguments, _PATH_KEYS)) is not None:
        found[single] = None
    for key in _PATHS_KEYS:
        listed = arguments.get(key)
        for item in listed if isinstance(listed, list) else ():
            path = _first_text(item, _PATH_KEYS) if isinstance(item, Mapping) else item
            if isinstance(path, str) and path:
                found[path] = None
    if not found and ("*** " in raw or "+++ " in raw):
        for text in [value for value in _leaves(arguments) if "*** " in value or "+++ " in value] or [raw]:
            for path in _PATCHED_FILE.findall(text) or _DIFFED_FILE.findall(text):
                found[path] = None
    return tuple(found)


def _command(arguments: Mapping[str, Any], raw: str) -> str | None:
    for key in _COMMAND_KEYS:
        value = arguments.get(key)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            return _command_line(value)
    return raw if raw.strip() and not arguments and not raw.lstrip().startswith(("{", "[")) else None


def _command_line(words: Sequence[str]) -> str:
    shell = words[0].rsplit("/", 1)[-1]
    if len(words) == 3 and shell in _SHELLS and words[1].startswith("-"):
        return words[2]
    return words[0] if len(words) == 1 else shlex.join(words)


def _detail(arguments: Mapping[str, Any]) -> str | None:
    named = _first_text(arguments, _DETAIL_KEYS)
    if named is not None:
        return named
    short = [value for value in _leaves(arguments) if value.strip() and len(value) <= _LONGEST_DETAIL]
    return max(short, key=len, default=None)


def _first_text(holder: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    for key in keys:
        value = holder.get(key)
        if isinstance(value, str) and value.strip():
            return value
    return None


def _leaves(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [leaf for item in value.values() for leaf in _leaves(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in _leaves(item)]
    return []
