"""Takes out of a model's notes what the transcript doesn't bear out: paths, commands and actions that nobody mentioned.

A sentence goes, not the whole: what is left is what the model could have read. The rules err on the side of leaving in.
"""
from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sessionstore.domain.answer_suspicions import INJECTION
from sessionstore.domain.section_parsing import heading_of
from sessionstore.domain.sections import COMPLETED_ACTIONS

_EXTENSIONS: Final = (
    "py|pyi|ipynb|js|mjs|ts|tsx|jsx|rs|go|java|kt|rb|c|h|cc|cpp|hpp|cs|php|swift|scala|sh|ps1|sql|md|rst|txt|json|jsonl|ya?ml|toml"
    "|ini|cfg|conf|lock|html?|css|scss|xml|csv|tsv|log|vue|svelte|gradle|proto|tf|db|sqlite|env|png|jpe?g|svg|pdf|zip|gz"
)
_PATH: Final = re.compile(
    rf"""(?P<address>https?://[^\s)>\]"'`]+)
    |(?<![\w/.~@+-])(?:~|\.{{1,2}})?/(?:[\w.@+-]+/)+[\w@+-][\w.@+-]*        # /var/lib/thing, ./a/b
    |(?<![\w/.~@+-])(?:[\w.@+-]+/)+[\w@+-][\w.@+-]*\.[A-Za-z]\w{{0,9}}\b    # src/thing.py
    |(?<![\w/.~@+-])[\w-]+(?:\.[\w-]+)*\.(?:{_EXTENSIONS})\b""",
    re.VERBOSE,
)
_PRODUCT: Final = re.compile(r"[A-Z]\w*\.js")
"""``Node.js`` is no file."""
_CODE: Final = re.compile(r"`([^`\n]+)`")
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])")
_WORD: Final = re.compile(r"[A-Za-z\u00c0-\u024f\u0370-\u052f]{4,}")
_CODE_WORD: Final = re.compile(r"[\w./-]+")
_REFERENCE: Final = re.compile(r"(?<![\w#])#(\d{1,9})\b")
_LEAST_WORDS: Final = 4
_MOST_NAMED: Final = 20


@dataclass(frozen=True, slots=True)
class GroundedNotes:
    """Notes without what was invented.

    ``invented`` names what had no ground: paths, commands, beginnings of actions, at most twenty; ``orders`` counts the
    sentences that gave orders to a model; ``taken_out`` of ``sentences`` went.
    """

    text: str
    invented: tuple[str, ...]
    orders: int
    taken_out: int
    sentences: int


def ground_notes(text: str, *, known: str, newest_seq: int) -> GroundedNotes:
    """Take out sentences that name a file, an address, a command or an action which ``known`` doesn't, and orders to a model.

    ``known`` is everything the model was given. A path is known by its last part (without an extension by its last two), a
    command by half of its words, an action (under Completed Actions) by one of its words. A reference beyond ``newest_seq``
    that the text given doesn't have is invented too.
    """
    ground = _Ground(known.casefold(), newest_seq)
    invented: list[str] = []
    orders = taken_out = sentences = 0
    lines: list[str] = []
    section: str | None = None
    for line in text.splitlines():
        heading = heading_of(line)
        if heading is not None:
            section = heading
        if heading is not None or not line.strip():
            lines.append(line)
            continue
        kept = []
        for sentence in _SENTENCE.split(line):
            sentences += 1
            without_ground = next(ground.missing(sentence, is_action=section == COMPLETED_ACTIONS), None)
            if INJECTION.search(sentence):
                orders += 1
            elif without_ground is None:
                kept.append(sentence)
                continue
            else:
                invented.append(without_ground)
            taken_out += 1
        if any(any(map(str.isalnum, _BULLET.sub("", sentence))) for sentence in kept):
            lines.append(" ".join(kept))
    named = tuple(dict.fromkeys(invented))[:_MOST_NAMED]
    return GroundedNotes("\n".join(lines).strip(), named, orders, taken_out, sentences)


_BULLET: Final = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s*")


@dataclass(frozen=True, slots=True)
class _Ground:
    """What a model was given, in lower case, and the newest seq of the log."""

    known: str
    newest_seq: int

    def missing(self, sentence: str, *, is_action: bool) -> Iterator[str]:
        """What a sentence names that has no ground."""
        for match in _PATH.finditer(sentence):
            path = match.group().rstrip(".,;:!?/")
            if path and not _PRODUCT.fullmatch(path) and not self._has_path(path.casefold()):
                yield path
        for code in _CODE.findall(sentence):
            words = _CODE_WORD.findall(code.casefold())
            if len(words) >= 2 and 2 * sum(word in self.known for word in words) < len(words):
                yield code
        for reference in _REFERENCE.finditer(sentence):
            if int(reference[1]) > self.newest_seq and reference.group() not in self.known:
                yield reference.group()
        if is_action:
            words = _WORD.findall(sentence.casefold())
            # Its beginning is enough, so that another ending of the same word counts.
            if len(words) >= _LEAST_WORDS and not any(word[: max(4, len(word) - 3)] in self.known for word in words):
                yield " ".join(words[:6])

    def _has_path(self, path: str) -> bool:
        parts = [part for part in re.split(r"[/?#]", path) if part]
        # A name with an extension says enough; the last word of another path may be any word.
        last = parts[-1] if "." in parts[-1] else "/".join(parts[-2:])
        return path in self.known or last in self.known
