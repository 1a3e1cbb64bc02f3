"""Facts of what was done: commands with their status, files with operations, errors and what resolved them, state, todos."""
from __future__ import annotations

import re
from typing import Final

from sessionstore.domain.ledger.collector import FactCollector
from sessionstore.domain.ledger.entry import LedgerEntry, Source
from sessionstore.domain.ledger.references import Reference, references_in, references_in_output
from sessionstore.domain.ledger.result_facts import (
    error_lines,
    is_failure,
    looks_failed,
    readable,
    result_line,
    status_of,
    tests_failed,
)
from sessionstore.domain.ledger.shell_lines import ShellLine, program_of, read_shell_line
from sessionstore.domain.ledger.tool_uses import ToolUse, read_tool_use
from sessionstore.domain.redaction import redact
from sessionstore.domain.transcript import ToolCall, ToolResult

MAX_COMMAND: Final = 1_000
"""Characters of a command line that are kept; a longer one is a script, and stands at its seq."""
MUTATIONS: Final = frozenset({"edited", "written", "created", "deleted", "moved away"})
"""Operations that change a file."""
_SHORT: Final = 200
_ARGUMENTS_SCANNED: Final = 4_000
_NAMED_FILE: Final = re.compile(r"^\[File: (.{1,300}?) \(\d")
_OPEN_FILE: Final = re.compile(r"\(Open file: (\S{1,300})\)")
_DIRECTORY: Final = re.compile(r"(?:\[Current working directory: |\(Current directory: )([^\])\n]{1,300})[\])]")
_BRANCH: Final = re.compile(
    r"^(?:On branch |## (?!HEAD|No commits)|Switched to (?:a new )?branch ')([\w./-]{1,100}?)(?='|\.\.\.|\s|$)", re.MULTILINE
)
_GIT: Final = re.compile(r"(?:^|[;&|\n(])\s*git\s")
_COMMIT: Final = re.compile(r"^\[([\w./-]{1,100}) (?:\(root-commit\) )?([0-9a-f]{7,40})\] (.{1,120})", re.MULTILINE)
_RUNNING: Final = re.compile(r"running with session ID|running in (?:the )?background|still running", re.IGNORECASE)
_SHOWS_EVENTS: Final = re.compile(r"log|trace|event|journal|console", re.IGNORECASE)


