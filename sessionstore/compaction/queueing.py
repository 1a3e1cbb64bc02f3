"""The queue of a worker: what waits, who may take it when, and what becomes of a job whose worker is gone."""
from __future__ import annotations

from typing import Final

from sqlalchemy import Connection

from sessionstore.compaction.claiming import BROKE_OFF, attempts_so_far, policy_json, settle
from sessionstore.domain.back_off import NEVER, earliest_retry
from sessionstore.domain.hygiene import Verdict
from sessionstore.domain.policy import CompactionPolicy
from sessionstore.domain.records import CompactionRecord
from sessionstore.operations.reading import lineage_of, session_of
from sessionstore.storage.compaction_rows import insert_compaction, live_compaction
from sessionstore.storage.job_rows import expired_jobs, highest_fencing_token, last_attempt, queue_again
from sessionstore.storage.locks import lock_lineage

_PAGE: Final = 100


def enqueue(
    connection: Connection,
    lineage_id: str,
    generation: int,
    found: Verdict,
    *,
    job_id: str,
    policy: CompactionPolicy,
    now: float,
) -> CompactionRecord | None:
    """Let a job wait for a session that a worker is to compact.

    None, with nothing written, when one waits or runs already, when the session has ended, and when the last attempt decided
    something that no new message has changed since. One that broke off is not tried again before its pause is over.
    """
    lock_lineage(connection, lineage_id)
    session = session_of(connection, lineage_id, generation)
    if session.end_reason is not None or live_compaction(connection, lineage_id, generation) is not None:
        return None
    last = last_attempt(connection, lineage_id, generation, broke_off=BROKE_OFF)
    cooldown = lineage_of(connection, lineage_id).cooldown_until
    earliest = earliest_retry(last, last_seq=session.next_seq - 1, cooldown_until=cooldown)
    if earliest == NEVER:
        return None
    begin = max(found.not_before, earliest)
    job = CompactionRecord(
        lineage_id=lineage_id,
        job_id=job_id,
        generation=generation,
        trigger="hygiene",
        status="queued",
        reason=found.reason,
        created_at=now,
        policy=policy_json(policy),
        model=session.model,
        attempts=attempts_so_far(connection, session) + 1,
        # Of a queued job this is the time before which it must not begin.
        lease_expires_at=begin if begin > now else None,
        fencing_token=highest_fencing_token(connection, lineage_id) + 1,
    )
    insert_compaction(connection, job)
    return job


def hand_back(connection: Connection, job: CompactionRecord) -> bool:
    """Let a running job wait again, for another worker; its holder can write no more. False when it wasn't running any more."""
    return queue_again(connection, job.lineage_id, job.job_id, fencing_token=job.fencing_token) is not None


def settle_abandoned(connection: Connection, *, now: float) -> list[CompactionRecord]:
    """Settle running jobs whose lease has run out as ``interrupted``; gives them as they were."""
    jobs = expired_jobs(connection, now=now, limit=_PAGE)
    for job in jobs:
        settle(connection, job, status="interrupted", reason="its lease ran out", now=now)
    return jobs
