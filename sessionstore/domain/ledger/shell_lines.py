"""What a shell command line does to files, as far as its text says so safely.

Only plain words are believed: variables, globs and substitutions are left alone. At most ``_SCANNED`` characters are read.
"""
from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

_SCANNED: Final = 4_000
_PROGRAM: Final = re.compile(r"^(?:cd \S+ ?(?:&&|;) ?)?(?:\w+=\S+ )*(\S+(?: \S+)?)")
_HEREDOC: Final = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")
_TOKEN: Final = re.compile(r"""&&|\|\||[;|\n]|\d?>>?(?!&)|"[^"\n]{0,400}"|'[^'\n]{0,400}'|(?:\\.|[^\s;|&<>"'])+|[&<>"']""")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=")
_PATH: Final = re.compile(r"[\w@~.+:\\/-]{1,300}")
_EXTENSION: Final = re.compile(r"\.[A-Za-z]\w{0,9}$|^\.\w+$")
_PATCH_FILE: Final = re.compile(r"^\*\*\* (Update|Add|Delete) File: (.+?)\s*$|^\*\*\* Move to: (.+?)\s*$", re.MULTILINE)
_PATCH_OPERATIONS: Final = {"Update": "edited", "Add": "created", "Delete": "deleted"}
_SEPARATORS: Final = frozenset({"&&", "||", ";", "|", "\n", "&"})
_PREFIXES: Final = frozenset({"sudo", "time", "nohup", "env", "exec", "command", "xargs", "npx", "bunx"})
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
class ShellLine:
    """What a command line says: its file operations as (operation, path), programs, and what it changes of the state."""

    operations: tuple[tuple[str, str], ...] = ()
    programs: tuple[str, ...] = ()
    directory: str = ""
    branch: str = ""
    commits: bool = False
    harmless: bool = True
    tests: bool = False
    targets: frozenset[str] = frozenset()

    @property
    def one_is_no_failure(self) -> bool:
        """Whether exit status 1 only says that nothing was found or that things differ."""
        return bool(self.programs) and self.programs[-1] in _SEARCHERS


@dataclass(slots=True)
class _Reading:
    operations: list[tuple[str, str]] = field(default_factory=list)
    programs: list[str] = field(default_factory=list)
    directory: str = ""
    branch: str = ""
    commits: bool = False
    harmless: bool = True
    targets: set[str] = field(default_factory=set)


def read_shell_line(command: str) -> ShellLine:
    """Read a command line; everything in it that is not understood is left out."""
    text = command[:_SCANNED]
    reading = _Reading()
    reading.operations.extend(patched_files(command))
    heredoc = _HEREDOC.search(text)
    lines = text if heredoc is None else _without_heredoc(text, heredoc)
    for words in _simple_commands(lines):
        _read_words(words, reading)
    return ShellLine(
        operations=tuple(dict.fromkeys(reading.operations)),
        programs=tuple(reading.programs),
        directory=reading.directory,
        branch=reading.branch,
        commits=reading.commits,
        harmless=reading.harmless and not any(name != "read" for name, _path in reading.operations),
        tests=_RUNNERS.search(lines) is not None,
        targets=frozenset(reading.targets),
    )


def patched_files(patch: str) -> list[tuple[str, str]]:
    """The (operation, path) pairs of a patch in the ``*** Update File: path`` form; empty for any other text."""
    if "*** " not in patch:
        return []
    return [
        (_PATCH_OPERATIONS[match[1]], match[2]) if match[1] else ("created", match[3]) for match in _PATCH_FILE.finditer(patch)
    ]


def looks_like_path(word: str) -> bool:
    """Whether a word can be believed to name a file: plain characters, and a slash or an extension."""
    if not _PATH.fullmatch(word) or word.startswith(("-", "/dev/")) or "://" in word:
        return False
    return ("/" in word and len(word) > 1) or "\\" in word or _EXTENSION.search(word) is not None


def program_of(command: str) -> str:
    """The program of a command line with its first argument, without a change of directory and assignments before it."""
    match = _PROGRAM.match(command)
    return match[1] if match else command


