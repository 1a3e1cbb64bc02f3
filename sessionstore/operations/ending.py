"""Ending a session by reason, and opening it again."""
from __future__ import annotations

from sqlalchemy import Connection

from sessionstore.domain.closed_sets import AUTOMATIC_ENDS, DELIBERATE_ENDS, SUPERSEDED_ENDS, EndReason
from sessionstore.errors import SessionEndedError
from sessionstore.operations.appending import reopen_session
from sessionstore.operations.reading import session_of
from sessionstore.storage.job_rows import drop_queued
from sessionstore.storage.lineage_rows import change_lineage
from sessionstore.storage.locks import lock_tip
from sessionstore.storage.session_rows import end_session, find_tip


def end(connection: Connection, lineage_id: str, generation: int, *, reason: EndReason, now: float) -> None:
    """End a session; ending it again with the same reason changes nothing, and what ended by itself may be ended on purpose.

    Raises ``SessionEndedError`` when it was ended on purpose for another reason, or a later generation took over;
    ``ValueError`` for a reason that nobody can give.
    """
    if reason not in DELIBERATE_ENDS | AUTOMATIC_ENDS:
        raise ValueError(f"a session ends for one of {', '.join(sorted(DELIBERATE_ENDS | AUTOMATIC_ENDS))}, not {reason!r}")
    lock_tip(connection, lineage_id)
    session = session_of(connection, lineage_id, generation)
    if session.end_reason == reason:
        return
    if session.end_reason in AUTOMATIC_ENDS:
        reopen_session(connection, session)
    elif session.end_reason is not None:
        _refuse(connection, lineage_id, generation)
    end_session(connection, lineage_id, generation, reason=reason, now=now)
    drop_queued(connection, lineage_id, generation, reason=f"its session ended ({reason})", now=now)
    change_lineage(connection, lineage_id, closed_at=now)


def reopen(connection: Connection, lineage_id: str, generation: int) -> None:
    """Open a session again that had ended; one that a later generation took over stays closed (``SessionEndedError``)."""
    lock_tip(connection, lineage_id)
    session = session_of(connection, lineage_id, generation)
    if session.end_reason in SUPERSEDED_ENDS:
        _refuse(connection, lineage_id, generation)
    if session.end_reason is not None:
        reopen_session(connection, session)


def _refuse(connection: Connection, lineage_id: str, generation: int) -> None:
    session = session_of(connection, lineage_id, generation)
    tip = find_tip(connection, lineage_id)
    later = tip is not None and tip.generation != generation
    raise SessionEndedError(
        session.session_id,
        end_reason=session.end_reason or "",
        continuation_id=tip.session_id if tip is not None and later else None,
        flush_cursor=tip.flush_cursor if tip is not None and later else None,
    )
