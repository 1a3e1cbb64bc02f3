"""Exact strings that a reader would otherwise look up: URLs, tickets, ids, hashes, hosts, ports, versions, named numbers."""
from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sessionstore.domain.ledger.sentences import LABEL
from sessionstore.domain.ledger.takeover import MONTH

NAMES: Final = frozenset({"url", "id", "commit", "host", "path"})
"""Forms of references that are names: each is one thing; a number or a port alone says little."""
_SCANNED: Final = 40_000
_OUTPUT_SCANNED: Final = 4_000
_OUTPUT_LIMIT: Final = 4
_URL: Final = re.compile(
    r"\b(?:https?|wss?|ftp|ssh|git|s3|gs|postgres(?:ql)?(?:\+\w+)?|mysql|redis|mongodb|sqlite|amqp)"
    r"://[^\s\"'<>`|\\)\]}（）、。，]{3,400}"
)
_TICKET: Final = re.compile(r"\b[A-Z][A-Z0-9]{1,11}-\d{1,7}\b(?!-\w|\.\d)")
_ISSUE: Final = re.compile(
    r"\b(?:issues?|pr|pull request|pull|bug|ticket|mr|gh|fix(?:es|ed)?|clos(?:es|ed))[ -]?#\d{1,7}\b"
    r"|\b[\w.-]{1,40}/[\w.-]{1,60}#\d{1,7}\b",
    re.IGNORECASE,
)
_UUID: Final = re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b")
_IDENTIFIER: Final = re.compile(
    r"(?<![\w./@:-])[a-zA-Z]{1,24}+(?:[_-][A-Za-z0-9]{1,40}){0,6}?[_-](?=[A-Za-z]{0,20}\d[A-Za-z]{0,20}\d)[A-Za-z0-9]{5,40}"
    r"(?:-[A-Za-z0-9]{1,40}){0,3}(?![\w@-])"
    r"|\barn:[\w:/.-]{8,200}\b"
)
_CODE: Final = re.compile(
    r"(?<![\w./@:#-])(?=[A-Z0-9]{0,12}[A-Z])(?=[A-Z0-9]{0,12}\d)(?!\d{1,6}[KMGTWVA]?[BW]?\b"
    r"|[A-Z]{1,8}\d\b)[A-Z0-9]{5,14}(?![\w-]|\.\d)"
    r"|(?<![\w-])[A-Z]{2,6}(?:-\d{2,8}){2,3}(?![\w-])|(?<![\w./@:-])\d{1,6}(?:-\d{2,10}){2,4}(?![\w-])"
    r"|(?<![\w/@:-])\d{1,3}:\d{2}-[a-z]{2}-\d{3,6}(?:-[A-Z]{2,4})?\b"
    r"|(?<![A-Za-z0-9_-])[A-Z]\d{6,12}(?!\d)"
)
"""Codes as people hand them on: booking and order numbers, dockets."""
_MAIL: Final = re.compile(r"(?<![\w.@/:+-])[\w.+-]{1,60}@[\w-]{1,60}(?:\.[\w-]{1,60}){1,4}\b(?![:/@])")
_DOI: Final = re.compile(r"\b10\.\d{4,9}/[\w.()/:;-]{1,80}[\w)]")
_PATH: Final = re.compile(
    r"(?<![\w./@:~$-])(?:(?:\.{1,2}/)?(?:[\w.-]{1,60}/){1,10}+[\w-][\w.-]{0,80}\.[A-Za-z]\w{0,7}"
    r"|~?/(?:[\w.-]{1,60}/){1,10}+[\w.-]{2,80}\w)(?![\w/-])"
)
"""A path as prose names it: with a directory, and an ending that tells it from *and/or*."""
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_HASH: Final = re.compile(r"(?<![\w-])(?=[0-9a-f]{0,39}[a-f])(?=[0-9a-f]{0,39}\d)[0-9a-f]{7,40}(?![\w-])")
_HASH_WORDS: Final = (
    "trace", "span id", "request id", "digest", "commit", "Commit", "sha", "SHA", "hash", "revision", "HEAD", "erge", "cherry",
    "checkout", "base",
)
"""Words near which a run of hex digits is a commit and not just a number."""
_COLON_PORT: Final = re.compile(r":\d{2,5}\b")
_HOST_BEFORE: Final = re.compile(
    r"(?:\blocalhost|\b(?:[\w-]{1,60}\.){1,5}(?:com|org|net|io|dev|app|ai|co|cloud|internal|local|lan|test|example|invalid)"
    r"|\b\d{1,3}(?:\.\d{1,3}){3})$"
)
_ADDRESS: Final = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b(?!:\d)")
_PRIVATE_NAME: Final = re.compile(r"\b(?:[\w-]{1,60}\.){1,4}(?:internal|local|lan|invalid)\b(?!:\d)")
_PORT: Final = re.compile(r"\b(?:[\w-]{1,30} )?[Pp]orts?(?: is| to|:|=)? ?\d{2,5}\b|\b[A-Z_]{0,20}PORT\s?[=:]\s?\d{2,5}\b")
_VERSION: Final = re.compile(
    r"\b[A-Za-z][\w.-]{0,60}(?:\[[\w,]{1,60}\])?(?:==|~=|>=|<=|@\^?~?)\d[\w.]{0,30}\b"
    r"|\bv\d{1,4}(?:\.\d{1,5}){1,3}(?:-[\w.]{1,20})?\b"
    r"|\b[A-Z][A-Za-z+#.]{1,30} v?\d{1,4}(?:\.\d{1,5}){1,3}\b"
)
_QUANTITY: Final = re.compile(
    r"(?:[$€£¥] ?\d[\d,.]{0,18}\d?[kKmMbB]?\b|\b\d(?:[\d,.]{0,17}\d)? ?(?:%|percent|per cent|Prozent|ms|s|sec|seconds"
    r"|minutes|min|hours|h|days"
    r"|[kKMGT]i?B|bytes|tokens|req/s|rps|px|rows|items|lines|users|requests|USD|EUR|CHF|GBP|euros?|dollars?|€|£|[kMG]?Wh?"
    r"|[kM]?[VAN](?:/m[²2])?|[kMG]?Hz"
    r"|[mck]?m[²³]?|k?g|m?l|[mµ]g|k?cal|m?mol/[lL]|km/h|mph|points|°C|k?Pa|bar|nights|people|weeks|months|years)(?!\w)"
    r"|(?<![\d.,])\d(?:[\d,.]{0,17}\d)? ?[件元円个個名人万枚台本冊度年時点]"
    rf"|\b\d{{1,2}}\.? {MONTH.pattern}(?: \d{{4}})?\b"
    r"|\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2})?\b|\b\d{1,3}(?:,\d{3})+(?:\.\d+)?\b|\b\d{5,15}\b)"
)
_DIGIT: Final = re.compile(r"\d")
_PRIVATE_ENDINGS: Final = (".internal", ".local", ".lan", ".invalid")
_NOT_TICKETS: Final = frozenset({"UTF", "SHA", "ISO", "RFC", "AES", "GPT", "ES", "HTTP", "TLS", "IPV", "ANSI", "MD"})
"""Names of standards that look like tickets: UTF-8, SHA-256."""
_INSIDE_WORD: Final = frozenset("/=&?_-.@%")
_TRAILING: Final = ".,;:!?*_"
_CONTEXT: Final = 60


