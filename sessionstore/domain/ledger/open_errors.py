"""The errors that are open, and what closes them: a success of the same call, one that covers it, or somebody who says so."""
from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from sessionstore.domain.ledger.collector import FactCollector
from sessionstore.domain.ledger.entry import LedgerEntry, Source
from sessionstore.domain.ledger.languages import FIXING, UNFIXED
from sessionstore.domain.ledger.result_facts import ran_no_tests, says_passed
from sessionstore.domain.ledger.runs import Run, is_retry, runs_of
from sessionstore.domain.ledger.shell_lines import ShellLine

_OUTCOME: Final = 120
_ORIGIN: Final = 80
_NAME: Final = re.compile(r"[A-Za-z_][\w.]*(?:::\w+)*|\d[\w-]*")
_PLAIN: Final = frozenset({"Error", "Exception", "Traceback", "AssertionError", "FAILED", "ERROR"})
"""Names that no error can be told by."""
_LEAST_NAME: Final = 5
_RETRIES_COMPARED: Final = 16
"""Failures that a command nothing more is known of may be a retry of, the newest of them."""
_MOST: Final = 64
"""Open errors under one name that are looked at together, the newest of them: older ones only when all of these are closed.
Without a limit a conversation in which nothing is ever mended costs the square of its length."""
_UNKNOWN: Final = ""
"""What stands for the program of commands that are only known word by word."""


@dataclass(frozen=True, slots=True)
class _Failure:
    key: str
    command: str
    runs: tuple[Run, ...]


