"""Facts of what was done: commands with their status, files with operations, errors and what resolved them, state."""
from __future__ import annotations

import re
from typing import Final

from sessionstore.domain.ledger.collector import FactCollector
from sessionstore.domain.ledger.entry import Ledger, LedgerEntry, RunningCommand, Source
from sessionstore.domain.ledger.file_places import FilePlaces, joined
from sessionstore.domain.ledger.open_errors import OpenErrors, error_origin, one_line
from sessionstore.domain.ledger.references import Reference, references_in, references_in_output
from sessionstore.domain.ledger.result_facts import (
    error_messages,
    is_failure,
    looks_failed,
    outcome_of,
    result_line,
    said_by,
    tests_failed,
)
from sessionstore.domain.ledger.running import RunningCommands, goes_on
from sessionstore.domain.ledger.severe_lines import severe_lines
from sessionstore.domain.ledger.shell_lines import ShellLine, read_shell_line
from sessionstore.domain.ledger.todo_deeds import TodoReader
from sessionstore.domain.ledger.tool_uses import ToolUse, read_tool_use
from sessionstore.domain.redaction import redact
from sessionstore.domain.transcript import ToolCall, ToolResult

MAX_COMMAND: Final = 1_000
"""Characters of a command line that are kept; a longer one is a script, and stands at its seq."""
MUTATIONS: Final = frozenset({"edited", "written", "created", "deleted", "moved away"})
"""Operations that change a file."""
_REPAIRS: Final = frozenset({"edited", "written", "created"})
"""Operations after which a file is there and was changed: what failed at it before need not be tried again."""
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
_SHOWS_EVENTS: Final = re.compile(r"log|trace|event|journal|console|error|crash|alert|incident", re.IGNORECASE)


