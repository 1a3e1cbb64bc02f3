"""What a summariser is asked and what it answers: the seam between a compaction and any model, or none.

A summariser is a plain function from text to text, or an object that gets the whole request. Either may answer with a string,
or with a ``SummaryAnswer`` that also says how the answer came to its end. Either may be async where the store is: then the
answer is awaited on its event loop.
"""
from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sessionstore.domain.answer_forms import NOTES, AnswerForm


@dataclass(frozen=True, slots=True)
class SummaryAnswer:
    """What came back from a summariser, before anybody looked whether it is a summary.

    ``finish_reason`` is the provider's own word (``stop``, ``length``, ``max_tokens``, …), ``reasoning`` what the model thought
    aloud apart from its text, ``tool_calls`` the calls it made though none were offered, ``usage`` the provider's token counts.
    ``form_version`` is the version of the ``AnswerForm`` that was asked for, None when the prompt went out as it is; the text
    is no JSON either way.
    """

    text: str
    finish_reason: str | None = None
    reasoning: str | None = None
    tool_calls: tuple[Any, ...] = ()
    usage: Mapping[str, Any] | None = None
    form_version: str | None = None


Answer = str | SummaryAnswer
"""Text, or text with how it came about."""


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """One question to a summariser: a piece of history, and what it is to be folded into.

    ``prompt`` is the whole text for a model, instructions included; ``history`` is the part of it inside the fence.
    ``previous`` is the summary to update (of an earlier compaction, or of the pieces before this one), ``focus`` what to dwell
    on, ``budget_tokens`` the longest answer wanted. ``facts`` holds the ledger's text per heading, for a summariser that needs
    no model. ``part`` of ``parts`` counts from 1. ``form`` is the same answer as JSON, for an endpoint that keeps to schemas.
    """

    prompt: str
    history: str
    previous: str | None
    focus: str | None
    budget_tokens: int
    facts: Mapping[str, str]
    part: int
    parts: int
    form: AnswerForm | None = NOTES


class RequestSummarizer(Protocol):
    """A summariser that wants more than the prompt.

    It may also have ``window`` (tokens of its model, prompt and answer together), ``reserved_tokens`` (those of them that it
    keeps for the model's thoughts) and ``input_tokens`` (most tokens of history a request), all ``int | None``; see
    ``window_of`` and ``input_limit_of``. And it may have ``summarize_async``, the same as a coroutine function.
    """

    @property
    def name(self) -> str:
        """What the job's record calls it."""
        ...

    def summarize(self, request: SummaryRequest) -> Answer | Awaitable[Answer]:
        """Answer one request; any exception counts as a failed summary."""
        ...


Summarizer = Callable[[str], Answer | Awaitable[Answer]] | RequestSummarizer
"""A function that gets the prompt, or an object that gets the request; an async one needs the async front."""


def name_of(summarizer: Summarizer) -> str:
    """What the records call a summariser: its ``name``, else the name of the function or of its class."""
    for key in ("name", "__name__"):
        name = getattr(summarizer, key, None)
        if isinstance(name, str) and name:
            return name
    return type(summarizer).__name__


def window_of(summarizer: Summarizer) -> int | None:
    """Tokens of a summariser's window for prompt and answer together, thoughts not counted; None when it doesn't say."""
    window = _positive(getattr(summarizer, "window", None))
    return None if window is None else max(1, window - (_positive(getattr(summarizer, "reserved_tokens", None)) or 0))


def input_limit_of(summarizer: Summarizer) -> int | None:
    """Most tokens of history that a summariser takes in one request, instructions not counted; None for no limit of its own."""
    return _positive(getattr(summarizer, "input_tokens", None))


def _positive(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
