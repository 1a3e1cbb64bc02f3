"""Asks any summariser, and turns whatever goes wrong into one typed error."""
from __future__ import annotations

import re
from collections.abc import Awaitable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Final

from sessionstore.domain.redaction import redact
from sessionstore.domain.summarizing import Answer, Summarizer, SummaryAnswer, SummaryRequest
from sessionstore.errors import SummarizerError

_LONGEST_REASON: Final = 300
_KINDS: Final = (
    (
        "context_too_long",
        (
            r"context.{0,20}(?:too long|length|exceed|overflow)|maximum context|too many (?:input )?tokens|prompt is too long"
            r"|exceeds? .{0,40}(?:context|token)"
        ),
    ),
    ("rate_limited", r"rate.?limit|too many requests|\b429\b|quota"),
    ("timeout", r"timed? ?out|deadline exceeded"),
    ("bad_key", r"\b401\b|\b403\b|api.?key|unauthori[sz]ed|authentication|permission denied"),
    ("refused", r"refus(?:ed to|al)|content.?(?:policy|filter)|safety"),
    ("unreachable", r"connection|unreachable|name resolution|\b50[234]\b|service unavailable|bad gateway"),
)
"""Kinds of failure by what clients say about them, the first that fits; the words of several providers' messages."""


def ask(summarizer: Summarizer, request: SummaryRequest) -> SummaryAnswer:
    """Put a request to a summariser of either form and get its answer, not yet checked.

    Raises ``SummarizerError`` as ``typed_failures`` and ``answer_of`` do.
    """
    with typed_failures():
        given = put_question(summarizer, request)
    return answer_of(given)


def put_question(summarizer: Summarizer, request: SummaryRequest) -> Answer | Awaitable[Answer]:
    """What a summariser of either form gives for a request; from an async one it is still to be awaited."""
    summarize = getattr(summarizer, "summarize", None)
    if callable(summarize):
        given: Answer | Awaitable[Answer] = summarize(request)
        return given
    if not callable(summarizer):
        raise TypeError(f"a {type(summarizer).__name__} is no summariser: give a function, or an object with summarize()")
    return summarizer(request.prompt)


@contextmanager
def typed_failures() -> Iterator[None]:
    """Raise whatever goes wrong while a summariser answers as ``SummarizerError``.

    Its kind is ``timeout``, ``unreachable``, ``context_too_long``, ``rate_limited``, ``bad_key``, ``refused`` or ``failed``.
    What interrupts the process (``KeyboardInterrupt``, ``SystemExit``, a cancellation) passes through.
    """
    try:
        yield
    except SummarizerError:
        raise
    except Exception as error:  # noqa: BLE001 - a stranger's code may raise anything, and no failure of it may hurt a session
        raise _typed(error) from _cause(error)


def answer_of(given: object) -> SummaryAnswer:
    """What a summariser gave as an answer; ``SummarizerError`` when it is neither text nor a ``SummaryAnswer``."""
    if isinstance(given, SummaryAnswer):
        return given
    if isinstance(given, str):
        return SummaryAnswer(given)
    if isinstance(given, Coroutine):
        given.close()  # one that nobody will await would warn about it later
    raise SummarizerError(f"it answered with a {type(given).__name__}, not with text", kind="failed")


def _typed(error: Exception) -> SummarizerError:
    said = f"{type(error).__name__}: {error}"
    if isinstance(error, TimeoutError) or type(error).__name__.endswith("Timeout"):
        kind = "timeout"
    elif isinstance(error, ConnectionError):
        kind = "unreachable"
    else:
        kind = next((kind for kind, words in _KINDS if re.search(words, said[:2_000], re.IGNORECASE)), "failed")
    reason = redact(said)
    return SummarizerError(reason if len(reason) <= _LONGEST_REASON else reason[:_LONGEST_REASON] + "…", kind=kind)


def _cause(error: Exception) -> Exception | None:
    """The error to chain, unless its message holds a secret: a traceback would print it."""
    return error if redact(str(error)) == str(error) else None
