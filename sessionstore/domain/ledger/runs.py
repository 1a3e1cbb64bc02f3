"""Runs of one program told alike whatever their flags, so that a later success is known to cover an earlier failure.

A success covers a failure when it ran at least what failed: the same file, a directory that holds it, or everything; and when
the line's end tells the run's own. What is not understood counts against it, since a failure that is told as resolved is looked
for by nobody.
"""
from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from sessionstore.domain.ledger.run_options import choice_of_check, choice_of_deed, excuses_failure, runs_nothing
from sessionstore.domain.ledger.shell_lines import gone_to, is_harmless, is_test_run
from sessionstore.domain.ledger.shell_words import ended_commands, looks_like_path, without_heredoc, without_wrappers

_SCANNED: Final = 4_000
_MERGED: Final = re.compile(r"\d?>&\d|&(?=>)")
_PYTHON: Final = re.compile(r"py(?:thon)?\d?(?:\.\d+)?$")
_MANAGERS: Final = frozenset({"npm", "pnpm", "yarn", "bun"})
_NESTING: Final = frozenset({"ssh", "docker", "podman", "kubectl", "su", "eval", "xargs", "nsenter", "chroot", "find"})
"""Programs that run another one, which is what failed or not."""
_STRICT: Final = {"pipefail": re.compile(r"pipefail"), "errexit": re.compile(r"(?:^|\s)-[a-z]*e|errexit")}
"""What a shell is set to, for a failure to be told in spite of what comes behind it."""
_SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash", "fish"})
_RUNNERS: Final = frozenset({"pytest", "unittest", "jest", "vitest", "mocha", "tox", "nox", "rspec", "phpunit", "ctest"})
_CHECKERS: Final = frozenset(
    {"mypy", "eslint", "tsc", "flake8", "pylint", "pyright", "black", "prettier", "stylelint", "shellcheck", "pyflakes"}
)
_CHECKERS_WITH_VERB: Final = frozenset({"ruff check", "ruff format", "biome check", "biome lint", "cargo clippy"})
_BUILDERS: Final = frozenset({"make", "ninja", "gradle", "gradlew", "mvn", "just"})
"""Programs that build everything when they are told nothing."""
_RUN_WHOLE: Final = frozenset(
    {"cargo", "npm", "pnpm", "yarn", "bun", "git", "terraform", "docker-compose", "dotnet", "swift", "mix"}
)
"""Programs whose verbs do all there is to do when they are told nothing more."""
_INSTALLING: Final = frozenset({"install", "add", "i", "get", "download", "pull", "clone"})
"""Verbs behind which plain words name what is wanted."""
_WORD: Final = re.compile(r"[\w./-]+")
_LEAST_WORDS: Final = 12
_MOSTLY: Final = 0.8
_VERB: Final = re.compile(r"[\w:.-]{1,40}")
_NAMED_TEST: Final = re.compile(r"(?:FAILED|ERROR) (\S+)")
_NAMED_PLACE: Final = re.compile(r"([\w@~+./-]{1,300}\.\w{1,5})[:(]\d")


