"""Setting a session's system prompt."""
from __future__ import annotations

from sqlalchemy import Connection

from sessionstore.domain.records import SessionRecord, SystemPrompt
from sessionstore.storage.prompt_rows import find_prompt, has_prompt, store_prompt
from sessionstore.storage.session_rows import change_session


def set_prompt(connection: Connection, session: SessionRecord, prompt: SystemPrompt) -> None:
    """Make this the session's system prompt."""
    store_prompt(connection, session.lineage_id, prompt)
    change_session(connection, session.lineage_id, session.generation, system_prompt_digest=prompt.digest)


def adopt_prompt(connection: Connection, session: SessionRecord, prompt: SystemPrompt) -> None:
    """Take over a prompt that stood at the head of a flushed list, when it is new to the lineage.

    One that the lineage has had before is an old one, held by a caller who does not know that a compaction rebuilt it.
    """
    if prompt.digest != session.system_prompt_digest and not has_prompt(connection, session.lineage_id, prompt.digest):
        set_prompt(connection, session, prompt)


def prompt_of(connection: Connection, session: SessionRecord) -> SystemPrompt | None:
    """The session's stored system prompt, None when it has none."""
    if session.system_prompt_digest is None:
        return None
    return find_prompt(connection, session.lineage_id, session.system_prompt_digest)
