"""How a compaction ended, for the caller."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sessionstore.domain.closed_sets import Outcome
from sessionstore.domain.ledger import Ledger
from sessionstore.domain.messages import Message
from sessionstore.domain.plan import CompactionPlan
from sessionstore.errors import CompactionStuckError, CompactionVetoedError, SummarizerError

SessionHandle = TypeVar("SessionHandle")


@dataclass(frozen=True, slots=True)
class CompactionOutcome:
    """How a compaction ended, without a handle; see ``CompactionResult`` for what the fields mean."""

    status: Outcome
    reason: str
    session_id: str
    opened_generation: int | None
    continuation_id: str | None
    job_id: str | None
    messages: list[Message]
    system_prompt: str | None
    tokens_before: int
    tokens_after: int
    messages_before: int
    messages_after: int
    plan: CompactionPlan | None
    summary: str | None = None
    ledger: Ledger | None = None
    summarizer: str | None = None
    degraded: bool = False
    warnings: tuple[str, ...] = ()
    retry_at: float | None = None
    failure: str | None = None
    vetoed: bool = False


@dataclass(frozen=True, slots=True)
class CompactionResult(Generic[SessionHandle]):
    """How a compaction ended, and what to go on with.

    ``session`` is the continuation after a commit, else the session it was. ``outcome`` holds every figure; the ones used
    most are attributes here too.
    """

    outcome: CompactionOutcome
    session: SessionHandle

    @property
    def status(self) -> Outcome:
        """``committed``, ``noop``, ``deferred``, ``aborted`` or ``stuck``."""
        return self.outcome.status

    @property
    def reason(self) -> str:
        """One sentence that says why it ended so."""
        return self.outcome.reason

    @property
    def messages(self) -> list[Message]:
        """The list to go on with; equal to ``session.context()``."""
        return self.outcome.messages

    @property
    def system_prompt(self) -> str | None:
        """The stored system prompt of the session to go on with."""
        return self.outcome.system_prompt

    @property
    def flush_cursor(self) -> int:
        """Length of the list to go on with: flushing it writes nothing."""
        return len(self.outcome.messages)

    @property
    def history_offset(self) -> int:
        """Where a reader begins in the session to go on with: 0 after a commit, the end of the unchanged context else."""
        return 0 if self.status == "committed" else len(self.outcome.messages)

    @property
    def tokens_before(self) -> int:
        """Tokens of the whole context before, system prompt and tool schemas included."""
        return self.outcome.tokens_before

    @property
    def tokens_after(self) -> int:
        """The same after; equal to ``tokens_before`` when nothing was written."""
        return self.outcome.tokens_after

    @property
    def messages_before(self) -> int:
        """Messages of the context before."""
        return self.outcome.messages_before

    @property
    def messages_after(self) -> int:
        """Messages of the context after."""
        return self.outcome.messages_after

    @property
    def summary(self) -> str | None:
        """Text of the summary that was written, None when there is none."""
        return self.outcome.summary

    @property
    def ledger(self) -> Ledger | None:
        """The facts beside the summary."""
        return self.outcome.ledger

    @property
    def plan(self) -> CompactionPlan | None:
        """What was decided, also when nothing was written."""
        return self.outcome.plan

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences that a person should read: repairs, an unknown window, accuracy after many compactions."""
        return self.outcome.warnings

    @property
    def degraded(self) -> bool:
        """Whether the summary is the fallback of a model that failed."""
        return self.outcome.degraded

    @property
    def job_id(self) -> str | None:
        """Id of the job's row, None after a dry run."""
        return self.outcome.job_id

    @property
    def retry_at(self) -> float | None:
        """When an automatic compaction tries again, in seconds since 1970; None when nothing waits."""
        return self.outcome.retry_at

    def raise_for_status(self) -> None:
        """Raise ``CompactionStuckError``, ``CompactionVetoedError`` or ``SummarizerError`` where one is the reason; else
        nothing."""
        if self.status == "stuck":
            raise CompactionStuckError(self.outcome.session_id, self.reason)
        if self.outcome.vetoed:
            raise CompactionVetoedError(self.reason)
        if self.outcome.failure is not None and self.status in ("deferred", "aborted"):
            raise SummarizerError(self.reason, kind=self.outcome.failure)

    def to_json(self) -> dict[str, Any]:
        """The result with the keys of ``sessionstore compact --json``."""
        outcome = self.outcome
        described: Mapping[str, Any] = {
            "status": outcome.status,
            "reason": outcome.reason,
            "session_id": outcome.session_id,
            "continuation_id": outcome.continuation_id,
            "job_id": outcome.job_id,
            "tokens_before": outcome.tokens_before,
            "tokens_after": outcome.tokens_after,
            "messages_before": outcome.messages_before,
            "messages_after": outcome.messages_after,
            "summarizer": outcome.summarizer,
            "degraded": outcome.degraded,
            "flush_cursor": self.flush_cursor,
            "history_offset": self.history_offset,
            "warnings": list(outcome.warnings),
        }
        return dict(described)
