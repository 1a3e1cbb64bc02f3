"""Creating a lineage with its first session."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from sessionstore.domain.closed_sets import Profile, Relation
from sessionstore.domain.records import LineageRecord, SessionRecord, SystemPrompt
from sessionstore.errors import SessionExistsError, TitleTakenError
from sessionstore.storage.lineage_rows import find_lineage, insert_lineage
from sessionstore.storage.prompt_rows import store_prompt
from sessionstore.storage.session_rows import insert_session
from sessionstore.storage.span_rows import insert_spans
from sessionstore.storage.title_rows import holder_of_title, take_title


@dataclass(frozen=True, slots=True)
class NewSession:
    """Everything that a new lineage is given."""

    lineage_id: str
    namespace: str = ""
    owner: str | None = None
    source: str | None = None
    title: str | None = None
    title_is_automatic: bool = False
    model: str | None = None
    context_window: int | None = None
    profile: Profile = "openai"
    prompt: SystemPrompt | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    tool_schema_tokens: int = 0
    relation: Relation | None = None
    forked_from: str | None = None
    forked_from_seq: int | None = None


def create_session(connection: Connection, new: NewSession, *, now: float) -> SessionRecord:
    """Write a lineage, its first generation with an empty context, its prompt and its title.

    Raises ``SessionExistsError`` when the id is taken (across namespaces), ``TitleTakenError`` when a title that somebody chose
    is taken in the namespace; an automatic one gets a free number in parentheses instead.
    """
    if find_lineage(connection, new.lineage_id) is not None:
        raise SessionExistsError(new.lineage_id)
    title = claim_title(connection, new)
    try:
        insert_lineage(connection, _lineage(new, title, now))
    except IntegrityError as error:
        raise SessionExistsError(new.lineage_id) from error
    if new.prompt is not None:
        store_prompt(connection, new.lineage_id, new.prompt)
    session = first_session(new, now)
    insert_session(connection, session)
    insert_spans(connection, new.lineage_id, 1, (), open_from=0)
    return session


def claim_title(connection: Connection, new: NewSession) -> str | None:
    """Take the title of a new lineage, and give it as it is stored: an automatic one may get a number."""
    title = new.title
    if title is None:
        return None
    number = 1
    while not take_title(connection, new.namespace, title, new.lineage_id):
        if not new.title_is_automatic:
            holder = holder_of_title(connection, new.namespace, title)
            raise TitleTakenError(title, namespace=new.namespace, holder=holder or "")
        number += 1
        title = f"{new.title} ({number})"
    return title


def _lineage(new: NewSession, title: str | None, now: float) -> LineageRecord:
    return LineageRecord(
        lineage_id=new.lineage_id,
        namespace=new.namespace,
        owner=new.owner,
        source=new.source,
        title=title,
        metadata=new.metadata,
        tip_generation=1,
        pins=(),
        strikes=0,
        strike_seq=None,
        cooldown_until=None,
        forked_from=new.forked_from,
        forked_from_seq=new.forked_from_seq,
        relation=new.relation,
        created_at=now,
        closed_at=None,
    )


def first_session(new: NewSession, now: float) -> SessionRecord:
    """The first generation of a new lineage, before anything was said."""
    return SessionRecord(
        lineage_id=new.lineage_id,
        generation=1,
        parent_generation=None,
        basis_generation=None,
        edge="root",
        model=new.model,
        context_window=new.context_window,
        profile=new.profile,
        system_prompt_digest=None if new.prompt is None else new.prompt.digest,
        flush_cursor=0,
        next_seq=0,
        start_seq=0,
        tail_digest=None,
        plan_revision=0,
        warned_tier="ok",
        tool_schema_tokens=new.tool_schema_tokens,
        prompt_tokens_total=0,
        completion_tokens_total=0,
        usage_prompt=None,
        usage_completion=None,
        usage_seq=None,
        context_tokens=None,
        context_tokens_method=None,
        context_tokens_seq=None,
        started_at=now,
        updated_at=now,
        ended_at=None,
        end_reason=None,
        metadata=new.metadata,
    )