def looks_like_file(text: str) -> bool:
    """Whether an argument that is a path by its name is one by its looks: no address, and an extension at its end."""
    return "://" not in text and "\n" not in text and len(text) <= 300 and _EXTENSION.search(text) is not None


def _without_heredoc(text: str, opening: re.Match[str]) -> str:
    end_of_line = text.find("\n", opening.end())
    if end_of_line < 0:
        return text
    closing = re.compile(rf"^\s*{re.escape(opening[1])}\s*$", re.MULTILINE).search(text, end_of_line)
    return text[:end_of_line] + (text[closing.end():] if closing else "")


def _simple_commands(text: str) -> Iterator[list[str]]:
    words: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in _SEPARATORS:
            if words:
                yield words
            words = []
        else:
            words.append(token[1:-1] if len(token) > 1 and token[0] == token[-1] and token[0] in "\"'" else token)
    if words:
        yield words


def _read_words(words: list[str], reading: _Reading) -> None:
    plain = _redirections(words, reading)
    while plain and (_ASSIGNMENT.match(plain[0]) or plain[0] in _PREFIXES):
        plain = plain[1:]
    if len(plain) > 2 and plain[0] in {"uv", "poetry", "pipenv", "rye", "hatch"} and plain[1] == "run":
        plain = plain[2:]
    if len(plain) > 2 and plain[0] == "timeout":
        plain = plain[2:]
    if not plain:
        return
    program = plain[0].replace("\\", "/").rsplit("/", 1)[-1]
    arguments = plain[1:]
    paths = [word for word in arguments if looks_like_path(word)]
    reading.programs.append(program)
    reading.targets.update(paths)
    if program == "git":
        _read_git(arguments, reading)
        return
    if program == "cd":
        reading.directory = next((word for word in arguments if not word.startswith("-") and "$" not in word), "")
    elif program == "sed" and not any(word.startswith(("-i", "--in-place")) for word in arguments):
        reading.operations.extend(("read", path) for path in paths[-1:])
    elif program in _READERS:
        reading.operations.extend(("read", path) for path in paths)
    else:
        _read_change(program, paths, reading)
        verbs = [word for word in arguments if not word.startswith("-")][:2] if program in _WITH_VERBS else []
        reading.harmless = reading.harmless and (program in _HARMLESS or any(verb in _HARMLESS_VERBS for verb in verbs))


def _read_change(program: str, paths: Sequence[str], reading: _Reading) -> None:
    if program == "sed" and paths:
        reading.operations.append(("edited", paths[-1]))
    elif program in {"rm", "unlink"}:
        reading.operations.extend(("deleted", path) for path in paths)
    elif program == "mv" and len(paths) == 2:
        reading.operations.extend((("moved away", paths[0]), ("created", paths[1])))
    elif program == "cp" and len(paths) == 2:
        reading.operations.append(("written", paths[1]))
    elif program == "touch":
        reading.operations.extend(("created", path) for path in paths)
    elif program == "tee":
        reading.operations.extend(("written", path) for path in paths)


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
                reading.operations.append(("written", target))
        else:
            plain.append(word)
    return plain


def _read_git(arguments: Sequence[str], reading: _Reading) -> None:
    words = list(arguments)
    while len(words) > 1 and words[0] in {"-C", "-c"}:
        words = words[2:]
    if not words:
        return
    verb, rest = words[0], words[1:]
    paths = [word for word in rest if looks_like_path(word)]
    reading.harmless = reading.harmless and verb in _HARMLESS_GIT
    if verb == "commit":
        reading.commits = True
    elif verb == "rm":
        reading.operations.extend(("deleted", path) for path in paths)
    elif verb == "mv" and len(paths) == 2:
        reading.operations.extend((("moved away", paths[0]), ("created", paths[1])))
    elif verb in {"checkout", "switch"} and len(rest) > 1 and rest[0] in {"-b", "-B", "-c", "-C"}:
        reading.branch = rest[1]
    elif verb == "switch" and len(rest) == 1 and not rest[0].startswith("-"):
        reading.branch = rest[0]