class DeedReader:
    """Reads calls with their results, in order, into a collector; remembers the commands that are still running.

    ``previous`` is the ledger that the collector began with.
    """

    def __init__(self, collector: FactCollector, previous: Ledger) -> None:
        self._collector = collector
        self._running = RunningCommands(previous)
        self._todos = TodoReader(collector)
        self.errors = OpenErrors(collector)
        self.places = FilePlaces(collector, previous.directory)

    @property
    def running(self) -> tuple[RunningCommand, ...]:
        """The commands that go on in the background."""
        return self._running.newest

    def read(self, call: ToolCall, result: ToolResult | None, seq: int, result_seq: int | None) -> None:
        """Note the facts of one call; ``result_seq`` is where its result stands, None while it has none."""
        use = read_tool_use(call)
        status, text = said_by(result, shows_content=use.shows_content)
        seen_at = seq if result_seq is None else result_seq
        if use.deed == "run":
            self._run(use, status, text, seq, seen_at, answered=result is not None)
        elif use.deed == "file":
            self._files(use, status, text, seq, seen_at, answered=result is not None)
        elif use.deed == "todo":
            self._todos.read(use, text, seq, failed=is_failure(status))
        elif use.deed == "ask":
            self._ask(use, text, seq, seen_at)
        elif use.deed == "wait":
            self._wait(call, status, text, seen_at)
        else:
            self._other(use, status, text, seq, seen_at, answered=result is not None)
        self._references(use, call, seq)
        if text and use.deed != "ask":
            for found in references_in_output(text):
                self._reference(found, seen_at, "output")
            self._state_from_output(text, seen_at, git=_GIT.search(use.command) is not None)

    def follow(self, call: ToolCall, result: ToolResult, seq: int) -> None:
        """Of a call that stays in the context only note which errors its result at ``seq`` closes, or shows again."""
        use = read_tool_use(call)
        if use.deed != "run":
            return
        status, text = said_by(result, shows_content=use.shows_content)
        command = redact(use.command)
        line = read_shell_line(command)
        if is_failure(status) or (line.tests and tests_failed(text)):
            for message in error_messages(text or status, one_each=line.tests):
                self.errors.seen_again(message, seq)
        elif not goes_on(status, text):
            self.errors.close_run(_shown(command), text, seq, line=line, base=self.places.within(use.directory))

    def _run(self, use: ToolUse, status: str, text: str, seq: int, seen_at: int, *, answered: bool) -> None:
        command = redact(use.command)
        line = read_shell_line(command)
        if line.tests and not status and tests_failed(text):
            status = "failed"
        outcome = outcome_of(status, redact(result_line(text)) if text else "") if answered else ""
        about = "tests" if line.tests else "look" if line.harmless else "run"
        fact = self._collector.add(
            "command", command, _shown(command), seq, source="call", about=about, outcome=outcome, outcome_seq=seen_at,
            numbered=True,
        )
        base = self.places.within(use.directory)
        for done in line.operations:
            within = None if done.directory is None else joined(base, done.directory) if done.directory else base
            self.places.note(done.path, done.name, seq, base=within)
        if use.directory or line.directory.startswith(("/", "~")):
            self._state("directory", use.directory or line.directory, seq)
        if line.branch and not is_failure(status):
            self._state("branch", line.branch, seq)
        if not answered:
            return
        is_running = goes_on(status, text)
        if is_running:
            self._running.note(fact.key, text)
        # How it ended isn't known yet, but what it printed may say by now that something failed.
        if not is_running or is_failure(status):
            self._settle(fact, line, status, text, seen_at, base)

    def _settle(self, command: LedgerEntry, line: ShellLine, status: str, text: str, seq: int, base: str) -> None:
        """Note how a command ended: its errors, or the errors that its success resolved."""
        failed = is_failure(status) or (line.tests and tests_failed(text))
        if failed and line.one_is_no_failure and status in ("exit 1", "failed") and len(text) < _SHORT and "rror" not in text:
            return
        if line.tests:
            self._state("tests", f"`{one_line(command.text, _SHORT)}` → {outcome_of(status, redact(result_line(text)))}", seq)
        if failed:
            for message in error_messages(text or status, one_each=line.tests):
                self.errors.note(message, error_origin(command.text), seq, command=command.text, base=base)
            return
        self.errors.close_run(command.text, text, seq, line=line, base=base)
        for done in line.operations:
            if done.name in _REPAIRS:
                self.errors.close_path(done.path.removeprefix("./"), seq, one_line(command.text, _SHORT))

    def _wait(self, call: ToolCall, status: str, text: str, seq: int) -> None:
        ended = self._running.waited_for(call) if status.startswith("exit ") else None
        command = None if ended is None else self._collector.get("command", ended.key)
        if ended is not None and command is not None:
            outcome = outcome_of(status, redact(result_line(text)))
            command = self._collector.add("command", command.key, command.text, seq, source="call", outcome=outcome)
            self._settle(command, read_shell_line(command.text), status, text, seq, "")
            self._running.forget(ended)

    def _files(self, use: ToolUse, status: str, text: str, seq: int, seen_at: int, *, answered: bool) -> None:
        for operation, given in use.operations:
            named = _NAMED_FILE.match(text) or _OPEN_FILE.search(text[-400:])
            path = redact(given or (named[1] if named else ""))
            if not path:
                continue
            what, plain = f"{operation} {path}", path.removeprefix("./")
            if is_failure(status):
                for message in error_messages(text):
                    self.errors.note(message, f"{use.name} {path}", seen_at, path=plain)
                continue
            self.places.note(path, operation, seq, base=self.places.within(use.directory))
            if operation in MUTATIONS:
                self._collector.add(
                    "action", what, what, seq, source="call", about="file", outcome=status, outcome_seq=seen_at, numbered=True
                )
            if answered:
                self.errors.close_origin(f"{use.name} {path}", seen_at, what)
            if answered and operation in _REPAIRS:
                self.errors.close_path(plain, seen_at, what)

    def _other(self, use: ToolUse, status: str, text: str, seq: int, seen_at: int, *, answered: bool) -> None:
        for operation, given in use.operations:
            self.places.note(given, operation, seq, base=self.places.within(use.directory))
        what = redact(one_line(f"{use.name} {use.subject}".strip(), _SHORT))
        about = "look" if use.looks else "tool"
        outcome = outcome_of(status, redact(result_line(text)) if text else "") if answered else ""
        self._collector.add(
            "action", what, what, seq, source="call", about=about, outcome=outcome, outcome_seq=seen_at, numbered=True
        )
        # What a log says happened is what is looked for in it.
        shows_events = use.looks and _SHOWS_EVENTS.search(use.name) is not None
        severe = severe_lines(text) if shows_events else []
        if is_failure(status) or (shows_events and looks_failed(text)):
            for message in error_messages(text):
                self.errors.note(message, what, seen_at)
        elif severe:
            self.errors.note(redact("\n".join(severe)), what, seen_at)
        elif answered:
            self.errors.close_origin(what, seen_at, what)

    def _ask(self, use: ToolUse, text: str, seq: int, seen_at: int) -> None:
        for question in use.questions:
            answer = redact(one_line(text, 300))
            fact = self._collector.add(
                "question", redact(question), redact(question), seq, source="assistant", outcome=answer, outcome_seq=seen_at
            )
            if answer:
                self._collector.close(fact, seen_at)

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
            self.places.directory = redact(directory[1].strip())
            self._state("directory", directory[1].strip(), seq)
        if not git:
            return
        if (branch := _BRANCH.search(text[:2_000])) is not None:
            self._state("branch", branch[1], seq)
        if (commit := _COMMIT.search(text[:6_000])) is not None:
            self._state("branch", commit[1], seq)
            self._state("commit", f"{commit[2]} {commit[3]}", seq)


def _shown(command: str) -> str:
    more = len(command) - MAX_COMMAND
    return command if more <= 0 else f"{command[:MAX_COMMAND]}… [{more:,} more characters]"
