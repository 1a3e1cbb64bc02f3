"""What a tool's output says of itself: its exit status, the lines that name an error, what it came to in one line.

Of an output longer than ``SCANNED_HEAD + SCANNED_TAIL`` characters only that much of its beginning and end is read.
"""
from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from sessionstore.domain.redaction import redact
from sessionstore.domain.tool_reading import exit_status
from sessionstore.domain.transcript import ToolResult

SCANNED_HEAD: Final = 6_000
"""Characters of the beginning of a long output that are read."""
SCANNED_TAIL: Final = 10_000
"""Characters of the end of a long output that are read; errors and summaries of test runs stand there."""

_SHORT_STATUS: Final = re.compile(r"(?:\[|-> |→ )exit (-?\d{1,10})\b|</?(?:exit_code|exit_status)>\s{0,3}(-?\d{1,10})")
_ERROR_LINE: Final = re.compile(
    r"^\s{0,8}(?:E\s{1,8}\S|(?:\S{1,120}:\s?)?(?:fatal|error|panic|exception|err!)\b"
    r"|(?:\w{1,40}\.){0,6}\w{0,40}(?:Error|Exception|Exit)\b"
    r"|FAILED\b|FAIL\b|ERROR\b"
    r"|Exception in thread|thread '[^'\n]{1,80}' panicked|● \S|test \S{1,160} \.\.\. FAILED"
    r"|\S{0,40}\d\S{0,40}\s.{0,40}?(?-i:\b(?:ERROR|FATAL|CRITICAL|SEVERE)\b)[\]: ]"
    r"|assertion .{0,80}failed|Caused by|Ran into|Invalid |npm ERR!|make: \*\*\*|No replacement was performed)"
    r"|\b(?:error(?: TS\d+|\[E\d+\])?:|command not found|No such file or directory|Permission denied|is not recognized"
    r"|cannot find|can't cd|not found:|undefined reference|Connection refused|timed out|Segmentation fault|AssertionError"
    r"|failed: (?!0\b|none\b|\[\])\S)",
    re.IGNORECASE,
)
_ECHO: Final = re.compile(
    r"^(?:error: (?:could not compile|test failed, to rerun|aborting due to)|test result: FAILED|make: \*\*\*"
    r"|#\d+ ERROR: process|Caused by:$|npm ERR! (?:A complete log|code ))"
)
"""Lines that only say once more that something failed."""
_MAY_FAIL: Final = re.compile(r"rror|ERR|xception|FAIL|ailed|raceback|fatal|panic|not found|denied|refused|No such file")
_STARTS_FAILED: Final = re.compile(r"\s{0,8}(?:<tool_use_error>|Error\b|ERROR\b|error:|Traceback|fatal:|Invalid |Ran into )")
_SUMMARY_LINE: Final = re.compile(
    r"(?<![:\d])\b\d{1,7} (?:passed|failed|passing|failing|errors?|warnings?|tests?|problems?|files? changed|matches"
    r"|rows?|results?)\b"
    r"|^\s{0,4}(?:OK|ok|PASS|SUCCESS|BUILD \w+|Success|Done|Finished|Tests:|Total)\b",
)
_ENVELOPE: Final = re.compile(
    r"^(?:\[[\w.-]{1,40}\] .{0,400}-> exit |\[exit |Chunk ID:|Wall time:"
    r"|Process (?:exited|running)|Original token count:|Output:|[Ee]xit (?:code|status):? ?-?\d"
    r"|\[(?:The command completed|Command finished"
    r"|Current working directory|Python interpreter)|\(Open file:|\(Current directory:|bash-\$|</?(?:output|returncode"
    r"|stdout|stderr)>)"
)
_TESTS_FAILED: Final = re.compile(
    r"\b[1-9]\d{0,6} (?:failed|failing|failures?|errors?)\b|^(?:FAILED |--- FAIL|FAIL\s)|^(?:failures"
    r"|errors)=[1-9]", re.MULTILINE
)
_PASSED: Final = re.compile(
    r"\b[1-9]\d{0,6} (?:tests? )?(?:passed|passing)\b|\b[1-9]\d{0,6} examples?, 0 failures|^# pass [1-9]"
    r"|\b100% tests passed|\btest result: ok\. [1-9]|^OK(?: \(|[ \t]{0,8}$)|^ok\s+\S|^PASS\b|\bPassed!|\bAll checks passed"
    r"|\bno issues found|\bBUILD SUCCESS|\b[Cc]ompiled successfully|\bbuilt in \d|^[ \t]{0,8}Finished\b|\bAll matched files use"
    r"|\b0 errors\b|^Everything up-to-date|^[ \t]{0,8}[0-9a-f]{7,40}\.\.[0-9a-f]{7,40}[ \t]{1,8}\S+ -> ",
    re.MULTILINE,
)
_NO_TESTS: Final = re.compile(
    r"\bno tests? (?:ran|found|to run|files?|specified|collected|were)\b|\bRan 0 tests|\b0 (?:passed|passing|examples)\b"
    r"|\bcollected 0 items",
    re.IGNORECASE,
)
_FRAME: Final = re.compile(
    r"\s+(?:at |in |from |\.{3} \d+ more|\d{1,3}: |File \"|/\S+:\d+)|goroutine \d"
    r"|\S+\(.{0,80}\)$|Node\.js v\d|note: run with"
)
"""Lines of a stack trace below the line that says what happened."""
_FAILED_WORDS: Final = frozenset({"error", "failed", "failure", "fail"})
_SAID_KEYS: Final = (
    "message", "detail", "details", "reason", "title", "description",
    "error_description", "msg", "body", "code",
)
_PRINTED_KEYS: Final = ("output", "stdout", "content", "result", "stderr", "error")
_UNWRAPPED_UP_TO: Final = 200_000
_MAX_LINE: Final = 400
_MAX_ERROR_LINES: Final = 4


