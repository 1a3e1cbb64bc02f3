"""The summariser that needs no model: it answers with what the ledger read out of the transcript."""
from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sessionstore.domain.sections import SECTIONS
from sessionstore.domain.summarizing import SummaryAnswer, SummaryRequest


@dataclass(frozen=True, slots=True)
class ExtractiveSummarizer:
    """Fills the thirteen sections from the transcript alone: the same request always gets the same answer, offline, at once.

    It reads nothing but ``request.facts``, which hold the whole history however many pieces it came in, so one request does.
    """

    name: ClassVar[str] = "extractive"

    def summarize(self, request: SummaryRequest) -> SummaryAnswer:
        """The facts under their headings; headings without facts are left out."""
        texts = {heading: request.facts.get(heading, "").strip() for heading in SECTIONS}
        parts = [f"## {heading}\n{text}" for heading, text in texts.items() if text]
        return SummaryAnswer("\n\n".join(parts) or "No facts were found in these messages.", finish_reason="stop")
