"""Finding lineages by part of an id."""
from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, func, select

from sessionstore.storage.tables import lineages, sessions

MOST_CANDIDATES = 11
"""Ids that a search gives back at most: ten to list, and one more to know that there are more."""


def namespace_of(connection: Connection, lineage_id: str) -> str | None:
    """The namespace of a lineage, None when there is no such lineage."""
    return connection.execute(select(lineages.c.namespace).where(lineages.c.lineage_id == lineage_id)).scalar()


def ids_with_prefix(connection: Connection, prefix: str, namespace: str | None) -> list[str]:
    """Lineage ids that begin with this text, in order."""
    # A range rather than LIKE: LIKE ignores case on SQLite and gives wildcards a meaning.
    return _ids(connection, (lineages.c.lineage_id >= prefix) & (lineages.c.lineage_id < prefix + "\U0010ffff"), namespace)


def ids_with_suffix(connection: Connection, suffix: str, namespace: str | None) -> list[str]:
    """Lineage ids that end with this text, in order. It reads every id, since no index is built from the end."""
    start = func.length(lineages.c.lineage_id) - len(suffix) + 1
    return _ids(connection, (start >= 1) & (func.substr(lineages.c.lineage_id, start) == suffix), namespace)


def ids_with_generation(connection: Connection, generation: int, namespace: str | None) -> list[str]:
    """Lineage ids that have a generation of that number, in order."""
    has_it = select(sessions.c.lineage_id).where(sessions.c.generation == generation)
    return _ids(connection, lineages.c.lineage_id.in_(has_it), namespace)


def _ids(connection: Connection, condition: ColumnElement[bool], namespace: str | None) -> list[str]:
    statement = select(lineages.c.lineage_id).where(condition)
    if namespace is not None:
        statement = statement.where(lineages.c.namespace == namespace)
    return list(connection.execute(statement.order_by(lineages.c.lineage_id).limit(MOST_CANDIDATES)).scalars())