class OpenErrors:
    """Errors by what may close them, so that a success looks only at those it might have to do with."""

    def __init__(self, collector: FactCollector) -> None:
        self._collector = collector
        self._by_origin: dict[str, dict[str, _Failure]] = {}
        self._by_program: dict[str, dict[str, _Failure]] = {}
        self._by_path: dict[str, dict[str, _Failure]] = {}
        self._by_name: dict[str, dict[str, _Failure]] = {}
        commands = {error_origin(command.text): command.text for command in collector.of_kind("command")}
        for error in collector.of_kind("error"):
            if error.closed_by is None:
                tool, _, rest = error.about.partition(" ")
                told = "" if tool.startswith("`") else rest
                self._index(error, commands.get(error.about, ""), path=told.removeprefix("./"))

    def note(
        self, message: str, about: str, seq: int, *, source: Source = "output", command: str = "", base: str = "",
        path: str = "",
    ) -> None:
        """Note an error; one that was closed before ``seq`` is open again. ``path`` is the file that a tool failed at."""
        error = self._collector.add("error", message, message, seq, source=source, about=about)
        if error.about == about:
            self._index(error, command, base=base, path=path)
        self._reopen(error, seq)

    def seen_again(self, message: str, seq: int) -> None:
        """Open an error that is known and was closed before ``seq``; of one that isn't known nothing is noted."""
        error = self._collector.get("error", message)
        if error is not None:
            self._reopen(error, seq)

    def close_run(self, command: str, text: str, seq: int, *, line: ShellLine, base: str = "") -> None:
        """Close the errors of the same command, and those of runs that this one covers; ``text`` is what it printed."""
        outcome = one_line(command, _OUTCOME)
        runs = runs_of(command, base=base)
        passed = says_passed(text)
        if line.tests and not passed and (ran_no_tests(text) or (runs and not any(run.tells for run in runs))):
            return
        for error, failure in self._open(self._by_origin, error_origin(command), seq):
            if failure.command in ("", command):
                self._collector.close(error, seq, outcome)
        if not runs:
            newest = self._open(self._by_program, _UNKNOWN, seq, most=_RETRIES_COMPARED)
            retried = next((error for error, failure in newest if is_retry(command, failure.command)), None)
            if retried is not None:
                self._collector.close(retried, seq, outcome)
        untold = sum(not run.tells for run in runs)
        for run in () if line.harmless else runs:
            # What an output says of one run, it says of no other.
            if not run.idle and (run.tells or (passed and untold == 1)):
                self._close_covered(run, seq, outcome)

    def _close_covered(self, run: Run, seq: int, outcome: str) -> None:
        while known := self._open(self._by_program, run.program, seq):
            covered = [error for error, failure in known if all(run.covers(failed, error.text) for failed in failure.runs)]
            for error in covered:
                self._collector.close(error, seq, outcome)
            if len(covered) < len(known):
                return

    def close_origin(self, about: str, seq: int, outcome: str) -> None:
        """Close the errors that came from exactly this."""
        for error, _failure in self._open(self._by_origin, about, seq):
            self._collector.close(error, seq, outcome)

    def close_path(self, path: str, seq: int, outcome: str) -> None:
        """Close what a tool failed at with a file that was now changed, by whatever tool."""
        for error, _failure in self._open(self._by_path, path, seq):
            self._collector.close(error, seq, outcome)

    def close_said(self, sentence: str, seq: int) -> None:
        """Close the error that a sentence says is fixed, by a name that only one open error has."""
        if not says_fixed(sentence):
            return
        for name in names_in(sentence):
            meant = self._open(self._by_name, name, seq, most=2)
            # Of several that may be meant none is taken.
            if len(meant) == 1:
                self._collector.close(meant[0][0], seq, one_line(sentence, _OUTCOME))

    def _reopen(self, error: LedgerEntry, seq: int) -> None:
        self._collector.reopen(error, seq)
        if error.key not in self._by_origin.get(error.about, {}):
            self._index(error, "")

    def _index(self, error: LedgerEntry, command: str, *, base: str = "", path: str = "") -> None:
        of_command = error.about.startswith("`")
        text = command or (error.about.strip("`") if of_command and not error.about.endswith("…`") else "")
        failure = _Failure(error.key, command, runs_of(text, base=base) if text else ())
        self._by_origin.setdefault(error.about, {})[error.key] = failure
        if text and not failure.runs:
            self._by_program.setdefault(_UNKNOWN, {})[error.key] = _Failure(error.key, text, ())
        # Where several programs may have failed, no single one of them closes it.
        for run in failure.runs if len(failure.runs) == 1 else ():
            self._by_program.setdefault(run.program, {})[error.key] = failure
        if path:
            self._by_path.setdefault(path, {})[error.key] = failure
        for name in names_in(error.text):
            self._by_name.setdefault(name, {})[error.key] = failure

    def _open(
        self, index: dict[str, dict[str, _Failure]], name: str, seq: int, *, most: int = _MOST
    ) -> list[tuple[LedgerEntry, _Failure]]:
        """The newest errors under a name that are open and were seen before ``seq``; what is closed is taken out of it."""
        known = index.get(name, {})
        found: list[tuple[LedgerEntry, _Failure]] = []
        closed: list[str] = []
        for key in reversed(known):
            error = self._collector.get("error", key)
            if error is None or error.closed_by is not None:
                closed.append(key)
            elif error.last_seq < seq:
                found.append((error, known[key]))
                if len(found) == most:
                    break
        for key in closed:
            del known[key]
        return found


def says_fixed(sentence: str) -> bool:
    """Whether a sentence says for certain that something that failed fails no more."""
    return FIXING.is_in(sentence) and not UNFIXED.is_in(FIXING.taken_out_of(sentence))


def names_in(text: str) -> frozenset[str]:
    """The names of tests, functions, exceptions and codes of errors in a text; paths and plain words name too much."""
    found = {part for name in _NAME.findall(text) for part in name.replace("::", ".").split(".")}
    return frozenset(name for name in found if len(name) >= _LEAST_NAME and name not in _PLAIN and _is_name(name))


def error_origin(command: str) -> str:
    """What an error of a command is ``about``."""
    return f"`{one_line(command, _ORIGIN)}`"


def one_line(text: str, length: int) -> str:
    """The text on one line, cut to so many characters; of a long one only the beginning is looked at."""
    line = " ".join(text[: 4 * length].split())
    return line if len(line) <= length else f"{line[:length]}…"


def _is_name(word: str) -> bool:
    has_letter, has_digit = any(map(str.isalpha, word)), any(map(str.isdigit, word))
    has_hump = any(map(str.isupper, word[1:])) and not word.isupper()
    return "_" in word.strip("_") or (has_letter and has_digit) or has_hump