def readable(text: str) -> str:
    """What a tool printed, without the JSON object some wrap it in; of a long output its beginning and its end."""
    value = _object_in(text)
    if value is not None:
        printed = [value[key] for key in _PRINTED_KEYS if isinstance(value.get(key), str) and value[key]]
        if said := _failure_in(value):
            printed = [*(text for text in printed if text not in said), said]
        text = "\n".join(printed) or text
    if len(text) <= SCANNED_HEAD + SCANNED_TAIL:
        return text
    return text[:SCANNED_HEAD] + "\n" + text[-SCANNED_TAIL:]


def said_by(result: ToolResult | None, *, shows_content: bool) -> tuple[str, str]:
    """The status of a result and its readable text; both are empty without a result."""
    if result is None:
        return "", ""
    if "PRIVATE KEY" in result.text:
        # A key of several lines has no shape any more once the text is cut into lines.
        result = replace(result, text=redact(result.text))
    return status_of(result, shows_content=shows_content), readable(result.text)


def status_of(result: ToolResult, *, shows_content: bool = False) -> str:
    """``exit N`` as the content states it, else ``failed`` or ``ok``, else an empty string when nothing says either.

    ``shows_content`` is for a tool that shows what is stored somewhere: an error at the end of that is none of the tool's.
    """
    code = exit_status(result.text)
    if code is None:
        short = _SHORT_STATUS.search(result.text[:200]) or _SHORT_STATUS.search(result.text[-200:])
        code = int(short[1] or short[2]) if short else None
    if code is not None:
        return f"exit {code}"
    if result.is_error is not None:
        return "failed" if result.is_error else "ok"
    value = _object_in(result.text)
    if value is not None and _failure_in(value):
        return "failed"
    if value is not None or result.text.startswith("[{"):
        # What an object says of failures, it says in its fields; the words in them are what was asked for.
        wraps = value is not None and any(isinstance(value.get(key), str) for key in _PRINTED_KEYS)
        return "failed" if wraps and looks_failed(readable(result.text)) else ""
    failed = starts_failed(result.text) if shows_content else looks_failed(result.text)
    return "failed" if failed else ""


def _object_in(text: str) -> dict[str, Any] | None:
    """The JSON object that a text is, if it is one."""
    if not text.startswith("{") or len(text) > _UNWRAPPED_UP_TO:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _failure_in(value: Mapping[str, Any]) -> str:
    """What an answer in JSON says went wrong; empty when none of its fields says that something did."""
    errors = value.get("errors")
    found = value.get("error") or (errors[0] if isinstance(errors, list) and errors else None)
    if isinstance(found, (str, dict)):
        return _said(found) or json.dumps(found, ensure_ascii=False)[:_MAX_LINE]
    codes = [value.get(key) for key in ("status", "statusCode", "status_code")]
    refused = any(isinstance(code, int) and not isinstance(code, bool) and 400 <= code < 600 for code in codes)
    worded = isinstance(codes[0], str) and codes[0].lower() in _FAILED_WORDS
    if refused or worded or any(value.get(key) is False for key in ("ok", "success", "succeeded")):
        return _said(value) or json.dumps(value, ensure_ascii=False)[:_MAX_LINE]
    return ""


