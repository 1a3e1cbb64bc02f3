"""What a shell command line does to files, as far as its text says so safely.

Only plain words are believed: variables, globs and substitutions are left alone. At most ``_SCANNED`` characters are read.
"""
from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from sessionstore.domain.ledger.shell_words import looks_like_path, simple_commands, without_heredoc, without_wrappers

_SCANNED: Final = 4_000
_PATCH_FILE: Final = re.compile(r"^\*\*\* (Update|Add|Delete) File: (.+?)\s*$|^\*\*\* Move to: (.+?)\s*$", re.MULTILINE)
_PATCH_OPERATIONS: Final = {"Update": "edited", "Add": "created", "Delete": "deleted"}
_KEYWORDS: Final = frozenset({"do", "then", "else", "if", "elif", "while", "until", "for", "case", "{", "!"})
_READERS: Final = frozenset({"cat", "head", "tail", "less", "more", "nl", "bat", "wc"})
_HARMLESS: Final = _READERS | frozenset(
    {"ls", "grep", "rg", "find", "pwd", "echo", "which", "tree", "stat", "file", "env", "printenv", "sort", "uniq", "cut",
     "awk", "true", "cd", "printf", "date", "whoami", "uname", "type", "fd", "jq", "diff", "du", "df", "ps", "id", "test", "tr",
     "sleep", "journalctl", "stern", "dmesg", "top", "free", "uptime", "lsof", "netstat", "ss", "ping", "dig",
     "nslookup", "host",
     "zgrep", "zcat", "column", "less", "hexdump", "strings", "md5sum", "sha256sum", "man", "history"}
)
_HARMLESS_VERBS: Final = frozenset(
    {"get", "describe", "logs", "top", "explain", "ps", "images", "inspect", "list", "ls", "show", "status", "view", "history",
     "version", "info", "search", "events", "diff", "tail"}
)
"""What only looks, said to a program that also does."""
_WITH_VERBS: Final = frozenset(
    {"kubectl", "docker", "podman", "helm", "gh", "aws", "gcloud", "az", "systemctl", "terraform", "npm", "pip", "brew", "apt",
     "oc", "argocd", "flyctl", "heroku", "vercel", "docker-compose"}
)
_HARMLESS_GIT: Final = frozenset(
    {"status", "log", "diff", "show", "branch", "remote", "rev-parse", "blame", "ls-files", "grep"}
)
_SEARCHERS: Final = frozenset({"grep", "rg", "diff", "test", "[", "find", "ls", "which", "cmp", "pgrep"})
_RUNNERS: Final = re.compile(
    r"\b(?:pytest|py\.test|unittest|vitest|jest|mocha|tox|nox|rspec|phpunit|ctest|nextest|playwright test)\b"
    r"|\b(?:npm|pnpm|yarn|bun|deno|cargo|go|make|mvn|gradle|gradlew|dotnet|swift|mix|bazel|zig build|just|task)"
    r"(?: (?:run|-\S+|--\S+ \S+))*? (?:test|tests|check|verify)\b"
)


@dataclass(frozen=True, slots=True)
class FileOperation:
    """What a command does to a file. ``directory`` is where ``cd`` led before: empty where none did, None where that is not
    known."""

    name: str
    path: str
    directory: str | None = ""


@dataclass(frozen=True, slots=True)
class ShellLine:
    """What a command line says: its file operations, programs, and what it changes of the state."""

    operations: tuple[FileOperation, ...] = ()
    programs: tuple[str, ...] = ()
    directory: str = ""
    branch: str = ""
    commits: bool = False
    harmless: bool = True
    tests: bool = False

    @property
    def one_is_no_failure(self) -> bool:
        """Whether exit status 1 only says that nothing was found or that things differ."""
        return bool(self.programs) and self.programs[-1] in _SEARCHERS


@dataclass(slots=True)
class _Reading:
    operations: list[FileOperation] = field(default_factory=list)
    programs: list[str] = field(default_factory=list)
    directory: str = ""
    branch: str = ""
    commits: bool = False
    harmless: bool = True
    here: str | None = ""

    def note(self, operation: str, *paths: str) -> None:
        self.operations.extend(FileOperation(operation, path, self.here) for path in paths)


def read_shell_line(command: str) -> ShellLine:
    """Read a command line; everything in it that is not understood is left out."""
    text = command[:_SCANNED]
    reading = _Reading()
    lines = without_heredoc(text)
    for words in simple_commands(lines):
        _read_words(words, reading)
    if reading.programs.count("cd") > 1:
        reading.here = None
    for operation, path in patched_files(command):
        reading.note(operation, path)
    return ShellLine(
        operations=tuple(dict.fromkeys(reading.operations)),
        programs=tuple(reading.programs),
        directory=reading.directory,
        branch=reading.branch,
        commits=reading.commits,
        harmless=reading.harmless and not any(done.name != "read" for done in reading.operations),
        tests=is_test_run(lines),
    )


