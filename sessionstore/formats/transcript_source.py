"""Reading a transcript of any format that can be imported, from a file or from lines."""
from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Final, Literal

from sessionstore.errors import ImportFormatError
from sessionstore.formats.claude_code import read_claude_code
from sessionstore.formats.damage import merge_damage
from sessionstore.formats.detection import TRANSCRIPT_FORMATS, TranscriptFormat, detect_document, detect_format
from sessionstore.formats.json_text import decode_at
from sessionstore.formats.openai_chat import read_openai_document, read_openai_lines
from sessionstore.formats.parsed import DamagedLine, ParsedTranscript

ImportFormat = Literal["auto", "jsonl", "openai", "claude-code", "sessionstore"]
"""What a caller may ask for. ``auto`` looks at the content; ``jsonl`` too, and takes lines that tell nothing for messages."""

LINES_LOOKED_AT: Final = 1_000
"""How many lines may stand before the first one that tells the format."""

_ESCAPED_BYTE: Final = re.compile("[\udc80-\udcff]")


class TranscriptLines:
    """The lines of a file, read one at a time; bytes that are not UTF-8 become U+FFFD and their lines are noted.

    Iterating raises ``ImportFormatError`` when the file cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.damaged: list[DamagedLine] = []

    def __iter__(self) -> Iterator[str]:
        try:
            with self._path.open(encoding="utf-8-sig", errors="surrogateescape", newline="\n") as file:
                for number, line in enumerate(file, 1):
                    if line.isascii() or not _ESCAPED_BYTE.search(line):
                        yield line
                        continue
                    self.damaged.append(DamagedLine(number, "it holds bytes that are not UTF-8; they came in as U+FFFD"))
                    yield _ESCAPED_BYTE.sub("\ufffd", line)
        except OSError as error:
            raise ImportFormatError(str(self._path), f"it cannot be read: {error.strerror or error}") from error


def read_transcript(
    source: Path | Iterable[str], *, format: ImportFormat = "auto", name: str | None = None  # noqa: A002 - the CLI's word
) -> ParsedTranscript:
    """Read a transcript from a file (a ``Path``) or from its lines, which may come without line ends.

    Damage is reported in the result, not raised. Raises ``ImportFormatError`` (with ``name``, by default the path) for a
    file that cannot be opened or whose format is not known, and for this library's own export, which has its own reader.
    """
    called = name or (str(source) if isinstance(source, Path) else "the transcript")
    if not isinstance(source, Path):
        return _read(iter(source), format, called)
    file = TranscriptLines(source)
    parsed = _read(iter(file), format, called)
    return replace(parsed, damaged=merge_damage([*parsed.damaged, *file.damaged]))


def _read(lines: Iterator[str], wanted: ImportFormat, called: str) -> ParsedTranscript:
    head = list(islice(lines, LINES_LOOKED_AT))
    document = _whole_document(head, lines)
    if document is not None:
        head, lines = document.split("\n"), iter(())
    found = _decide(head, document, wanted, called)
    if found == "sessionstore":
        raise ImportFormatError(called, "it is an export of this library, which is read by its own importer")
    if found == "claude-code":
        return read_claude_code(chain(head, lines))
    if document is not None:
        return read_openai_document(document, name=called)
    return read_openai_lines(chain(head, lines))


def _decide(head: list[str], document: str | None, wanted: ImportFormat, name: str) -> TranscriptFormat:
    if wanted not in ("auto", "jsonl", *TRANSCRIPT_FORMATS):
        raise ImportFormatError(name, f"there is no format {wanted!r}; there are auto, jsonl, {', '.join(TRANSCRIPT_FORMATS)}")
    if wanted == "openai" or wanted == "claude-code" or wanted == "sessionstore":  # noqa: PLR1714 - mypy narrows only this form
        return wanted
    try:
        if document is not None:
            return detect_document(decode_at(document, 0)[0], name=name)
        return detect_format(head, name=name)
    except ImportFormatError:
        if wanted == "jsonl" and document is None:
            return "openai"
        raise


def _whole_document(head: list[str], lines: Iterator[str]) -> str | None:
    """The text of a transcript that is one JSON document on several lines, or a list; None when it is JSON Lines.

    Decided from the first line that is not blank: a list, or an object that does not end on it. Only then is the rest read.
    """
    padding = "\ufeff\x00 \t\r\n"
    first = next((index for index, line in enumerate(head) if line.strip(padding)), None)
    if first is None:
        return None
    line = head[first].strip(padding)
    if not line.startswith(("[", "{")) or (line.startswith("{") and len(line) > 1 and not _is_torn(line)):
        return None
    rest = list(lines)
    head.extend(rest)
    text = "".join(part if part.endswith("\n") else part + "\n" for part in head[first:]).strip(padding)
    try:
        _value, end = decode_at(text, 0)
    except (ValueError, RecursionError):
        return None
    # A record spread over lines is followed by others; a document stands alone.
    return text if end == len(text) else None


def _is_torn(line: str) -> bool:
    try:
        decode_at(line, 0)
    except (ValueError, RecursionError):
        return True
    return False
