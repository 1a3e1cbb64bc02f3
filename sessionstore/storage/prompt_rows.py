"""Rows of ``system_prompts``: each text once a lineage, by its digest, with the parts that it was built from."""
from __future__ import annotations

from sqlalchemy import Connection, select

from sessionstore.domain.records import SystemPrompt
from sessionstore.storage.tables import system_prompts
from sessionstore.storage.upserts import insert_missing
from sessionstore.storage.values import from_json, to_json


def store_prompt(connection: Connection, lineage_id: str, prompt: SystemPrompt) -> None:
    """Write a prompt unless this lineage has it already."""
    row = {"lineage_id": lineage_id, "digest": prompt.digest, "text": prompt.text, "parts": to_json(prompt.parts)}
    insert_missing(connection, system_prompts, [row])


def has_prompt(connection: Connection, lineage_id: str, digest: str) -> bool:
    """Whether this lineage has, or ever had, the prompt of that digest."""
    statement = select(system_prompts.c.digest).where(
        system_prompts.c.lineage_id == lineage_id, system_prompts.c.digest == digest
    )
    return connection.execute(statement).first() is not None


def find_prompt(connection: Connection, lineage_id: str, digest: str) -> SystemPrompt | None:
    """The prompt of that digest, None when there is none."""
    statement = select(system_prompts.c.text, system_prompts.c.parts).where(
        system_prompts.c.lineage_id == lineage_id, system_prompts.c.digest == digest
    )
    row = connection.execute(statement).first()
    return None if row is None else SystemPrompt(digest=digest, text=row[0], parts=from_json(row[1]))
