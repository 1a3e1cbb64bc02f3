"""The scripted summariser of the cases: every mode that a case may ask for, with all its inputs recorded."""
from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

from sessionstore import SummaryAnswer, SummaryRequest

SLOW_SECONDS: Final = 0.2

_WORDS: Final = (
    "the", "a", "this", "that", "work", "file", "step", "test", "change", "result", "line", "part", "name", "value", "list",
    "order", "time", "path", "case", "point", "user", "answer", "question", "reason", "number", "place", "state", "table",
    "field", "store", "session", "message", "was", "is", "had", "made", "found", "gave", "left", "kept", "moved", "read",
    "wrote", "with", "from", "into", "after", "before", "under", "over", "near", "about", "for", "again", "then", "also",
    "now", "still", "only", "first", "last", "small", "large", "new", "old", "good", "open", "short", "long", "same", "other",
)  # fmt: skip


class ScriptedSummarizer:
    """Answers as its mode says.

    ``window`` and ``input_tokens`` are what the store may ask about the model behind it. ``requests`` are all questions in
    order. ``before_answer`` runs in the middle of each question; ``last_user_text`` gives what the user said last in a prompt.
    """

    name = "scripted"

    def __init__(
        self,
        script: Mapping[str, Any],
        *,
        count: Callable[[str], int],
        last_user_text: Callable[[str], str],
        window: int | None = None,
        input_tokens: int | None = None,
    ) -> None:
        self._mode = str(script["mode"])
        self._text = str(script.get("text", ""))
        self._script = script
        self._count = count
        self._last_user_text = last_user_text
        self.window = window
        self.input_tokens = input_tokens
        self.requests: list[SummaryRequest] = []
        self.before_answer: Callable[[], None] | None = None
        self._answers: dict[str, Callable[[SummaryRequest], str | SummaryAnswer]] = {
            "ok": self._plain,
            "capture": self._plain,
            "ok_if_input": lambda request: self._text if request.history.strip() else "",
            "echo_input": lambda request: request.history,
            "echo_request": lambda request: self._last_user_text(request.prompt) or self._text,
            "extract": lambda request: "\n".join(kept for kept in script.get("keep", []) if kept in request.prompt),
            "cite_ids": lambda request: " ".join(dict.fromkeys(re.findall(r"#\d+", request.prompt))),
            "bloat": lambda _request: self._words(int(script["tokens"])),
            "slow": self._slow,
            "empty": lambda _request: "",
            "whitespace": lambda _request: " \n\t ",
            "reasoning_only": lambda _request: SummaryAnswer("", finish_reason="stop", reasoning=self._text),
            "tool_call": lambda _request: SummaryAnswer(
                "", finish_reason="tool_calls", tool_calls=({"id": "x", "name": "search", "arguments": "{}"},)
            ),
            "length": lambda _request: SummaryAnswer(self._text, finish_reason="length"),
            "error": self._error,
            "error_then_ok": lambda request: self._error(request) if len(self.requests) == 1 else self._plain(request),
            "reject_over": self._reject_over,
        }
        if self._mode not in self._answers:
            raise ValueError(f"unknown summariser mode {self._mode!r}")

    @property
    def prompts(self) -> list[str]:
        """The whole text of every question."""
        return [request.prompt for request in self.requests]

    def summarize(self, request: SummaryRequest) -> str | SummaryAnswer:
        """Record the question and answer it."""
        self.requests.append(request)
        if self.before_answer is not None:
            self.before_answer()
        return self._answers[self._mode](request)

    def _plain(self, _request: SummaryRequest) -> str:
        return self._text

    def _slow(self, request: SummaryRequest) -> str:
        time.sleep(SLOW_SECONDS)
        return self._plain(request)

    def _error(self, _request: SummaryRequest) -> str:
        raise RuntimeError("the scripted model is out of order")

    def _reject_over(self, request: SummaryRequest) -> str:
        if self._count(request.prompt) > int(self._script["limit"]):
            raise RuntimeError("context too long")
        return self._text

    def _words(self, tokens: int) -> str:
        """So many tokens of words that say nothing, in no order, so that they don't look like a loop."""
        pick = Random(tokens)
        words = [pick.choice(_WORDS) for _ in range(tokens)]
        while words and (over := self._count(" ".join(words)) - tokens) > 0:
            del words[-over:]
        return " ".join(words)
