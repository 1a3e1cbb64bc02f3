"""Several summarisers, one behind the other."""
from __future__ import annotations

from collections.abc import Awaitable

from sessionstore.domain.summarizing import Answer, Summarizer, SummaryRequest, name_of
from sessionstore.errors import SummarizerError
from sessionstore.summarizers.asking import ask


class SummarizerChain:
    """Asks the first summariser, and when it fails the next: an auxiliary model and then the main one, say.

    A compaction asks each with pieces that fit its own window and checks each one's answer; the next is asked once, from the
    beginning. When all fail, the compaction goes on as its policy says. A chain of chains is one chain. Raises ``ValueError``
    without any summariser.
    """

    def __init__(self, *summarizers: Summarizer) -> None:
        self.links: tuple[Summarizer, ...] = tuple(link for one in summarizers for link in links_of(one))
        if not self.links:
            raise ValueError("a chain needs a summariser")

    def __repr__(self) -> str:
        return f"SummarizerChain({', '.join(map(name_of, self.links))})"

    @property
    def name(self) -> str:
        """The names of all of them, in order."""
        return " > ".join(map(name_of, self.links))

    def summarize(self, request: SummaryRequest) -> Answer | Awaitable[Answer]:
        """The first answer that is none of the failures which an exception tells; only a compaction looks at the others."""
        for link in self.links[:-1]:
            try:
                return ask(link, request)
            except SummarizerError:
                continue
        return ask(self.links[-1], request)


def links_of(summarizer: Summarizer) -> tuple[Summarizer, ...]:
    """The summarisers of a chain in order; anything else is a chain of one."""
    return summarizer.links if isinstance(summarizer, SummarizerChain) else (summarizer,)
