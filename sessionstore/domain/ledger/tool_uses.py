"""What a tool call means for the ledger: the files it works on and how, its command, its todo list, its questions."""
from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from sessionstore.domain.ledger.shell_lines import patched_files
from sessionstore.domain.ledger.shell_words import looks_like_file
from sessionstore.domain.ledger.todo_items import TodoItem, empties_list, first_string, read_todos
from sessionstore.domain.tool_reading import call_subject
from sessionstore.domain.transcript import ToolCall

Deed = Literal["run", "file", "search", "todo", "ask", "wait", "other"]
"""What a call does: run a command, work on files, look for something, keep a todo list, ask the user, wait for or steer
something that was begun before, anything else."""

_ASK: Final = frozenset({"askuserquestion", "ask_user", "ask_followup_question", "clarify", "request_user_input"})
_WAIT: Final = frozenset(
    {"write_stdin", "bashoutput", "killshell", "killbash", "process", "wait", "get_output", "taskoutput", "goto", "scroll_down",
     "scroll_up", "submit", "think", "finish", "todoread", "exitplanmode"}
)
_CREATORS: Final = frozenset({"create", "create_file"})
_DELETERS: Final = frozenset({"delete_file", "remove_file"})
_LOOKING: Final = frozenset(
    {"get", "list", "fetch", "read", "search", "find", "query", "describe", "show", "lookup", "look", "check",
     "view", "inspect", "count",
     "browse", "select", "status", "logs", "tail", "peek", "explain", "preview"}
)
"""First words of the names of tools, or of what they are told, that show something and change nothing."""
_MAKING: Final = frozenset(
    {"create", "write", "save", "export", "render", "generate", "upload", "download", "draw", "plot", "convert",
     "compile", "print"}
)
"""First words of the names of tools that make a file when they are given its name."""
_OUTPUT_KEYS: Final = (
    "output_path", "output_file", "outputPath", "outfile", "out", "save_path", "save_to", "destination", "dest", "target_path",
)
_WORDS_OF_NAME: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SHELL_KEYS: Final = ("c", "cmd", "command", "script")


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call as the ledger sees it; fields that don't concern its ``deed`` are empty.

    ``operations`` are (operation, path) pairs; a path is empty where only the output names the file. ``subject`` is the
    argument that says most. ``todos`` are those of the whole list, or, of a call that ``changes_todos``, the ones it changes.
    ``questions`` are for the user. ``looks`` is true of a tool that shows what is there and changes nothing, by its name.
    """

    deed: Deed
    name: str
    command: str = ""
    directory: str = ""
    operations: tuple[tuple[str, str], ...] = ()
    subject: str = ""
    todos: tuple[TodoItem, ...] = ()
    changes_todos: bool = False
    questions: tuple[str, ...] = ()
    looks: bool = False

    @property
    def shows_content(self) -> bool:
        """Whether what it returns is what is stored somewhere."""
        return self.looks or any(operation == "read" for operation, _path in self.operations)


def read_tool_use(call: ToolCall) -> ToolUse:
    """What the call means; never fails, whatever its name and arguments are."""
    name = call.name.rsplit("__", 1)[-1].rsplit(".", 1)[-1]
    plain = name.lower().lstrip("_")
    arguments = call.argument_values()
    if plain in _ASK:
        return ToolUse("ask", name, questions=tuple(_questions(arguments)))
    if plain in _WAIT:
        return ToolUse("wait", name)
    subject = call_subject(call)
    detail = subject.detail or ""
    if subject.kind == "todo":
        todos, changes = read_todos(name, arguments)
        kept = bool(todos) or changes or empties_list(arguments)
        return ToolUse("todo", name, todos=todos, changes_todos=changes) if kept else ToolUse("other", name, subject=detail)
    directory = first_string(arguments, ("workdir", "cwd", "working_directory", "dir_path"))
    command = subject.command or _bare_command(subject.kind, arguments)
    if command:
        return ToolUse("run", name, command=command.strip(), directory=directory)
    if subject.kind in ("read", "write", "patch"):
        patched = patched_files(first_string(arguments, ("input", "patch", "diff", "command", "cmd")) or call.arguments)
        operation = _operation(subject.kind, plain, arguments)
        operations = tuple(patched or ((operation, path) for path in subject.paths or ("",)))
        return ToolUse("file", name, directory=directory, operations=operations)
    if subject.kind == "search":
        path = subject.path or first_string(arguments, ("directory", "dir"))
        operations = (("searched", path),) if path else ()
        return ToolUse("search", name, subject=detail, directory=directory, operations=operations, looks=True)
    words = [word.lower() for word in _WORDS_OF_NAME.findall(name)]
    said = detail.split(maxsplit=1)[0].lower() if detail.strip() else ""
    looks = subject.kind == "browser" or bool({said, *words[:1], *words[-1:]} & _LOOKING)
    made = first_string(arguments, _OUTPUT_KEYS) or ((subject.path or "") if words[:1] and words[0] in _MAKING else "")
    operations = (("written", made),) if made and looks_like_file(made) and not looks else ()
    return ToolUse("other", name, subject=detail or subject.path or "", operations=operations, looks=looks)


def _bare_command(kind: str, arguments: Mapping[str, Any]) -> str:
    return first_string(arguments, _SHELL_KEYS) if kind in ("other", "terminal") else ""


def _operation(kind: str, plain: str, arguments: Mapping[str, Any]) -> str:
    if kind == "read":
        return "read"
    if plain in _DELETERS:
        return "deleted"
    if plain in _CREATORS or arguments.get("command") == "create":
        return "created"
    return "written" if kind == "write" and plain != "insert" else "edited"


def _questions(arguments: Mapping[str, Any]) -> Iterator[str]:
    several = arguments.get("questions")
    for item in several if isinstance(several, list) else (arguments,):
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping) and (question := first_string(item, ("question", "text", "prompt", "message"))):
            yield question
