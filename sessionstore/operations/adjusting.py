"""Changing what a session is run with: its model, its system prompt, and what the provider measured."""
from __future__ import annotations

from sqlalchemy import Connection

from sessionstore.domain.closed_sets import Profile
from sessionstore.domain.records import SessionRecord, SystemPrompt
from sessionstore.operations.prompting import set_prompt
from sessionstore.storage.locks import lock_session
from sessionstore.storage.message_rows import last_context_rows
from sessionstore.storage.session_rows import add_usage, change_session, raise_plan_revision


def set_model(
    connection: Connection,
    session: SessionRecord,
    *,
    model: str,
    context_window: int | None,
    profile: Profile | None,
) -> None:
    """Set the model, its window and, if given, the profile; a compaction that was planned for the old one is not committed.

    A tier that was warned of was one of the old window, so it may be warned of again.
    """
    change_session(
        connection,
        session.lineage_id,
        session.generation,
        model=model,
        context_window=context_window,
        profile=profile or session.profile,
        warned_tier="ok",
    )
    raise_plan_revision(connection, session.lineage_id, session.generation)


def set_system_prompt(connection: Connection, session: SessionRecord, prompt: SystemPrompt) -> None:
    """Replace the system prompt; a compaction that was planned with the old one is not committed."""
    set_prompt(connection, session, prompt)
    raise_plan_revision(connection, session.lineage_id, session.generation)


def record_usage(connection: Connection, session: SessionRecord, *, prompt: int, completion: int) -> None:
    """Store the provider's numbers for the context as it is now.

    The completion counts as part of the context only when its message was appended before.
    """
    lock_session(connection, session.lineage_id, session.generation)
    last = last_context_rows(connection, session.lineage_id, session.generation, 1)
    answered = bool(last) and last[0].role == "assistant"
    add_usage(
        connection,
        session.lineage_id,
        session.generation,
        prompt=prompt,
        completion=completion,
        usage_completion=completion if answered else 0,
    )
