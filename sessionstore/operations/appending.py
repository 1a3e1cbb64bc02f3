"""Adding messages to a log: rows, cursor and tail digest in one transaction."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from sessionstore.domain.closed_sets import AUTOMATIC_ENDS
from sessionstore.domain.messages import EncodedMessage, message_digest
from sessionstore.domain.records import LogRow, SessionRecord
from sessionstore.domain.session_ids import session_id
from sessionstore.domain.tool_columns import tool_columns
from sessionstore.errors import SessionEndedError, SessionNotFoundError
from sessionstore.storage.lineage_rows import change_lineage
from sessionstore.storage.locks import lock_tip
from sessionstore.storage.message_rows import insert_rows, seqs_of_client_ids
from sessionstore.storage.session_rows import advance_session, change_session, find_tip


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message that is ready to be stored, with what its writer says of it."""

    encoded: EncodedMessage
    client_id: str | None = None
    created_at: float | None = None


class SeenBeforeError(Exception):
    """A client id is stored already, or the session has ended: look before you write."""


@dataclass(frozen=True, slots=True)
class Appended:
    """Where messages came to lie: a seq for each, in the order given, the generation they went to, its cursor after, and how
    many were new."""

    seqs: tuple[int, ...]
    generation: int
    cursor: int
    written: int


def append_messages(
    connection: Connection, lineage_id: str, generation: int, new: Sequence[NewMessage], *, now: float
) -> Appended:
    """Add messages to the lineage's tip, whatever generation the caller knew.

    A message whose ``client_id`` is stored already is not stored again: its first seq is given back. A session that ended by
    itself (idle, shutdown) is reopened. Raises ``SessionEndedError`` when somebody ended it on purpose.
    """
    if any(message.client_id is not None for message in new):
        lock_tip(connection, lineage_id)
    known = _stored_client_ids(connection, lineage_id, new)
    fresh = _fresh(new, known)
    if not fresh:
        tip = _tip(connection, lineage_id)
        return Appended(_all_seqs(new, known, tip.next_seq), tip.generation, tip.flush_cursor, 0)
    digest = message_digest(fresh[-1].encoded.message)
    place = advance_session(connection, lineage_id, generation, count=len(fresh), tail_digest=digest, now=now)
    if place is None:
        lock_tip(connection, lineage_id)
        generation = _open_tip(connection, lineage_id).generation
        place = advance_session(connection, lineage_id, generation, count=len(fresh), tail_digest=digest, now=now)
        if place is None:
            raise SessionNotFoundError(session_id(lineage_id, generation))
    first, cursor = place
    write_rows(connection, lineage_id, generation, fresh, first=first, now=now)
    return Appended(_all_seqs(new, known, first), generation, cursor + len(fresh), len(fresh))


def append_unseen(
    connection: Connection, lineage_id: str, generation: int, new: Sequence[NewMessage], *, now: float
) -> Appended:
    """``append_messages`` for who believes that the session is open and no client id is stored, without a look at either.

    Raises ``SeenBeforeError``, with the transaction beyond use, when that isn't so.
    """
    fresh = _fresh(new, {})
    digest = message_digest(fresh[-1].encoded.message)
    place = advance_session(connection, lineage_id, generation, count=len(fresh), tail_digest=digest, now=now)
    if place is None:
        raise SeenBeforeError
    first, cursor = place
    try:
        write_rows(connection, lineage_id, generation, fresh, first=first, now=now)
    except IntegrityError as error:
        raise SeenBeforeError from error
    return Appended(_all_seqs(new, {}, first), generation, cursor + len(fresh), len(fresh))


def write_rows(
    connection: Connection, lineage_id: str, generation: int, new: Sequence[NewMessage], *, first: int, now: float
) -> None:
    """Write messages as rows ``first``, ``first + 1``, … whose seqs were taken before in the same transaction."""
    rows = [
        LogRow(
            seq=seq,
            kind="message",
            role=message.encoded.role,
            generation=generation,
            created_at=now if message.created_at is None else message.created_at,
            message=message.encoded.message,
            body=message.encoded.body,
            client_id=message.client_id,
        )
        for seq, message in enumerate(new, start=first)
    ]
    insert_rows(connection, lineage_id, rows, searchable=[tool_columns(row.message) for row in rows])


def _stored_client_ids(connection: Connection, lineage_id: str, new: Sequence[NewMessage]) -> dict[str, int]:
    """Seqs by client id of the messages that are stored already."""
    named = [message.client_id for message in new if message.client_id is not None]
    return seqs_of_client_ids(connection, lineage_id, named) if named else {}


def _fresh(new: Sequence[NewMessage], known: Mapping[str, int]) -> list[NewMessage]:
    """The messages to be written: a client id that is stored, or stood earlier in the list, is not written again."""
    seen = set(known)
    fresh = []
    for message in new:
        if message.client_id is not None:
            if message.client_id in seen:
                continue
            seen.add(message.client_id)
        fresh.append(message)
    return fresh


def _all_seqs(new: Sequence[NewMessage], known: Mapping[str, int], first: int) -> tuple[int, ...]:
    """The seq of each message, the fresh ones from ``first`` on."""
    named = dict(known)
    seqs: list[int] = []
    for message in new:
        if message.client_id is not None and message.client_id in named:
            seqs.append(named[message.client_id])
            continue
        if message.client_id is not None:
            named[message.client_id] = first
        seqs.append(first)
        first += 1
    return tuple(seqs)


def _tip(connection: Connection, lineage_id: str) -> SessionRecord:
    tip = find_tip(connection, lineage_id)
    if tip is None:
        raise SessionNotFoundError(lineage_id)
    return tip


def _open_tip(connection: Connection, lineage_id: str) -> SessionRecord:
    tip = _tip(connection, lineage_id)
    if tip.end_reason is None:
        return tip
    if tip.end_reason not in AUTOMATIC_ENDS:
        raise SessionEndedError(tip.session_id, end_reason=tip.end_reason)
    reopen_session(connection, tip)
    return tip


def reopen_session(connection: Connection, session: SessionRecord) -> None:
    """Open a tip again that had ended; its lineage is open again too."""
    change_session(connection, session.lineage_id, session.generation, ended_at=None, end_reason=None)
    change_lineage(connection, session.lineage_id, closed_at=None)