@dataclass(frozen=True, slots=True)
class Reference:
    """An exact string and what it is; ``context`` is what stands right before it, blanks included, and says of what."""

    form: str
    text: str
    context: str = ""


def references_in(text: str) -> Iterator[Reference]:
    """Every reference in a text of the user, the assistant, or a call. Of over 40,000 characters the two ends are read."""
    if len(text) > _SCANNED:
        text = text[: _SCANNED // 2] + "\n" + text[-_SCANNED // 2:]
    yield from _links(text)
    for match in _MAIL.finditer(text) if "@" in text else ():
        yield Reference("id", match.group())
    text = _lines_with_digits(text)
    yield from _ids(text)
    for match in _CODE.finditer(text):
        if not _DATE.match(match.group()):
            yield Reference("id", match.group(), _before(text, match.start(), 30))
    if "port" in text or "PORT" in text or "Port" in text:
        for match in _PORT.finditer(text):
            yield Reference("port", match.group(), _before(text, match.start()))
    for match in _VERSION.finditer(text):
        yield Reference("version", match.group())
    for match in _QUANTITY.finditer(text):
        if text[match.start() - 1: match.start()] not in _INSIDE_WORD:
            yield Reference("number", match.group().rstrip(_TRAILING), _before(text, match.start()))


def paths_in(text: str) -> Iterator[Reference]:
    """The paths that prose names; of over 40,000 characters the two ends are read."""
    if len(text) > _SCANNED:
        text = text[: _SCANNED // 2] + "\n" + text[-_SCANNED // 2:]
    for word in text.split() if "/" in text else ():
        if "/" in word and "://" not in word and (match := _PATH.search(word)):
            yield Reference("path", match.group())


def references_in_output(text: str) -> Iterator[Reference]:
    """The first few references of each form in a tool's output, which may hold hundreds; its two ends of 2,000 characters."""
    if len(text) > _OUTPUT_SCANNED:
        text = text[: _OUTPUT_SCANNED // 2] + "\n" + text[-_OUTPUT_SCANNED // 2:]
    counts: dict[str, int] = {}
    for reference in (*_links(text), *_ids(_lines_with_digits(text))):
        counts[reference.form] = counts.get(reference.form, 0) + 1
        if counts[reference.form] <= _OUTPUT_LIMIT:
            yield reference


def _lines_with_digits(text: str) -> str:
    """Only the lines that have a digit: every form but a link has one, and most lines of prose have none."""
    return "\n".join(line for line in text.splitlines() if _DIGIT.search(line))


def _links(text: str) -> Iterator[Reference]:
    if "://" in text:
        for match in _URL.finditer(text):
            yield Reference("url", match.group().rstrip(_TRAILING))
    for match in _COLON_PORT.finditer(text):
        host = _HOST_BEFORE.search(text, max(0, match.start() - 100), match.start())
        if host is not None and text[max(0, host.start() - 3): host.start()] != "://":
            yield Reference("host", host.group() + match.group())
    names = _PRIVATE_NAME.finditer(text) if any(ending in text for ending in _PRIVATE_ENDINGS) else ()
    for match in (*_ADDRESS.finditer(text), *names):
        if text[match.start() - 1: match.start()] not in _INSIDE_WORD:
            yield Reference("host", match.group())


def _ids(text: str) -> Iterator[Reference]:
    for match in _TICKET.finditer(text):
        if match.group().partition("-")[0] not in _NOT_TICKETS:
            yield Reference("id", match.group(), _before(text, match.start(), 24))
    if "#" in text:
        for match in _ISSUE.finditer(text):
            yield Reference("id", match.group())
    if "10." in text:
        for match in _DOI.finditer(text):
            yield Reference("id", match.group())
    for match in _UUID.finditer(text):
        yield Reference("id", match.group(), _before(text, match.start(), 30))
    for match in _IDENTIFIER.finditer(text) if "-" in text or "_" in text else ():
        yield Reference("id", match.group(), _before(text, match.start(), 30))
    for match in _HASH.finditer(text) if any(word in text for word in _HASH_WORDS) else ():
        near = text[max(0, match.start() - 40): match.end() + 20]
        if any(word in near for word in _HASH_WORDS):
            yield Reference("commit", match.group())


def _before(text: str, start: int, length: int = _CONTEXT) -> str:
    piece = text[max(0, start - length): start]
    line = piece.rsplit("\n", 1)[-1]
    for stop in (". ", "; ", "! ", "? ", "。", "{", "}", "[", "]"):
        line = line.rsplit(stop, 1)[-1]
    if start > length and len(line) == len(piece) and " " in line:
        line = line.split(" ", 1)[1]
    return LABEL.sub("", line.lstrip("-*#> "))
