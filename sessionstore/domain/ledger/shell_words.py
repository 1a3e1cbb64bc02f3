"""A shell command line cut into commands and words, without what only says how a command is run."""
from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_HEREDOC: Final = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")
_TOKEN: Final = re.compile(r"""&&|\|\||[;|\n]|\d?>>?(?!&)|"[^"\n]{0,400}"|'[^'\n]{0,400}'|(?:\\.|[^\s;|&<>"'])+|[&<>"']""")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=")
_PATH: Final = re.compile(r"[\w@~.+:\\/-]{1,300}")
_EXTENSION: Final = re.compile(r"\.[A-Za-z]\w{0,9}$|^\.\w+$")
_SEPARATORS: Final = frozenset({"&&", "||", ";", "|", "\n", "&"})
_PREFIXES: Final = frozenset({"sudo", "time", "nohup", "env", "exec", "command", "xargs", "npx", "bunx"})


def simple_commands(text: str) -> Iterator[list[str]]:
    """The words of each command of a command line, without quotation marks around them."""
    for words, _end in ended_commands(text):
        yield words


def ended_commands(text: str) -> Iterator[tuple[list[str], str]]:
    """The words of each command of a command line, and what stands between it and the next: ``&&``, ``|`` and their like."""
    words: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in _SEPARATORS:
            if words:
                yield words, token
            words = []
        else:
            words.append(token[1:-1] if len(token) > 1 and token[0] == token[-1] and token[0] in "\"'" else token)
    if words:
        yield words, ""


def without_heredoc(text: str) -> str:
    """A command line without what stands between the words of a here document."""
    opening = _HEREDOC.search(text)
    end_of_line = -1 if opening is None else text.find("\n", opening.end())
    if opening is None or end_of_line < 0:
        return text
    closing = re.compile(rf"^\s*{re.escape(opening[1])}\s*$", re.MULTILINE).search(text, end_of_line)
    return text[:end_of_line] + (text[closing.end():] if closing else "")


def without_wrappers(words: list[str]) -> list[str]:
    """A command without the assignments and programs before it that only say how it is run."""
    plain = words
    while plain and (_ASSIGNMENT.match(plain[0]) or plain[0] in _PREFIXES):
        plain = plain[1:]
    if len(plain) > 2 and plain[0] in {"uv", "poetry", "pipenv", "rye", "hatch"} and plain[1] == "run":
        plain = plain[2:]
    return plain[2:] if len(plain) > 2 and plain[0] == "timeout" else plain


def looks_like_path(word: str) -> bool:
    """Whether a word can be believed to name a file: plain characters, and a slash or an extension."""
    if not _PATH.fullmatch(word) or word.startswith(("-", "/dev/")) or "://" in word:
        return False
    return ("/" in word and len(word) > 1) or "\\" in word or _EXTENSION.search(word) is not None


def looks_like_file(text: str) -> bool:
    """Whether an argument that is a path by its name is one by its looks: no address, and an extension at its end."""
    return "://" not in text and "\n" not in text and len(text) <= 300 and _EXTENSION.search(text) is not None