def _said(value: str | Mapping[str, Any]) -> str:
    if isinstance(value, str):
        return value
    said = [value[key] for key in _SAID_KEYS if isinstance(value.get(key), str) and value[key]]
    return ": ".join(said[:2])


def is_failure(status: str) -> bool:
    """Whether a status says that it failed."""
    return status == "failed" or (status.startswith("exit ") and status != "exit 0")


def outcome_of(status: str, line: str) -> str:
    """What is told of a call that returned: its status and what its output came to, as far as either is known."""
    return f"{status}: {line}" if status and line else status or line or "done"


def status_in(outcome: str) -> str:
    """The status at the beginning of an outcome; empty when it only tells what the output came to."""
    status = outcome.split(":", maxsplit=1)[0]
    return status if status in ("failed", "ok", "done") or status.startswith("exit ") else ""


def starts_failed(text: str) -> bool:
    """Whether an output begins as a failure does."""
    return _STARTS_FAILED.match(text) is not None


def looks_failed(text: str) -> bool:
    """Whether an output that states no status reads as a failure: by how it begins, or by its last line."""
    if starts_failed(text):
        return True
    lines = [line for line in text[-2_000:].splitlines() if line.strip() and not _ENVELOPE.match(line)]
    while lines and _FRAME.match(lines[-1]):
        lines.pop()
    return bool(lines) and _ERROR_LINE.search(lines[-1][:_MAX_LINE]) is not None and "0 errors" not in lines[-1]


def error_lines(text: str) -> list[str]:
    """The lines that name what went wrong, verbatim, the last four at most; the last line when none does."""
    lines = [line for line in text.splitlines() if line.strip() and not _ENVELOPE.match(line)]
    found: list[str] = []
    if _MAY_FAIL.search(text) or "E  " in text:
        said = [bool(_ERROR_LINE.search(line[:_MAX_LINE])) for line in lines]
        # A line that ends with a colon names the place; what happened stands in the next.
        told = [number > 0 and said[number - 1] and lines[number - 1].rstrip().endswith(":") for number in range(len(lines))]
        found = [line.strip()[:_MAX_LINE] for number, line in enumerate(lines) if said[number] or told[number]]
    found = [line for line in dict.fromkeys(found) if line != "Traceback (most recent call last):"]
    found = [line for line in found if not _ECHO.match(line)] or found
    if not found and lines:
        found = [lines[-1].strip()[:_MAX_LINE]]
    named = [line for line in found if line.startswith(("FAILED ", "ERROR ", "--- FAIL"))]
    return (named or found)[-_MAX_ERROR_LINES:]


def error_messages(text: str, *, one_each: bool = False) -> list[str]:
    """What an output says went wrong, without secrets: one message, or one for each test that failed."""
    lines = [redact(line) for line in error_lines(text)]
    if one_each and all(line.startswith(("FAILED ", "ERROR ", "--- FAIL")) for line in lines):
        return lines
    return ["\n".join(lines)] if lines else []


def tests_failed(text: str) -> bool:
    """Whether the end of a test run's output counts or names failures; for commands whose own status got lost in a pipe."""
    return _TESTS_FAILED.search(text[-4_000:]) is not None


def says_passed(text: str) -> bool:
    """Whether the end of an output says that what was run is well, for commands whose own status got lost."""
    tail = text[-4_000:]
    return _PASSED.search(tail) is not None and not tests_failed(tail) and not looks_failed(tail)


def ran_no_tests(text: str) -> bool:
    """Whether the end of a test run's output says that there was nothing to run."""
    return _NO_TESTS.search(text[-4_000:]) is not None


def result_line(text: str) -> str:
    """What an output came to, in one line of at most 120 characters: its line of totals, or all of a very short output."""
    tail = [line.strip() for line in text[-1_500:].splitlines() if line.strip() and not _ENVELOPE.match(line)]
    for line in reversed(tail[-12:]):
        if len(line) <= 120 and _SUMMARY_LINE.search(line):
            return " ".join(line.strip("= ").split())
    if len(text) <= 600:
        lines = [line.strip() for line in text.splitlines() if line.strip() and not _ENVELOPE.match(line)]
        if len(lines) == 1 and len(lines[0]) <= 120:
            return lines[0]
    return ""
