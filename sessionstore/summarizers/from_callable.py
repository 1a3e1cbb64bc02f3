"""A framework's own client as a summariser."""
from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from sessionstore.domain.summarizing import Answer, SummaryRequest


@dataclass(frozen=True, slots=True)
class CallableSummarizer:
    """A function from prompt to summary with a name, and with the limits of the model behind it.

    A plain function can be given wherever a summariser is wanted; this adds what a function can't say. ``window`` is the tokens
    of the model's window, prompt and answer together; ``input_tokens`` the most tokens of history in one request. None: not
    known.
    """

    function: Callable[[str], Answer | Awaitable[Answer]]
    name: str = "callable"
    window: int | None = None
    input_tokens: int | None = None

    def summarize(self, request: SummaryRequest) -> Answer | Awaitable[Answer]:
        """What the function gives for the prompt."""
        return self.function(request.prompt)