def is_test_run(text: str) -> bool:
    """Whether a command line runs tests."""
    return _RUNNERS.search(text) is not None


def is_harmless(program: str) -> bool:
    """Whether a program only looks, whatever it is told."""
    return program in _HARMLESS


def patched_files(patch: str) -> list[tuple[str, str]]:
    """The (operation, path) pairs of a patch in the ``*** Update File: path`` form; empty for any other text."""
    if "*** " not in patch:
        return []
    return [
        (_PATCH_OPERATIONS[match[1]], match[2]) if match[1] else ("created", match[3]) for match in _PATCH_FILE.finditer(patch)
    ]


def gone_to(target: str, here: str | None) -> str | None:
    """Where ``cd target`` leads; None when that is not known."""
    if not target or "*" in target or "`" in target:
        return None
    if target.startswith(("/", "~")):
        return target
    return None if here is None else posixpath.normpath(posixpath.join(here, target))


def _read_words(words: list[str], reading: _Reading) -> None:
    plain = without_wrappers(_redirections(words, reading))
    if not plain:
        return
    program = plain[0].replace("\\", "/").rsplit("/", 1)[-1]
    arguments = plain[1:]
    if program in _KEYWORDS or any("(" in word for word in words):
        # What stands in a loop, a branch or a subshell is read word by word, but not followed from directory to directory.
        reading.here = None
    paths = [word for word in arguments if looks_like_path(word)]
    reading.programs.append(program)
    if program == "git":
        _read_git(arguments, reading)
        return
    if program == "cd":
        reading.directory = next((word for word in arguments if not word.startswith("-") and "$" not in word), "")
        reading.here = gone_to(reading.directory, reading.here)
    elif program in {"pushd", "popd"}:
        reading.here = None
    elif program == "sed" and not any(word.startswith(("-i", "--in-place")) for word in arguments):
        reading.note("read", *paths[-1:])
    elif program in _READERS:
        reading.note("read", *paths)
    else:
        _read_change(program, paths, reading)
        verbs = [word for word in arguments if not word.startswith("-")][:2] if program in _WITH_VERBS else []
        reading.harmless = reading.harmless and (program in _HARMLESS or any(verb in _HARMLESS_VERBS for verb in verbs))


def _read_change(program: str, paths: Sequence[str], reading: _Reading) -> None:
    if program == "sed" and paths:
        reading.note("edited", paths[-1])
    elif program in {"rm", "unlink"}:
        reading.note("deleted", *paths)
    elif program == "mv" and len(paths) == 2:
        reading.note("moved away", paths[0])
        reading.note("created", paths[1])
    elif program == "cp" and len(paths) == 2:
        reading.note("written", paths[1])
    elif program == "touch":
        reading.note("created", *paths)
    elif program == "tee":
        reading.note("written", *paths)


def _redirections(words: list[str], reading: _Reading) -> list[str]:
    plain: list[str] = []
    skip = False
    for position, word in enumerate(words):
        if skip:
            skip = False
        elif word.lstrip("012") in {">", ">>"}:
            target = words[position + 1] if position + 1 < len(words) else ""
            skip = True
            if looks_like_path(target):
                reading.note("written", target)
        else:
            plain.append(word)
    return plain


def _read_git(arguments: Sequence[str], reading: _Reading) -> None:
    words, here = list(arguments), reading.here
    while len(words) > 1 and words[0] in {"-C", "-c"}:
        reading.here = None if words[0] == "-C" else reading.here
        words = words[2:]
    if words:
        _read_git_verb(words[0], words[1:], reading)
    reading.here = here


def _read_git_verb(verb: str, rest: Sequence[str], reading: _Reading) -> None:
    paths = [word for word in rest if looks_like_path(word)]
    reading.harmless = reading.harmless and verb in _HARMLESS_GIT
    if verb == "commit":
        reading.commits = True
    elif verb == "rm":
        reading.note("deleted", *paths)
    elif verb == "mv" and len(paths) == 2:
        reading.note("moved away", paths[0])
        reading.note("created", paths[1])
    elif verb in {"checkout", "switch"} and len(rest) > 1 and rest[0] in {"-b", "-B", "-c", "-C"}:
        reading.branch = rest[1]
    elif verb == "switch" and len(rest) == 1 and not rest[0].startswith("-"):
        reading.branch = rest[0]
