"""A summariser whose answer is awaited, for the async store."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sessionstore.domain.summarizing import SummaryAnswer, SummaryRequest


class _AsyncAnswering(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def window(self) -> int | None: ...

    @property
    def input_tokens(self) -> int | None: ...

    @property
    def reserved_tokens(self) -> int: ...

    async def summarize_async(self, request: SummaryRequest) -> SummaryAnswer: ...


@dataclass(frozen=True, slots=True)
class AwaitedSummarizer:
    """Asks another summariser on the event loop. The sync store can't await: there, give it the other one itself."""

    summarizer: _AsyncAnswering

    @property
    def name(self) -> str:
        """The other one's name."""
        return self.summarizer.name

    @property
    def window(self) -> int | None:
        """The other one's window in tokens."""
        return self.summarizer.window

    @property
    def input_tokens(self) -> int | None:
        """The other one's limit of history in tokens."""
        return self.summarizer.input_tokens

    @property
    def reserved_tokens(self) -> int:
        """The tokens that the other one keeps for thoughts."""
        return self.summarizer.reserved_tokens

    async def summarize(self, request: SummaryRequest) -> SummaryAnswer:
        """What the other one answers."""
        return await self.summarizer.summarize_async(request)
