"""A compaction that is ready to be committed, as a value."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sessionstore.domain.ledger import Ledger
from sessionstore.domain.plan import CompactionPlan
from sessionstore.domain.records import SystemPrompt
from sessionstore.domain.spans import Span, spans_of
from sessionstore.operations.continuing import DerivedRow


@dataclass(frozen=True, slots=True)
class Draft:
    """Everything that a commit writes.

    ``layout`` is the new context in order: a seq of the log, or -1, -2, … for the first, second, … of the ``derived`` rows.
    ``derived_tokens`` are theirs. Token figures are of the whole context, system prompt and tool schemas included.
    """

    plan: CompactionPlan
    layout: tuple[int, ...]
    derived: tuple[DerivedRow, ...]
    derived_tokens: tuple[int, ...]
    prompt: SystemPrompt | None
    tokens_before: int
    tokens_after: int
    history_tokens: int
    method: str
    summary: str | None = None
    ledger: Ledger | None = None
    summarizer: str | None = None
    prompt_version: str | None = None
    usage: Mapping[str, Any] | None = None
    degraded: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def summary_position(self) -> int | None:
        """Which of the derived rows is the summary, None when there is none."""
        return next((position for position, row in enumerate(self.derived) if row.kind == "summary"), None)

    def spans(self, *, first_derived: int, arrived: Sequence[int]) -> tuple[Span, ...]:
        """The new context, with derived rows numbered from ``first_derived`` and behind it what arrived meanwhile."""
        numbered = [seq if seq >= 0 else first_derived - 1 - seq for seq in self.layout]
        return spans_of([*numbered, *arrived])
