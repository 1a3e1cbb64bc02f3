"""Every compaction attempt has its end, and what it says it wrote is there (ATOM-1 to ATOM-3, NEST-2, PROV-1)."""
from __future__ import annotations

from collections.abc import Iterator

from sessionstore.domain.health.evidence import Evidence, JobEvidence
from sessionstore.domain.health.finding import Diagnosis, Remedy


def check_attempts(evidence: Evidence) -> Iterator[Diagnosis]:
    """Live jobs, committed jobs, and the generations and summaries that jobs stand behind."""
    for job in evidence.jobs:
        reason = _why_stale(evidence, job)
        if reason is not None:
            ended = {"status": "interrupted", "reason": reason, "finished_at": evidence.now, "lease_expires_at": None}
            yield evidence.diagnosis(
                "stale_job",
                f"compaction job {job.job_id} is {job.status}, but {reason}",
                Remedy("set", "compactions", {"job_id": job.job_id, "status": job.status}, ended),
                generation=job.generation,
            )
    yield from _committed(evidence)
    ledgers = {job.summary_seq: job.has_ledger for job in evidence.jobs if job.status == "committed"}
    for row in evidence.derived:
        if row.kind == "summary" and not ledgers.get(row.seq, False):
            why = "has no ledger" if row.seq in ledgers else "is not there"
            yield evidence.diagnosis(
                "summary_without_ledger", f"the compaction behind the summary #{row.seq} {why}", seq=row.seq
            )


def _why_stale(evidence: Evidence, job: JobEvidence) -> str | None:
    if job.status not in ("queued", "running"):
        return None
    session = next((session for session in evidence.sessions if session.generation == job.generation), None)
    if session is None:
        return "its session is gone"
    if session.end_reason is not None and job.status == "queued":
        return f"its session ended ({session.end_reason})"
    if job.status == "running" and (job.lease_expires_at is None or job.lease_expires_at <= evidence.now):
        return "its lease ran out"
    return None


def _committed(evidence: Evidence) -> Iterator[Diagnosis]:
    opened = {job.opened_generation: job for job in evidence.jobs if job.status == "committed"}
    edges = {session.generation: session.edge for session in evidence.sessions}
    summaries = {row.seq for row in evidence.derived if row.kind == "summary"}
    for job in evidence.jobs:
        problem = None
        if job.status == "committed" and edges.get(job.opened_generation or 0) != "compaction":
            problem = "is committed, but the session that it opened is not there"
        elif job.status != "committed" and (job.opened_generation is not None or job.summary_seq is not None):
            problem = f"ended as {job.status}, but names what it wrote"
        elif job.summary_seq is not None and job.summary_seq not in summaries:
            problem = f"names the summary #{job.summary_seq}, which is none"
        elif job.status not in ("queued", "running") and not job.finished:
            problem = f"is {job.status}, but has no time of its end"
        if problem is not None:
            yield evidence.diagnosis(
                "job_mismatch", f"compaction job {job.job_id} {problem}", generation=job.generation, seq=job.summary_seq
            )
    for session in evidence.sessions:
        if session.edge == "compaction" and session.generation not in opened:
            yield evidence.diagnosis(
                "job_mismatch", f"no compaction says that it opened {session.session_id}", generation=session.generation
            )