@dataclass(frozen=True, slots=True)
class Run:
    """A program that was run: with its verb as ``program``, what it was run on, and what chose a part of that.

    ``checks`` is true of tests, linters and type checkers, which say of everything they are run on whether it is well.
    ``directory`` is where, empty when it is not said. ``idle`` is one that only told of itself or of what it would do; one that
    ``tells`` has its own end shown by that of the command line.
    """

    program: str
    directory: str
    targets: tuple[str, ...] = ()
    chosen: frozenset[str] = frozenset()
    checks: bool = False
    idle: bool = False
    tells: bool = True

    def covers(self, failed: Run, error: str) -> bool:
        """Whether the success of this run says that what ``failed`` ended with (``error``) is no more."""
        if self.program != failed.program or not _may_be_one(self.directory, failed.directory):
            return False
        if not self.checks:
            return self._does_again(failed)
        named = _named_in(error)
        if not self.chosen <= failed.chosen and not _chooses(self.chosen, named):
            return False
        suffering = named or failed.targets
        return not self.targets or (bool(suffering) and all(self._includes(one) for one in suffering))

    def _does_again(self, failed: Run) -> bool:
        name, _, verb = self.program.partition(" ")
        if verb and not self.targets and name in _RUN_WHOLE and verb not in _INSTALLING:
            return True
        if self.program == "git push" and not failed.targets and self.chosen & {"-u", "--set-upstream"}:
            # What a bare push may have failed for is that nobody had said where to.
            return True
        # A script's short options mostly say how; a long one may be what it is to do.
        is_told = bool(verb) or name in _BUILDERS or {one for one in failed.chosen if one.startswith("--")} <= self.chosen
        return is_told and set(self.targets) == set(failed.targets)

    def _includes(self, one: str) -> bool:
        return any(_is_within(one, target, self.directory) for target in self.targets)


def is_retry(newer: str, older: str) -> bool:
    """Whether a script written into a command line is an earlier one with something put right: most of its words are the same.

    Only for commands that nothing more is known of; two short ones are alike by chance.
    """
    words, before = frozenset(_WORD.findall(newer[:_SCANNED])), frozenset(_WORD.findall(older[:_SCANNED]))
    if runs_nothing("", tuple(words - before)):
        return False
    return min(len(words), len(before)) >= _LEAST_WORDS and len(words & before) >= _MOSTLY * len(words | before)


def runs_of(command: str, *, base: str = "") -> tuple[Run, ...]:
    """The runs that a command line's end depends on: its tests, else all that changes something; none that isn't understood.

    ``base`` is the directory in which it begins, empty when that is not known.
    """
    text = _MERGED.sub(" ", command[:_SCANNED])
    lines = without_heredoc(text)
    commands = list(ended_commands(lines))
    here: str | None = base
    strict: frozenset[str] = frozenset()
    tests: list[Run] = []
    others: list[Run | None] = []
    for place, (words, _end) in enumerate(commands):
        plain = without_wrappers(list(_without_redirections(words)))
        program = posixpath.basename(plain[0]) if plain else ""
        if program == "cd":
            here = gone_to(plain[-1] if len(plain) > 1 else "", here)
        elif program == "set":
            strict |= {sign for sign, said in _STRICT.items() if said.search(" ".join(plain[1:]))}
        elif plain and not is_harmless(program) and program not in ("tee", "mkdir", "export", "source", "."):
            run = None if here is None or any("(" in word for word in plain[:1]) else _run(plain, here, piped=lines != text)
            if run and not _tells(commands, place, strict):
                run = replace(run, tells=False)
            if is_test_run(" ".join(plain)):
                tests.extend([run] if run else [])
            else:
                others.append(run)
    found = tests or others
    return tuple(run for run in found if run is not None) if None not in found else ()


def _tells(commands: Sequence[tuple[list[str], str]], place: int, strict: frozenset[str]) -> bool:
    """Whether the command at this place was run for certain, and its failure would have been that of the whole line."""
    if place and commands[place - 1][1] == "||":
        return False
    is_own_pipe = True
    for number in range(place, len(commands)):
        end = commands[number][1]
        following = commands[number + 1][0] if number + 1 < len(commands) else []
        if end == "&" or (end == "|" and is_own_pipe and "pipefail" not in strict):
            return False
        if end == "||":
            return following[:1] in (["exit"], ["return"]) and following[1:] != ["0"]
        if end in (";", "\n"):
            return not following or "errexit" in strict
        is_own_pipe = is_own_pipe and end == "|"
    return True


