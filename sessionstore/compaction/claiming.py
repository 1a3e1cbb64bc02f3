"""Claiming a session for a compaction: a job row with a lease, at most one that is live."""
from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from sessionstore.domain.closed_sets import Trigger
from sessionstore.domain.policy import CompactionPolicy
from sessionstore.domain.records import CompactionRecord, SessionRecord
from sessionstore.errors import CompactionInProgressError, LeaseLostError
from sessionstore.storage.compaction_rows import change_compaction, compactions_of, insert_compaction, live_compaction

LEASE_SECONDS: Final = 600.0
"""How long a claim holds without a sign of life: longer than any summariser's own time-out, so that only the dead lose it."""


def claim(
    connection: Connection,
    session: SessionRecord,
    *,
    job_id: str,
    trigger: Trigger,
    policy: CompactionPolicy,
    focus: str | None,
    owner: str,
    now: float,
) -> CompactionRecord:
    """Begin a job for a session. A live one whose lease has run out is settled as ``interrupted`` first.

    Raises ``CompactionInProgressError`` while somebody else holds the session.
    """
    live = live_compaction(connection, session.lineage_id, session.generation)
    if live is not None:
        if live.lease_expires_at is not None and live.lease_expires_at > now:
            raise CompactionInProgressError(session.session_id, job_id=live.job_id, lease_owner=live.lease_owner)
        settle(connection, live, status="interrupted", reason="its lease ran out", now=now)
    earlier = [job.fencing_token for job in compactions_of(connection, session.lineage_id)]
    record = CompactionRecord(
        lineage_id=session.lineage_id,
        job_id=job_id,
        generation=session.generation,
        trigger=trigger,
        status="running",
        created_at=now,
        started_at=now,
        focus=focus,
        policy=policy_json(policy),
        model=session.model,
        lease_owner=owner,
        lease_expires_at=now + LEASE_SECONDS,
        fencing_token=max(earlier, default=0) + 1,
    )
    try:
        insert_compaction(connection, record)
    except IntegrityError as error:
        raise CompactionInProgressError(session.session_id, job_id=job_id, lease_owner=None) from error
    return record


def hold(connection: Connection, job: CompactionRecord, *, now: float, **values: Any) -> None:
    """Set columns of a job that is still held. Raises ``LeaseLostError`` when its lease ran out or another job took over."""
    expired = job.lease_expires_at is not None and now > job.lease_expires_at
    if expired or not change_compaction(
        connection, job.lineage_id, job.job_id, fencing_token=job.fencing_token, **values
    ):
        raise LeaseLostError(job.job_id)


def settle(connection: Connection, job: CompactionRecord, *, status: str, now: float, **values: Any) -> None:
    """Record how an attempt ended; a job that somebody settled already keeps that end."""
    change_compaction(
        connection,
        job.lineage_id,
        job.job_id,
        fencing_token=job.fencing_token,
        status=status,
        finished_at=now,
        lease_expires_at=None,
        **values,
    )


def policy_json(policy: CompactionPolicy) -> dict[str, Any]:
    """A policy as it is stored with a job."""
    return {
        name: sorted(value) if isinstance(value, frozenset) else value for name, value in asdict(policy).items()
    }
