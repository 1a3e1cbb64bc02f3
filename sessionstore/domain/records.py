"""Rows of the store as frozen values: what the storage room reads and writes, and what the API shows."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sessionstore.domain.closed_sets import Edge, EndReason, JobStatus, Kind, Profile, Relation, Tier, Trigger
from sessionstore.domain.messages import Message
from sessionstore.domain.session_ids import session_id
from sessionstore.domain.spans import Span


class LogRow(NamedTuple):
    """One row of a lineage's log.

    ``seq`` is its number for ever. ``generation`` wrote it. ``message`` is the value of ``body``, the JSON text that is stored.
    ``created_at`` is in seconds since 1970. ``origin_seq`` names the row of which a rendition is the shorter form.
    """

    seq: int
    kind: Kind
    role: str
    generation: int
    created_at: float
    message: Message
    body: str
    origin_seq: int | None = None
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class LineageRecord:
    """One conversation for life: who it belongs to, where its tip is, and what is shared by all its generations."""

    lineage_id: str
    namespace: str
    owner: str | None
    source: str | None
    title: str | None
    metadata: Mapping[str, Any]
    tip_generation: int
    pins: tuple[int, ...]
    strikes: int
    strike_seq: int | None
    cooldown_until: float | None
    forked_from: str | None
    forked_from_seq: int | None
    relation: Relation | None
    created_at: float
    closed_at: float | None


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """One generation of a lineage: its settings, counters and ends. Times are seconds since 1970, sizes are tokens.

    ``flush_cursor`` is the length of its context; ``next_seq`` the number that the log's next row gets, frozen when it ends;
    ``start_seq`` the first number that its own messages could have.
    """

    lineage_id: str
    generation: int
    parent_generation: int | None
    basis_generation: int | None
    edge: Edge
    model: str | None
    context_window: int | None
    profile: Profile
    system_prompt_digest: str | None
    flush_cursor: int
    next_seq: int
    start_seq: int
    tail_digest: str | None
    plan_revision: int
    warned_tier: Tier
    tool_schema_tokens: int
    prompt_tokens_total: int
    completion_tokens_total: int
    usage_prompt: int | None
    usage_completion: int | None
    usage_seq: int | None
    context_tokens: int | None
    context_tokens_method: str | None
    context_tokens_seq: int | None
    started_at: float
    updated_at: float
    ended_at: float | None
    end_reason: EndReason | None
    metadata: Mapping[str, Any]

    @property
    def session_id(self) -> str:
        """The id that people and programs use for it."""
        return session_id(self.lineage_id, self.generation)

    @property
    def parent_session_id(self) -> str | None:
        """Id of the generation before it, None for the root."""
        return None if self.parent_generation is None else session_id(self.lineage_id, self.parent_generation)

    @property
    def recorded_tokens(self) -> int | None:
        """Tokens of the whole context where this row tells them, None where something has to be counted first.

        It does when the provider measured the context as it is now, or when every message of it was counted and there is no
        system prompt, whose tokens are not stored.
        """
        if self.usage_prompt is not None and self.usage_seq == self.next_seq:
            return self.usage_prompt + (self.usage_completion or 0)
        if self.context_tokens is not None and self.context_tokens_seq == self.next_seq and self.system_prompt_digest is None:
            return self.context_tokens + self.tool_schema_tokens
        return None


@dataclass(frozen=True, slots=True)
class CompactionRecord:
    """One attempt to compact a session, from its claim to its recorded end."""

    lineage_id: str
    job_id: str
    generation: int
    trigger: Trigger
    status: JobStatus
    created_at: float
    opened_generation: int | None = None
    reason: str | None = None
    focus: str | None = None
    policy: Mapping[str, Any] = field(default_factory=dict)
    watermark: int | None = None
    head: tuple[Span, ...] = ()
    middle: tuple[Span, ...] = ()
    tail: tuple[Span, ...] = ()
    tokens_before: int | None = None
    tokens_after: int | None = None
    tokens_method: str | None = None
    messages_before: int | None = None
    messages_after: int | None = None
    summary_seq: int | None = None
    summary: str | None = None
    summarizer: str | None = None
    model: str | None = None
    prompt_version: str | None = None
    usage: Mapping[str, Any] | None = None
    degraded: bool = False
    warnings: tuple[str, ...] = ()
    attempts: int = 1
    lease_owner: str | None = None
    lease_expires_at: float | None = None
    fencing_token: int = 1
    started_at: float | None = None
    finished_at: float | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class SystemPrompt:
    """A stored system prompt: its digest, its text, and the named parts that it was built from, in order."""

    digest: str
    text: str
    parts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A line of a listing: the tip of a lineage without any message body.

    ``context_tokens`` are those of the messages when they were last counted, None when they never were.
    """

    session_id: str
    lineage_id: str
    generation: int
    title: str | None
    namespace: str
    owner: str | None
    source: str | None
    model: str | None
    context_messages: int
    context_tokens: int | None
    log_messages: int
    started_at: float
    updated_at: float
    ended_at: float | None
    end_reason: EndReason | None
