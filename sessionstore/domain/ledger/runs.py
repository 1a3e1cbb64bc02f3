"""Runs of one program told alike whatever their flags, so that a later success is known to cover an earlier failure.

A success covers a failure when it ran at least what failed: the same file, a directory that holds it, or everything. What is
not understood counts against it, since a failure that is told as resolved is looked for by nobody.
"""
from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sessionstore.domain.ledger.shell_lines import gone_to, is_harmless, is_test_run
from sessionstore.domain.ledger.shell_words import looks_like_path, simple_commands, without_heredoc, without_wrappers

_SCANNED: Final = 4_000
_MERGED: Final = re.compile(r"\d?>&\d|&>")
_FORGIVEN: Final = re.compile(r"\|\|\s*(?:true|:|echo)(?!\S)")
"""What makes a command end well whatever happens."""
_PYTHON: Final = re.compile(r"py(?:thon)?\d?(?:\.\d+)?$")
_MANAGERS: Final = frozenset({"npm", "pnpm", "yarn", "bun"})
_NESTING: Final = frozenset({"ssh", "docker", "podman", "kubectl", "su", "eval", "xargs", "nsenter", "chroot", "find"})
"""Programs that run another one, which is what failed or not."""
_SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash", "fish"})
_RUNNERS: Final = frozenset({"pytest", "unittest", "jest", "vitest", "mocha", "tox", "nox", "rspec", "phpunit", "ctest"})
_CHECKERS: Final = frozenset(
    {"mypy", "eslint", "tsc", "flake8", "pylint", "pyright", "black", "prettier", "stylelint", "shellcheck", "pyflakes"}
)
_CHECKERS_WITH_VERB: Final = frozenset({"ruff check", "ruff format", "biome check", "biome lint", "cargo clippy"})
_CHOOSING: Final = frozenset(
    {"-k", "-m", "-t", "-g", "-run", "--run", "--grep", "--filter", "--tests", "--deselect", "--ignore", "--exclude", "--skip",
     "--testNamePattern", "--testPathPattern", "--test-name-pattern", "--select", "--only", "--project"}
)
"""Options that choose a part of what there is, by the value behind them."""
_CHOOSING_ALONE: Final = frozenset(
    {"--lf", "--last-failed", "--sw", "--stepwise", "--onlyChanged", "--changed", "--short", "-short"}
)
_PARTS: Final = frozenset({"--package", "--test", "--bin", "--example", "-e"})
"""Options that name what is run; several of them run several."""
_VALUED: Final = frozenset(
    {"-n", "--maxfail", "--tb", "-p", "-W", "-o", "-c", "-j", "--timeout", "--color", "--durations", "--reporter", "--workers",
     "--jobs", "--cov", "--cov-report", "--rootdir", "--config", "--config-file", "--log-level"}
)
"""Options whose value says how it is run, not what."""
_BUILDERS: Final = frozenset({"make", "ninja", "gradle", "gradlew", "mvn", "just"})
"""Programs that build everything when they are told nothing."""
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
    ``directory`` is where, empty when it is not said.
    """

    program: str
    directory: str
    targets: tuple[str, ...] = ()
    chosen: frozenset[str] = frozenset()
    checks: bool = False

    def covers(self, failed: Run, error: str) -> bool:
        """Whether the success of this run says that what ``failed`` ended with (``error``) is no more."""
        if self.program != failed.program or not _may_be_one(self.directory, failed.directory):
            return False
        if not self.checks:
            has_verb, verb = " " in self.program, self.program.rpartition(" ")[2]
            runs_all = has_verb and not self.targets and verb not in _INSTALLING
            return runs_all or set(self.targets) == set(failed.targets)
        named = _named_in(error)
        if not self.chosen <= failed.chosen and not _chooses(self.chosen, named):
            return False
        suffering = named or failed.targets
        return not self.targets or (bool(suffering) and all(self._includes(one) for one in suffering))

    def _includes(self, one: str) -> bool:
        return any(_is_within(one, target, self.directory) for target in self.targets)


def is_retry(newer: str, older: str) -> bool:
    """Whether a script written into a command line is an earlier one with something put right: most of its words are the same.

    Only for commands that nothing more is known of; two short ones are alike by chance.
    """
    words, before = frozenset(_WORD.findall(newer[:_SCANNED])), frozenset(_WORD.findall(older[:_SCANNED]))
    return min(len(words), len(before)) >= _LEAST_WORDS and len(words & before) >= _MOSTLY * len(words | before)


def runs_of(command: str, *, base: str = "") -> tuple[Run, ...]:
    """The runs that a command line's end depends on: its tests, else all that changes something; none that isn't understood.

    ``base`` is the directory in which it begins, empty when that is not known.
    """
    text = _MERGED.sub(" ", command[:_SCANNED])
    lines = without_heredoc(text)
    here: str | None = base
    tests: list[Run] = []
    others: list[Run | None] = []
    for words in simple_commands(lines):
        plain = without_wrappers(list(_without_redirections(words)))
        program = posixpath.basename(plain[0]) if plain else ""
        if program == "cd":
            here = gone_to(plain[-1] if len(plain) > 1 else "", here)
        elif plain and not is_harmless(program) and program not in ("tee", "mkdir", "set", "export", "source", "."):
            run = None if here is None or any("(" in word for word in plain[:1]) else _run(plain, here, piped=lines != text)
            if is_test_run(" ".join(plain)):
                tests.extend([run] if run else [])
            else:
                others.append(run)
    found = tests or ([] if _FORGIVEN.search(lines) else others)
    return tuple(run for run in found if run is not None) if None not in found else ()


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
        things = tuple(word.removeprefix("./") for word in rest if _is_thing(word) or (wants and not word.startswith("-")))
        # What a program is told in a here document is what it does.
        return None if piped or not (things or has_verb or " " in name or name in _BUILDERS) else Run(name, here, things)
    targets, chosen = _choice(rest, packages=name.startswith("cargo"))
    return Run(name, here, targets, chosen, checks=True)


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


def _choice(rest: Sequence[str], *, packages: bool) -> tuple[tuple[str, ...], frozenset[str]]:
    """What a check is run on, and by which options only a part of it."""
    targets: list[str] = []
    chosen: set[str] = set()
    words = iter(rest)
    for word in words:
        option, equals, value = word.partition("=")
        if not word.startswith("-"):
            target = word.removeprefix("./").removesuffix("...").rstrip("/")
            targets.extend([target] if target not in ("", ".") and not target.isdigit() else [])
        elif option in _CHOOSING:
            chosen.add(f"{option} {value if equals else next(words, '')}")
        elif option in _CHOOSING_ALONE or option.startswith("-D"):
            chosen.add(word)
        elif option in _PARTS or (packages and option == "-p"):
            targets.append(f"{option} {value if equals else next(words, '')}")
        elif option in _VALUED and not equals:
            next(words, "")
    return tuple(targets), frozenset(chosen)


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
    return _VERB.fullmatch(word) is not None and not _is_thing(word)


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
