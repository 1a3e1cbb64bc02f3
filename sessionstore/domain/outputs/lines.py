"""The line itself, one form for each kind of tool."""
from __future__ import annotations

import re
from typing import Final

from sessionstore.domain.outputs.content import OutputContent, match_count, read_output
from sessionstore.domain.tool_reading import Subject, call_subject
from sessionstore.domain.transcript import ToolCall, ToolResult

LONGEST_ARGUMENT: Final = 120
"""Characters of a command, path or pattern that a line quotes."""

LONGEST_REMARK: Final = 160
"""Characters of an output's own words that a line quotes."""

PLACEHOLDER: Final = "[old tool output left out]"
"""What stands for an old output where no line that informs is wanted."""

_BLANKS: Final = re.compile(r"\s+")
_DESCRIBED: Final = re.compile(r"\[[^\]\n]{1,80}\] [^\n]{1,500} -> [^\n]{1,300}")
_PLACEHOLDER: Final = re.compile(re.escape(PLACEHOLDER) + r"(?: \(failed: [^\n]*\))?")
_UNNAMED: Final = "tool"


def describe_output(call: ToolCall | None, result: ToolResult) -> str:
    """One line that stands for an output: ``[terminal] ran "npm test" -> exit 0, 47 lines``.

    It names the tool, its main argument, exit status or number of matches, and the size; a failure keeps its message. ``call``
    is None when the call is not in the transcript.
    """
    subject = Subject("other") if call is None else call_subject(call)
    name = (call.name if call is not None else "") or result.name or _UNNAMED
    content = read_output(result)
    outcome = ", ".join(_outcome(subject, content, result))
    return f"[{shortened(name, 60).replace(']', ')')}] {_deed(subject)} -> {outcome}"


def placeholder_for(result: ToolResult) -> str:
    """The same few words for every output; only a failure keeps what it said, because an error stays an error."""
    failure = read_output(result).failure
    return PLACEHOLDER if failure is None else f"{PLACEHOLDER} (failed: {shortened(failure, LONGEST_REMARK)})"


def is_described(text: str) -> bool:
    """Whether an output is such a line, or the placeholder, already."""
    return len(text) <= 900 and (_DESCRIBED.fullmatch(text) or _PLACEHOLDER.fullmatch(text)) is not None


def _deed(subject: Subject) -> str:
    target = subject.path or subject.detail
    quoted = "" if target is None else f' "{shortened(target, LONGEST_ARGUMENT)}"'
    path = "a file" if subject.path is None else shortened(subject.path, LONGEST_ARGUMENT)
    more = f" and {len(subject.paths) - 1} more" if len(subject.paths) > 1 else ""
    match subject.kind:
        case "terminal":
            command = subject.command
            return f"ran{quoted}" if command is None else f'ran "{shortened(command, LONGEST_ARGUMENT)}"'
        case "read":
            return f"read {path}{more}"
        case "search":
            sought = "" if subject.detail is None else f' "{shortened(subject.detail, LONGEST_ARGUMENT)}"'
            return f"searched{sought}" + ("" if subject.path is None or subject.path == subject.detail else f" in {path}")
        case "write":
            return f"wrote {path}{more}"
        case "patch":
            return f"patched {path}{more}"
        case "browser":
            return f"browsed{quoted}"
        case "delegate":
            return f"delegated{quoted}"
        case "todo":
            return "updated the todo list"
        case "other":
            return f"called with{quoted}" if quoted else "called"


def _outcome(subject: Subject, content: OutputContent, result: ToolResult) -> list[str]:
    found: list[str] = []
    if content.status is not None:
        found.append(f"exit {content.status}")
    if content.failure is None and subject.kind == "search":
        found.append(_counted(match_count(content), "match", "matches"))
    found.append(_size(content))
    if result.images:
        found.append(_counted(result.images, "image", "images") + " left out")
    if content.failure is not None:
        found.append(f"failed: {shortened(content.failure, LONGEST_REMARK)}")
    elif (remark := _remark(subject, content)) is not None:
        found.append(remark)
    return found


def _remark(subject: Subject, content: OutputContent) -> str | None:
    if subject.kind in ("read", "search"):
        return None
    if subject.kind in ("write", "patch") and subject.path is not None and subject.path in content.first_line:
        return None
    # A command's outcome stands at its end, what another tool found at its beginning.
    said, where = (content.last_line, "ends") if subject.kind == "terminal" else (content.first_line, "begins")
    return f'{where} "{shortened(said, 80 if subject.kind == "terminal" else LONGEST_REMARK)}"' if said else None


def _size(content: OutputContent) -> str:
    lines = content.lines
    return _counted(lines, "line", "lines") if lines > 1 else _counted(len(content.body), "character", "characters")


def _counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def shortened(text: str, limit: int) -> str:
    """The text on one line, at most ``limit`` characters of it."""
    joined = _BLANKS.sub(" ", text[: limit * 4]).strip()
    return joined if len(joined) <= limit and len(text) <= limit * 4 else joined[: limit - 1].rstrip() + "…"