class DeedReader:
    """Reads calls with their results, in order, into a collector; remembers the command that is still running."""

    def __init__(self, collector: FactCollector) -> None:
        self._collector = collector
        self._running: tuple[str, ShellLine] | None = None

    def read(self, call: ToolCall, result: ToolResult | None, seq: int, result_seq: int | None) -> None:
        """Note the facts of one call; ``result_seq`` is where its result stands, None while it has none."""
        use = read_tool_use(call)
        if result is not None and "PRIVATE KEY" in result.text:
            # A key of several lines has no shape any more once the text is cut into lines.
            result = ToolResult(result.call_id, result.name, redact(result.text), result.is_error, result.images)
        shows = use.looks or any(operation == "read" for operation, _path in use.operations)
        status = "" if result is None else status_of(result, shows_content=shows)
        text = "" if result is None else readable(result.text)
        seen_at = seq if result_seq is None else result_seq
        if use.deed == "run":
            self._run(use, status, text, seq, seen_at, answered=result is not None)
        elif use.deed == "file":
            self._files(use, status, text, seq, seen_at)
        elif use.deed == "todo":
            self._todos(use, seq)
        elif use.deed == "ask":
            self._ask(use, text, seq, seen_at)
        elif use.deed == "wait":
            self._wait(status, text, seen_at)
        else:
            self._other(use, status, text, seq, seen_at)
        self._references(use, call, seq)
        if text and use.deed != "ask":
            for found in references_in_output(text):
                self._reference(found, seen_at, "output")
            self._state_from_output(text, seen_at, git=_GIT.search(use.command) is not None)

    def _run(self, use: ToolUse, status: str, text: str, seq: int, seen_at: int, *, answered: bool) -> None:
        command = redact(use.command)
        more = len(command) - MAX_COMMAND
        shown = command if more <= 0 else f"{command[:MAX_COMMAND]}… [{more:,} more characters]"
        line = read_shell_line(command)
        if line.tests and not status and tests_failed(text):
            status = "failed"
        outcome = _outcome(status, redact(result_line(text)) if text else "") if answered else ""
        about = "tests" if line.tests else "look" if line.harmless else "run"
        fact = self._collector.add(
            "command", command, shown, seq, source="call", about=about, outcome=outcome, outcome_seq=seen_at, numbered=True
        )
        for operation, path in line.operations:
            self._collector.add("file", _path_key(path), path, seq, source="call", operation=operation)
        if use.directory or line.directory.startswith(("/", "~")):
            self._state("directory", use.directory or line.directory, seq)
        if line.branch and not is_failure(status):
            self._state("branch", line.branch, seq)
        if not answered:
            return
        self._settle(fact, line, status, text, seen_at)
        if _RUNNING.search(text[:400]):
            self._running = (fact.key, line)

    def _settle(self, command: LedgerEntry, line: ShellLine, status: str, text: str, seq: int) -> None:
        """Note how a command ended: its errors, or the errors that its success resolved."""
        failed = is_failure(status) or (line.tests and tests_failed(text))
        if failed and line.one_is_no_failure and status in ("exit 1", "failed") and len(text) < _SHORT and "rror" not in text:
            return
        if line.tests:
            self._state("tests", f"`{_one_line(command.text, _SHORT)}` → {_outcome(status, redact(result_line(text)))}", seq)
        if failed:
            self._errors(text or status, error_origin(command.text), seq, one_each=line.tests)
        else:
            self._resolve(command, line, seq)

    def _wait(self, status: str, text: str, seq: int) -> None:
        if self._running is None or not status.startswith("exit "):
            return
        key, line = self._running
        command = self._collector.get("command", key)
        if command is not None:
            outcome = _outcome(status, redact(result_line(text)))
            command = self._collector.add("command", key, command.text, seq, source="call", outcome=outcome)
            self._settle(command, line, status, text, seq)
        self._running = None

    def _files(self, use: ToolUse, status: str, text: str, seq: int, seen_at: int) -> None:
        for operation, given in use.operations:
            named = _NAMED_FILE.match(text) or _OPEN_FILE.search(text[-400:])
            path = redact(given or (named[1] if named else ""))
            if not path:
                continue
            what = f"{operation} {path}"
            if is_failure(status):
                self._errors(text, f"{use.name} {path}", seen_at)
                continue
            self._collector.add("file", _path_key(path), path, seq, source="call", operation=operation)
            if operation in MUTATIONS:
                self._collector.add(
                    "action", what, what, seq, source="call", about="file", outcome=status, outcome_seq=seen_at, numbered=True
                )
            for error in self._open_errors():
                if error.about == f"{use.name} {path}" and error.last_seq < seen_at:
                    self._collector.close(error, seen_at, what)

    def _other(self, use: ToolUse, status: str, text: str, seq: int, seen_at: int) -> None:
        for operation, given in use.operations:
            path = redact(given)
            self._collector.add("file", _path_key(path), path, seq, source="call", operation=operation)
        what = redact(_one_line(f"{use.name} {use.subject}".strip(), _SHORT))
        about = "look" if use.looks else "tool"
        outcome = _outcome(status, redact(result_line(text)) if text else "")
        self._collector.add(
            "action", what, what, seq, source="call", about=about, outcome=outcome, outcome_seq=seen_at, numbered=True
        )
        # What a log says happened is what is looked for in it.
        if is_failure(status) or (use.looks and _SHOWS_EVENTS.search(use.name) and looks_failed(text)):
            self._errors(text, what, seen_at)
            return
        for error in self._open_errors():
            if error.about == what and error.last_seq < seen_at:
                self._collector.close(error, seen_at, what)

    def _ask(self, use: ToolUse, text: str, seq: int, seen_at: int) -> None:
        for question in use.questions:
            fact = self._collector.add("question", redact(question), redact(question), seq, source="assistant")
            if text:
                self._collector.close(fact, seen_at, redact(_one_line(text, 300)))

    def _todos(self, use: ToolUse, seq: int) -> None:
        listed = set()
        for key, content, status in use.todos:
            fact = self._collector.add("todo", redact(key), redact(content), seq, source="call", outcome=status)
            listed.add(fact.key)
        for fact in self._collector.of_kind("todo"):
            if fact.key not in listed and fact.last_seq < seq and fact.outcome in ("pending", "in_progress"):
                self._collector.add("todo", fact.key, fact.text, seq, source="call", outcome="taken off the list")

    def _errors(self, text: str, about: str, seq: int, *, one_each: bool = False) -> None:
        lines = [redact(line) for line in error_lines(text)]
        if one_each and all(line.startswith(("FAILED ", "ERROR ", "--- FAIL")) for line in lines):
            messages = lines
        else:
            messages = ["\n".join(lines)] if lines else []
        for message in messages:
            fact = self._collector.add("error", message, message, seq, source="output", about=about)
            self._collector.reopen(fact, seq)

    def _open_errors(self) -> list[LedgerEntry]:
        return [error for error in self._collector.of_kind("error") if error.closed_by is None]

    def _resolve(self, command: LedgerEntry, line: ShellLine, seq: int) -> None:
        """Close the errors of the same command, and of a test run or build of the same program that this one covers."""
        about = f"`{_one_line(command.text, 80)}`"
        program = program_of(command.text)
        for error in self._open_errors():
            if error.last_seq >= seq or not error.about.startswith("`"):
                continue
            same_run = not line.harmless and program_of(error.about.strip("`")) == program
            named = error.text.startswith(("FAILED ", "ERROR "))
            origin = f"{error.about} {error.text}" if named else error.about
            covers = all(target in origin for target in line.targets)
            if error.about == about or (same_run and covers):
                self._collector.close(error, seq, _one_line(command.text, 120))

    def _references(self, use: ToolUse, call: ToolCall, seq: int) -> None:
        if use.deed == "run":
            found = references_in(use.command)
        elif use.deed == "other":
            found = references_in(call.arguments[:_ARGUMENTS_SCANNED])
        elif use.deed in ("file", "search"):
            found = references_in_output(call.arguments[:_ARGUMENTS_SCANNED])
        else:
            return
        for reference in found:
            if reference.form != "number":
                self._reference(reference, seq, "call")

    def _reference(self, found: Reference, seq: int, source: Source) -> None:
        text = redact(found.text)
        self._collector.add("reference", f"{found.form}:{text}", text, seq, source=source, about=found.form)

    def _state(self, name: str, value: str, seq: int) -> None:
        value = redact(value)
        self._collector.add("state", name, value, seq, source="output", about=name, outcome=value)

    def _state_from_output(self, text: str, seq: int, *, git: bool) -> None:
        tail = text[-600:]
        if (directory := _DIRECTORY.search(tail)) is not None:
            self._state("directory", directory[1].strip(), seq)
        if not git:
            return
        if (branch := _BRANCH.search(text[:2_000])) is not None:
            self._state("branch", branch[1], seq)
        if (commit := _COMMIT.search(text[:6_000])) is not None:
            self._state("branch", commit[1], seq)
            self._state("commit", f"{commit[2]} {commit[3]}", seq)


def error_origin(command: str) -> str:
    """What an error of a command is ``about``."""
    return f"`{_one_line(command, 80)}`"


def _outcome(status: str, line: str) -> str:
    return f"{status}: {line}" if status and line else status or line or "done"


def _path_key(path: str) -> str:
    return path.removeprefix("./")


def _one_line(text: str, length: int) -> str:
    line = " ".join(text[: 4 * length].split())
    return line if len(line) <= length else f"{line[:length]}…"
