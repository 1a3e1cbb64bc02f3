"""Flushing a whole message list: what is stored is compared, what is new is written, the cursor moves along."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy import Connection

from sessionstore.domain.closed_sets import AUTOMATIC_ENDS
from sessionstore.domain.messages import EncodedMessage, Message, decode_body, message_digest
from sessionstore.domain.records import SessionRecord, SystemPrompt
from sessionstore.domain.system_prompt import leading_prompts
from sessionstore.errors import ConflictError, InvalidMessageError, SessionEndedError, SessionNotFoundError, StaleCursorError
from sessionstore.operations.appending import NewMessage, reopen_session, write_rows
from sessionstore.operations.prompting import adopt_prompt
from sessionstore.storage.message_rows import context_rows, context_texts
from sessionstore.storage.session_rows import advance_session, advance_session_from, find_session, find_tip

_RECENT: Final = 6
"""Messages at the end that a later flush compares: two turns of most agents."""


@dataclass(frozen=True, slots=True)
class Landmarks:
    """What a handle remembers of a context that it has compared in full, so that later flushes compare a few places only.

    ``cursor`` is the length it was compared at, ``last`` the digest of the message there and ``recent`` the last messages
    themselves, since one equal message ("ok") proves nothing. ``prompts`` is how many messages in the system's voice it begins
    with. ``marker`` is the (index, message) of the first summary or
    rendition: an older list has nothing like it at that index, however many equal messages it holds. ``prompt`` is the digest
    of the system prompt that stood at the head of the list.
    """

    cursor: int
    last: str | None
    marker: tuple[int, Message] | None
    recent: tuple[Message, ...] = ()
    prompt: str | None = None
    prompts: int = 0


@dataclass(frozen=True, slots=True)
class Flushed:
    """The seqs that were written, and what the handle remembers for its next flush."""

    seqs: tuple[int, ...]
    landmarks: Landmarks


def flush_messages(
    connection: Connection,
    lineage_id: str,
    generation: int,
    messages: Sequence[Message],
    encode_from: Callable[[int], Sequence[EncodedMessage]],
    *,
    prompt: SystemPrompt | None,
    known: Landmarks | None,
    seen: int | None,
    now: float,
) -> Flushed:
    """Write what a list has beyond the session's stored context, with which it must begin.

    ``known`` is what the handle remembers of its last flush, ``seen`` the cursor after its own last write. ``messages`` has
    no system prompt at its head any more; ``encode_from(index)`` gives the ready messages from there on. Raises
    ``StaleCursorError`` when the list is shorter than the context or differs from it, ``ConflictError`` when another writer
    added something that it doesn't hold, ``SessionEndedError`` (with what is unsaved) when the session has ended.
    """
    if known is not None and (prompt is None or prompt.digest == known.prompt) and _agrees(known, messages):
        try:
            flushed = _flush_unseen(connection, lineage_id, generation, known, encode_from(known.cursor), now)
        except InvalidMessageError:
            # It may be stored already, as JSON text that no dict can carry; the comparison tells.
            flushed = None
        if flushed is not None:
            return flushed
    session = _open_session(connection, lineage_id, generation, messages)
    if prompt is not None:
        adopt_prompt(connection, session, prompt)
    cursor = session.flush_cursor
    if known is not None and (known.cursor, known.last) == (cursor, session.tail_digest) and _agrees(known, messages):
        landmarks = known
    else:
        landmarks = _compare_all(connection, session, messages, seen)
    landmarks = replace(landmarks, prompt=None if prompt is None else prompt.digest)
    new = encode_from(cursor)
    if not new:
        return Flushed((), landmarks)
    digest = message_digest(new[-1].message)
    place = advance_session(connection, lineage_id, generation, count=len(new), tail_digest=digest, now=now)
    if place is None or place[1] != cursor:
        raise ConflictError(session.session_id, expected=cursor, found=session.flush_cursor if place is None else place[1])
    return _write(connection, lineage_id, generation, landmarks, new, first=place[0], digest=digest, now=now)


def _flush_unseen(
    connection: Connection, lineage_id: str, generation: int, known: Landmarks, new: Sequence[EncodedMessage], now: float
) -> Flushed | None:
    """Write what a list has behind landmarks with which it agrees, without reading the session; None when there is nothing
    new, or the session is no longer as they say."""
    if not new or known.last is None:
        return None
    digest = message_digest(new[-1].message)
    first = advance_session_from(
        connection, lineage_id, generation, known=(known.cursor, known.last), count=len(new), tail_digest=digest, now=now
    )
    if first is None:
        return None
    return _write(connection, lineage_id, generation, known, new, first=first, digest=digest, now=now)


def _write(
    connection: Connection,
    lineage_id: str,
    generation: int,
    landmarks: Landmarks,
    new: Sequence[EncodedMessage],
    *,
    first: int,
    digest: str,
    now: float,
) -> Flushed:
    write_rows(connection, lineage_id, generation, [NewMessage(one) for one in new], first=first, now=now)
    recent = (*landmarks.recent, *(one.message for one in new[-_RECENT:]))[-_RECENT:]
    seqs = tuple(range(first, first + len(new)))
    return Flushed(seqs, replace(landmarks, cursor=landmarks.cursor + len(new), last=digest, recent=recent))


def unsaved_after(stored: Sequence[Message], messages: Sequence[Message]) -> list[Message]:
    """What a list has beyond the part that it shares with a stored context from the beginning on."""
    return list(messages[_first_difference(stored, messages) :])


def _open_session(
    connection: Connection, lineage_id: str, generation: int, messages: Sequence[Message]
) -> SessionRecord:
    session = find_session(connection, lineage_id, generation, lock=True)
    if session is None:
        raise SessionNotFoundError(lineage_id)
    if session.end_reason is None:
        return session
    if session.end_reason in AUTOMATIC_ENDS:
        reopen_session(connection, session)
        return session
    stored = [row.message for row in context_rows(connection, lineage_id, generation)]
    tip = find_tip(connection, lineage_id)
    continues = tip is not None and tip.generation != generation
    raise SessionEndedError(
        session.session_id,
        end_reason=session.end_reason,
        continuation_id=tip.session_id if tip is not None and continues else None,
        flush_cursor=tip.flush_cursor if tip is not None and continues else None,
        unsaved=unsaved_after(stored, messages),
    )


def _agrees(known: Landmarks, messages: Sequence[Message]) -> bool:
    """Whether a list agrees with the context that was compared where it matters."""
    if len(messages) < known.cursor:
        return False
    if any(messages[known.cursor - back] != message for back, message in enumerate(reversed(known.recent), 1)):
        return False
    return known.marker is None or messages[known.marker[0]] == known.marker[1]


def _compare_all(
    connection: Connection, session: SessionRecord, messages: Sequence[Message], seen: int | None
) -> Landmarks:
    texts = context_texts(connection, session.lineage_id, session.generation)
    # One body at a time: nothing is kept of those that agree.
    difference = _first_difference((decode_body(text) for _, text in texts), messages)
    if difference < len(texts):
        if seen is not None and seen != session.flush_cursor and difference >= seen:
            raise ConflictError(session.session_id, expected=seen, found=session.flush_cursor)
        raise StaleCursorError(
            session.session_id, cursor=len(texts), length=len(messages), first_difference=difference
        )
    marker = next((index for index, (kind, _) in enumerate(texts) if kind != "message"), None)
    return Landmarks(
        cursor=len(texts),
        last=session.tail_digest,
        recent=tuple(decode_body(text) for _, text in texts[-_RECENT:]),
        marker=None if marker is None else (marker, decode_body(texts[marker][1])),
        prompts=leading_prompts(decode_body(text) for _, text in texts),
    )


def _first_difference(stored: Iterable[Message], messages: Sequence[Message]) -> int:
    """Index of the first stored message that the list doesn't have at its place; the number of stored ones when it has all."""
    index = 0
    for message in stored:
        if index >= len(messages) or messages[index] != message:
            break
        index += 1
    return index
