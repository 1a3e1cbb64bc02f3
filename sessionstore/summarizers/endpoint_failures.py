"""Tells the failures of an endpoint apart, and says what may be repeated of them: never a key, never more than a sentence."""
from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

from sessionstore.domain.redaction import redact
from sessionstore.errors import SummarizerError

_TRANSIENT: Final = frozenset({"unreachable", "rate_limited", "server_error"})
_LONGEST_MESSAGE: Final = 200
_TOO_LONG: Final = re.compile(
    r"context.{0,20}(?:too long|length|exceed|overflow|size|window)|maximum context|too many (?:input )?tokens"
    r"|(?:prompt|input) is too long"
    r"|exceeds? .{0,40}(?:context|token)|exceed_context|reduce the length|string too long|larger than .{0,30}context",
    re.IGNORECASE,
)
_REFUSED: Final = re.compile(r"content.?(?:policy|filter|management)|safety|moderation|prohibited", re.IGNORECASE)
_NO_CREDIT: Final = re.compile(r"insufficient.?quota|billing|credit|payment", re.IGNORECASE)


def failed_reply(status: int, headers: Mapping[str, str], body: bytes) -> SummarizerError:
    """The error that a status of 400 and more stands for.

    Kinds: ``bad_key`` (401, 403), ``no_credit`` (402, or said), ``not_found`` (404), ``timeout`` (408, 504),
    ``context_too_long`` (413, or said), ``rate_limited`` (429), ``refused`` (said), ``server_error`` (409, 5xx),
    ``bad_request`` (the others).
    """
    said = _message(headers, body)
    kind = _kind(status, said)
    detail = f": {_shown(said)}" if said else ""
    return SummarizerError(f"HTTP {status}{detail}", kind=kind)


def reported_error(error: object) -> SummarizerError:
    """The error inside a reply that otherwise looks well: some gateways answer 200 and an error."""
    said = _text_of(error)
    kind = _kind(_status_of(error), said)
    return SummarizerError(f"its reply reports an error: {_shown(said)}", kind=kind)


def is_transient(kind: str) -> bool:
    """Whether asking again soon can help."""
    return kind in _TRANSIENT


def retry_delay(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait before another try, by ``retry-after-ms`` or ``retry-after`` (seconds or a date); None without them."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if not value:
            continue
        try:
            return max(0.0, float(value) * scale)
        except ValueError:
            pass
        try:
            at = parsedate_to_datetime(value)
        except ValueError:
            continue
        moment = at if at.utcoffset() is not None else at.replace(tzinfo=UTC)
        return max(0.0, (moment - datetime.now(UTC)).total_seconds())
    return None


def _kind(status: int, said: str) -> str:
    if status in (401, 403):
        return "bad_key"
    if status == 402 or (status in (400, 429) and _NO_CREDIT.search(said)):
        return "no_credit"
    if status == 413 or _TOO_LONG.search(said):
        return "context_too_long"
    if status == 429:
        return "rate_limited"
    if status in (408, 504):
        return "timeout"
    if status == 409 or status >= 500:
        return "server_error"
    if _REFUSED.search(said):
        return "refused"
    return "not_found" if status == 404 else "bad_request"


def _message(headers: Mapping[str, str], body: bytes) -> str:
    """What the endpoint says of it; nothing of a page of HTML."""
    text = body[:20_000].decode("utf-8", "replace").strip()
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return "" if "html" in headers.get("content-type", "") or text.startswith("<") else text
    return _text_of(value.get("error", value) if isinstance(value, dict) else value)


def _text_of(error: object) -> str:
    if isinstance(error, dict):
        parts = [error.get(name) for name in ("code", "type", "message", "detail")]
        return " ".join(str(part) for part in parts if isinstance(part, str | int) and part)
    return error if isinstance(error, str) else json.dumps(error)[:_LONGEST_MESSAGE]


def _status_of(error: Any) -> int:
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and not isinstance(code, bool) else 500


def _shown(said: str) -> str:
    text = " ".join(redact(said).split())
    return text if len(text) <= _LONGEST_MESSAGE else text[:_LONGEST_MESSAGE] + "…"
