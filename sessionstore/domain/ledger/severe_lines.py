"""Lines that name a failure by how they are written: those of a log, and those of a report that somebody pasted."""
from __future__ import annotations

import re
from typing import Final

_SEVERE: Final = re.compile(
    r"(?:^|[\s\[(|])(?:FATAL|PANIC|CRITICAL|SEVERE|ERROR|ERR)(?:[\]):|]|\s[\w\[(\"'-])|\blevel=\"?(?:error"
    r"|fatal|critical|panic)\b"
    r"|\"level\":\s?\"(?:error|fatal|critical)\"", re.MULTILINE
)
_PASTED_ERROR: Final = re.compile(
    r"(?:fatal|error|panic|E\s{2,8}|npm ERR!|FAILED|Traceback|[\w.]{1,60}(?:Error|Exception))\b\s?[:\[(!]|FAILED \S"
)
_LEVEL: Final = "level"
_COUNTS: Final = re.compile(r"\d+")
_MAX_LINE: Final = 300
_MOST: Final = 3


def names_severity(line: str) -> bool:
    """Whether a line has the mark of a log for what failed: FATAL, ERROR, CRITICAL."""
    return _may_be_severe(line) and _SEVERE.search(line[:_MAX_LINE]) is not None


def is_pasted_error(sentence: str) -> bool:
    """Whether it is a line of an error report that somebody pasted."""
    return _PASTED_ERROR.match(sentence) is not None


def severe_lines(text: str) -> list[str]:
    """The last few lines so marked, verbatim; of lines that differ only in numbers, as times do, the last."""
    if not _may_be_severe(text):
        return []
    marked = [line.strip()[:_MAX_LINE] for line in text.splitlines() if names_severity(line)]
    latest = {_COUNTS.sub("0", line): line for line in marked}
    return list(latest.values())[-_MOST:]


def _may_be_severe(text: str) -> bool:
    # Most text has none of these, and to look for them is far cheaper than the pattern.
    return "ERR" in text or "FATAL" in text or "CRITICAL" in text or "PANIC" in text or "SEVERE" in text or _LEVEL in text