def _run(plain: Sequence[str], here: str, *, piped: bool) -> Run | None:
    name, rest = _named(plain)
    if name in _NESTING or (name in _SHELLS and any(word.startswith("-") and "c" in word for word in rest)):
        return None
    plain_words = [word for word in rest if not word.startswith("-")]
    has_verb = name not in _RUNNERS | _CHECKERS and " " not in name and plain_words and _is_verb(plain_words[0])
    if has_verb:
        name, rest = f"{name} {plain_words[0]}", _without(rest, plain_words[0])
    checks = name in _RUNNERS | _CHECKERS | _CHECKERS_WITH_VERB or is_test_run(name)
    if not checks:
        wants = name.rpartition(" ")[2] in _INSTALLING
        is_known = has_verb or " " in name or name in _BUILDERS or any(_is_thing(word) or (wants and word) for word in rest)
        # What a program is told in a here document is what it does.
        if piped or not is_known:
            return None
    targets, chosen = (choice_of_check if checks else choice_of_deed)(rest, program=name)
    idle, tells = runs_nothing(name, rest), not excuses_failure(rest)
    return Run(name, here, targets, chosen, checks, idle, tells)


def _named(plain: Sequence[str]) -> tuple[str, list[str]]:
    """The program that is run in the end, and what it is told."""
    name, rest = posixpath.basename(plain[0]), list(plain[1:])
    if _PYTHON.match(name) and rest[:1] == ["-m"] and len(rest) > 1:
        name, rest = rest[1], rest[2:]
    elif name in _MANAGERS:
        while rest and (rest[0].startswith("-") or rest[0] in ("run", "exec", "x", "dlx")):
            rest = rest[1:]
        script = rest[0] if rest else ""
        name = script if script in _RUNNERS | _CHECKERS else f"{name} {script}"
        rest = [word for word in rest[1:] if word != "--"]
    return "pytest" if name == "py.test" else name, rest


def _named_in(error: str) -> tuple[str, ...]:
    """The tests or files that every line of an error names."""
    lines = error.splitlines()
    for pattern in (_NAMED_TEST, _NAMED_PLACE):
        found = [match[1] for line in lines if (match := pattern.match(line))]
        if found and len(found) == len(lines):
            return tuple(found)
    return ()


def _chooses(chosen: frozenset[str], named: Sequence[str]) -> bool:
    """Whether one option chooses the very tests that are named."""
    names = {test.rpartition("::")[2].partition("[")[0] for test in named}
    return len(chosen) == 1 and len(names) == 1 and next(iter(chosen)).partition(" ")[2] in names


def _is_within(one: str, target: str, directory: str) -> bool:
    (path, _, node), (place, _, part) = one.partition("::"), target.partition("::")
    path, place = path.removeprefix("./"), place.removeprefix("./")
    if path.startswith("/") and not place.startswith("/") and directory.startswith("/"):
        place = posixpath.join(directory, place)
    elif place.startswith("/") and not path.startswith("/") and directory.startswith("/"):
        path = posixpath.join(directory, path)
    if path != place:
        return not part and path.startswith(f"{place}/")
    return not part or node == part or node.startswith((f"{part}::", f"{part}["))


def _may_be_one(newer: str, older: str) -> bool:
    """Whether two runs may have been in one directory: what nobody said may be anywhere, but not below itself."""
    if newer == older:
        return True
    return (not newer and older.startswith(("/", "~"))) or (not older and newer.startswith(("/", "~")))


def _is_thing(word: str) -> bool:
    return looks_like_path(word) or "://" in word


def _is_verb(word: str) -> bool:
    return _VERB.fullmatch(word) is not None and not word.isdigit() and not _is_thing(word)


def _without(words: Sequence[str], word: str) -> list[str]:
    place = list(words).index(word)
    return [*words[:place], *words[place + 1:]]


def _without_redirections(words: Sequence[str]) -> Iterator[str]:
    skip = False
    for word in words:
        if skip or word == "<":
            skip = not skip and word == "<"
        elif word.lstrip("012") in (">", ">>"):
            skip = True
        else:
            yield word
