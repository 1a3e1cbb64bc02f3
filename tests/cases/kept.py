"""What is kept of the steps of a run: loads, attempts to compact, typed errors."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sessionstore import CompactionResult, Session, SessionStoreError
from tests.cases.pairing import blocks_of, plain_text, spoken_text


@dataclass(frozen=True)
class Load:
    """A context as it was handed out: what goes to a model, and the rows that it was made from."""

    session_id: str
    messages: list[dict[str, Any]]
    rows: Sequence[Any]
    branch: str | None = None

    @property
    def summaries(self) -> set[str]:
        """Texts of the summaries in the context."""
        return {spoken_text(row.message) for row in self.rows if row.kind == "summary"}

    def is_summary(self, message: Mapping[str, Any]) -> bool:
        """Whether a message handed out is a summary: it has the text of a row of that kind."""
        return spoken_text(message) in self.summaries

    def is_bridge(self, message: Mapping[str, Any]) -> bool:
        """Whether a message handed out comes from no row, so that the rendering made it."""
        texts = {spoken_text(message), *(plain_text([block]) for block in blocks_of(message))} - {""}
        known = {spoken_text(row.message) for row in self.rows}
        known |= {plain_text([block]) for row in self.rows for block in blocks_of(row.message)}
        return message.get("role") not in ("system", "developer") and bool(texts) and not texts & known


@dataclass
class Thread:
    """A conversation and the list that its writer holds (without the system message)."""

    session: Session
    held: list[dict[str, Any]]


@dataclass(frozen=True)
class RecordedError:
    """A typed error of a step. ``excused``: the step or a planted fault allows for it."""

    step: str
    error: SessionStoreError
    excused: bool


@dataclass(frozen=True)
class Attempt:
    """One attempt to compact: everything that a check may compare, before and after.

    ``job_status`` is how the job of an attempt ended that gives no result, because a worker or other processes made it.
    """

    result: CompactionResult[Session] | None
    job_status: str | None
    automatic: bool
    context_before: list[dict[str, Any]]
    context_after: list[dict[str, Any]]
    rows_before: Sequence[Any]
    rows_after: Sequence[Any]
    log_before: list[Any]
    log_after: list[Any]
    generations_before: list[str]
    generations_after: list[str]
    tables_before: dict[str, list[tuple[Any, ...]]]
    tables_after: dict[str, list[tuple[Any, ...]]]
    pressure_before: Any
    pressure_after: Any
    references: dict[int, str]

    @property
    def status(self) -> str | None:
        """How it ended, None when it ended by an exception or wasn't begun."""
        return self.job_status if self.result is None else self.result.status
