"""Tries a summariser on a tiny conversation, and says what of it works."""
from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sessionstore.domain.history_text import HistoryChunk
from sessionstore.domain.language_guess import languages_of
from sessionstore.domain.section_parsing import is_heading, parse_sections
from sessionstore.domain.sections import ACTIVE_TASK, SECTIONS
from sessionstore.domain.summarizing import name_of, window_of
from sessionstore.domain.summary_check import check_answer, clean_answer
from sessionstore.domain.summary_prompt import InputRoom, build_request
from sessionstore.domain.token_counter import TokenCounter
from sessionstore.errors import SummarizerError
from sessionstore.summarizers.asking import ask
from sessionstore.summarizers.endpoint_summarizer import EndpointSummarizer

REQUEST: Final = "Please rename the function total to grand_total in billing/invoice.py and run the tests."
TINY_HISTORY: Final = f"""\
#0 user
{REQUEST}

#1 assistant
call edit_file({{"path": "billing/invoice.py", "old": "def total(", "new": "def grand_total("}})

#2 tool
result of edit_file: 1 replacement

#3 assistant
call terminal({{"command": "pytest -q"}})

#4 tool
result of terminal: 12 passed in 0.41s

#5 assistant
The function is renamed and all 12 tests pass."""
"""The conversation of a trial; it is made up."""

_ANSWER_TOKENS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Trial:
    """How a trial went.

    ``failure`` is the kind of what went wrong, None when the answer can be used, ``reason`` a sentence on it. ``schema`` says
    whether the endpoint keeps to a JSON schema (None: not found out), ``headings`` how many of the thirteen were there,
    ``names_task`` whether the request was quoted, ``usage`` the provider's counts, ``seconds`` how long it took.
    """

    summarizer: str
    window: int | None
    seconds: float
    failure: str | None = None
    reason: str | None = None
    schema: bool | None = None
    headings: int = 0
    names_task: bool = False
    usage: Mapping[str, Any] | None = None

    @property
    def works(self) -> bool:
        """Whether a compaction could use the answer."""
        return self.failure is None


def try_summarizer(summarizer: EndpointSummarizer, counter: TokenCounter) -> Trial:
    """Ask a summariser for notes on the tiny conversation and look at them; never raises for what the endpoint does."""
    room = InputRoom(answer=_ANSWER_TOKENS, previous=0, history=_ANSWER_TOKENS)
    chunk = HistoryChunk(TINY_HISTORY, tuple(range(6)))
    request = build_request(chunk, room=room, facts={}, counter=counter)
    name, window = name_of(summarizer), window_of(summarizer)
    begun = time.monotonic()
    try:
        answer = ask(summarizer, request)
    except SummarizerError as error:
        return Trial(name, window, time.monotonic() - begun, error.kind, error.reason, summarizer.keeps_to_schema)
    failure = check_answer(answer, history=TINY_HISTORY, requests=[REQUEST], languages=languages_of([REQUEST]))
    text = clean_answer(answer.text)
    task = parse_sections(text).get(ACTIVE_TASK, "")
    return Trial(
        summarizer=name,
        window=window,
        seconds=time.monotonic() - begun,
        failure=failure,
        reason=None if failure is None else "it answered, but what it wrote is no summary",
        schema=summarizer.keeps_to_schema,
        headings=min(len(SECTIONS), sum(map(is_heading, text.splitlines()))),
        names_task="grand_total" in task,
        usage=answer.usage,
    )
