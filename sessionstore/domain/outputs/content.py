"""What an output says of itself: its body without the wrapper, its size, its matches, and why it failed."""
from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sessionstore.domain.tool_reading import exit_status
from sessionstore.domain.transcript import ToolResult

_WRAPPER_END: Final = re.compile(r"(?:^|\n)(?:Output:[ \t]*\n|<output>\n?)")
_BODY_KEYS: Final = ("output", "stdout", "content", "result", "text")
_COUNT_KEYS: Final = ("total_count", "totalCount", "match_count", "matchCount", "num_matches", "numMatches", "count", "total")
_LIST_KEYS: Final = ("matches", "results", "files", "items", "hits")
_SAID_COUNT: Final = re.compile(
    r"\b(?:found |total(?: of)? )?(\d[\d,]{0,9}) (?:match(?:es)?|results?|files?|hits?|occurrences?)\b", re.IGNORECASE
)
_FAILS: Final = re.compile(
    r"^\W{0,4}(?:error|fatal|exception|traceback|failed|failure|panic|abort(?:ed)?|denied|permission denied|command not found"
    r"|no such file|unable to|cannot|could not|invalid|timed? ?out|usage error|exit code [1-9])(?=[\s:,;!]|$)",
    re.IGNORECASE,
)
_NAMES_FAILURE: Final = re.compile(
    r"\b(?:\w*error|\w*exception|fatal|denied|failed|failure|not found|no such file|cannot|refused|timed out|panic)\b",
    re.IGNORECASE,
)
_BARE_STATUS: Final = re.compile(r"(?:error:? ?)?exit(?:ed with)? (?:code|status):? -?\d+\.?", re.IGNORECASE)
_SCANNED: Final = 20_000
_LONGEST_JSON: Final = 4_000_000


@dataclass(frozen=True, slots=True)
class OutputContent:
    """An output taken out of its wrapper. ``status`` and ``failure`` are None where nothing is said of them."""

    body: str
    status: int | None
    failure: str | None
    value: Any

    @property
    def lines(self) -> int:
        """Lines of the body, the last one counted without its line break."""
        return self.body.rstrip("\n").count("\n") + 1 if self.body.strip() else 0

    @property
    def first_line(self) -> str:
        """The first line that is not blank."""
        return next((line.strip() for line in self.body[:_SCANNED].split("\n") if line.strip()), "")

    @property
    def last_line(self) -> str:
        """The last line that is not blank."""
        return next((line.strip() for line in reversed(self.body[-_SCANNED:].split("\n")) if line.strip()), "")


def read_output(result: ToolResult) -> OutputContent:
    """Take an output out of the JSON or the header that its tool puts around it."""
    text = result.text
    value = _json_value(text)
    body = text
    if isinstance(value, Mapping):
        body = next((value[key] for key in _BODY_KEYS if isinstance(value.get(key), str)), text)
    elif (match := _WRAPPER_END.search(text[:1_000])) is not None:
        body = text[match.end() :]
    status = exit_status(text)
    return OutputContent(body, status, _failure(result, value, body, status), value)


def match_count(content: OutputContent) -> int:
    """How many matches a search reports: its own count, the length of its list, else its lines that are not blank."""
    value = content.value
    if isinstance(value, list):
        return len(value)
    if isinstance(value, Mapping):
        for key in _COUNT_KEYS:
            if isinstance(value.get(key), int) and not isinstance(value[key], bool):
                return int(value[key])
        for key in _LIST_KEYS:
            if isinstance(value.get(key), list):
                return len(value[key])
    for line in (content.first_line, content.last_line):
        if (said := _SAID_COUNT.search(line)) is not None and len(line) < 120:
            return int(said.group(1).replace(",", ""))
    return sum(1 for line in content.body.split("\n") if line.strip())


def _failure(result: ToolResult, value: Any, body: str, status: int | None) -> str | None:
    if isinstance(value, Mapping):
        for key in ("error", "stderr", "error_message"):
            said = value.get(key)
            said = said.get("message") if isinstance(said, Mapping) else said
            if isinstance(said, str) and said.strip() and (key != "stderr" or status not in (0, None)):
                return _first_failing_line(said.split("\n"))
    lines = body[:_SCANNED].split("\n") + (body[-_SCANNED:].split("\n") if len(body) > _SCANNED else [])
    opening = next((line for line in lines if line.strip()), "")
    if result.is_error is not True and status in (0, None) and not (status is None and _FAILS.match(opening)):
        return None
    if opening.startswith("Traceback"):
        return next((line.strip() for line in reversed(lines) if line.strip()), opening.strip())
    return _first_failing_line(lines)


def _first_failing_line(lines: Sequence[str]) -> str:
    spoken = [line.strip() for line in lines if line.strip()]
    # A bare status tells less than the line that says what went wrong.
    telling = [line for line in spoken if not _BARE_STATUS.fullmatch(line)]
    named = (line for line in telling if _FAILS.match(line) or _NAMES_FAILURE.search(line))
    return next(named, next(iter(telling or spoken), ""))


def _json_value(text: str) -> Any:
    stripped = text.strip() if len(text) <= _LONGEST_JSON else ""
    if not stripped.startswith(("{", "[")) or not stripped.endswith(("}", "]")):
        return None
    try:
        return json.loads(stripped)
    except (ValueError, RecursionError):
        return None
