"""From whatever somebody has of a session (id, title, part of an id) to its lineage and its tip."""
from __future__ import annotations

from sqlalchemy import Connection

from sessionstore.domain.messages import clean_text
from sessionstore.domain.records import SessionRecord
from sessionstore.domain.session_ids import SEPARATOR, generation_of, split_session_id
from sessionstore.errors import AmbiguousSessionError, SessionNotFoundError
from sessionstore.storage.resolve_rows import (
    MOST_CANDIDATES,
    ids_with_generation,
    ids_with_prefix,
    ids_with_suffix,
    namespace_of,
)
from sessionstore.storage.session_rows import find_session, find_tip, sessions_of
from sessionstore.storage.title_rows import holder_of_title, holders_of_title


def resolve_tip(connection: Connection, reference: str, *, namespace: str | None = None) -> SessionRecord:
    """The tip of the lineage that answers to an id of any generation, a title, or a unique prefix or suffix of an id.

    They are tried in this order. Raises ``SessionNotFoundError`` or ``AmbiguousSessionError``.
    """
    tip = find_tip(connection, resolve_lineage(connection, reference, namespace=namespace))
    if tip is None:
        raise SessionNotFoundError(reference, namespace=namespace)
    return tip


def resolve_exact(connection: Connection, session_id: str, *, namespace: str | None = None) -> SessionRecord:
    """The one generation that an id names, also when it has ended. Raises ``SessionNotFoundError``."""
    lineage_id, generation = split_session_id(clean_text(session_id))
    session = None if generation is None else find_session(connection, lineage_id, generation)
    if session is None or not _in_namespace(connection, lineage_id, namespace):
        raise SessionNotFoundError(session_id, namespace=namespace)
    return session


def resolve_lineage(connection: Connection, reference: str, *, namespace: str | None = None) -> str:
    """The id of the lineage that answers to a reference; see ``resolve_tip``."""
    if clean_text(reference) != reference:
        raise SessionNotFoundError(reference, namespace=namespace)
    lineage_id, generation = split_session_id(reference)
    if (
        generation is not None
        and _in_namespace(connection, lineage_id, namespace)
        and find_session(connection, lineage_id, generation) is not None
    ):
        return lineage_id
    if namespace is None:
        holders = holders_of_title(connection, reference)
    else:
        holder = holder_of_title(connection, namespace, reference)
        holders = [] if holder is None else [holder]
    candidates = holders or _by_part(connection, reference, namespace)
    if not candidates:
        raise SessionNotFoundError(reference, namespace=namespace)
    if len(candidates) > 1:
        raise AmbiguousSessionError(reference, candidates[: MOST_CANDIDATES - 1])
    return candidates[0]


def _in_namespace(connection: Connection, lineage_id: str, namespace: str | None) -> bool:
    found = namespace_of(connection, lineage_id)
    return found is not None and namespace in (None, found)


def _by_part(connection: Connection, reference: str, namespace: str | None) -> list[str]:
    if not reference:
        return []
    if SEPARATOR in reference:
        return _by_part_of_generation(connection, reference, namespace)
    found = {*ids_with_prefix(connection, reference, namespace), *ids_with_suffix(connection, reference, namespace)}
    return sorted(found)


def _by_part_of_generation(connection: Connection, reference: str, namespace: str | None) -> list[str]:
    """Parts of the ids of later generations: ``auth~2`` ends one, ``fix-auth~`` begins several of the same lineage."""
    left, _, digits = reference.partition(SEPARATOR)
    found: set[str] = set()
    if left and _in_namespace(connection, left, namespace):
        generations = [session.generation for session in sessions_of(connection, left) if session.generation > 1]
        if any(str(generation).startswith(digits) for generation in generations):
            found.add(left)
    generation = generation_of(digits)
    if generation is not None and left:
        candidates = ids_with_suffix(connection, left, namespace)
        found.update(id_ for id_ in candidates if find_session(connection, id_, generation) is not None)
    elif generation is not None:
        found.update(ids_with_generation(connection, generation, namespace))
    return sorted(found)
