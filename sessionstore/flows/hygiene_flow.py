"""A worker's pass as flows of steps: settle what was abandoned, queue what is due, run what waits."""
from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

from sqlalchemy import Connection

from sessionstore.compaction.claiming import settle, take_queued
from sessionstore.compaction.deciding import CompactionRequest
from sessionstore.compaction.job import break_off, lease_seconds, run_claimed
from sessionstore.compaction.outcome import CompactionOutcome
from sessionstore.compaction.queueing import enqueue, hand_back, settle_abandoned
from sessionstore.domain.hygiene import MOST_MESSAGES, Gauge, first_look, verdict
from sessionstore.domain.metering import Pressure
from sessionstore.domain.policy import CompactionPolicy
from sessionstore.domain.records import CompactionRecord
from sessionstore.domain.summarizing import Summarizer
from sessionstore.errors import SessionNotFoundError, SessionStoreError
from sessionstore.operations.environment import Environment, meter_method
from sessionstore.operations.pressing import pressure_of
from sessionstore.operations.reading import session_of
from sessionstore.operations.steps import Steps, call, read, write
from sessionstore.storage.gauge_rows import open_gauges
from sessionstore.storage.job_rows import waiting_jobs

PAGE: Final = 500
"""Sessions whose counters are read in one transaction."""

MOST_MEASURED: Final = 200
"""Sessions of which a pass counts the new messages, at most. A count is remembered, so the next pass goes on with others."""


@dataclass(frozen=True, slots=True)
class HygieneScan:
    """What a worker found in one look over all open sessions: how many it saw, counted and queued, and what was abandoned."""

    seen: int
    measured: int
    queued: tuple[CompactionRecord, ...]
    abandoned: tuple[CompactionRecord, ...]


class HygieneFlow:
    """The flows of a worker with one policy and one summariser."""

    def __init__(
        self, environment: Environment, *, policy: CompactionPolicy, summarizer: Summarizer | None, grace: float
    ) -> None:
        self._environment = environment
        self._policy = policy
        self._summarizer = summarizer
        self._grace = grace

    def scan(self, *, most_measured: int = MOST_MEASURED) -> Steps[HygieneScan]:
        """Settle what dead workers left, and queue every session that is due."""
        abandoned = yield from write(lambda c: settle_abandoned(c, now=self._environment.shared_time(c)))
        method = yield from call(lambda: meter_method(self._environment.counter, self._policy))
        seen = measured = 0
        queued: list[CompactionRecord] = []
        after: tuple[float, str] | None = None
        while page := (yield from read(partial(open_gauges, after=after, limit=PAGE))):
            seen += len(page)
            after = (page[-1].updated_at, page[-1].lineage_id)
            for gauge in page:
                look = first_look(gauge, self._policy, method=method)
                if look == "pass" or (look == "measure" and measured >= most_measured):
                    continue
                measured += look == "measure"
                job = yield from self._queue_if_due(gauge, measure=look == "measure")
                if job is not None:
                    queued.append(job)
        return HygieneScan(seen, measured, tuple(queued), tuple(abandoned))

    def waiting(self, limit: int) -> Steps[list[CompactionRecord]]:
        """Peek at the jobs that may begin now; looking at them claims nothing."""
        return read(lambda c: waiting_jobs(c, now=self._environment.shared_time(c), limit=limit))

    def claim(self, job: CompactionRecord) -> Steps[CompactionRecord | None]:
        """Claim a job that waits; None when another worker was first."""

        def work(connection: Connection) -> CompactionRecord | None:
            return take_queued(
                connection,
                job,
                owner=self._environment.owner,
                now=self._environment.shared_time(connection),
                lease_seconds=lease_seconds(self._environment),
            )

        return write(work)

    def run(self, job: CompactionRecord) -> Steps[CompactionOutcome | None]:
        """Carry out a claimed job; None when its session is no longer due, which is the job's recorded end then."""
        try:
            problem = yield from self._why_not(job)
        except BaseException as error:
            yield from break_off(self._environment, job, error)
            raise
        if problem is not None:
            yield from write(
                lambda c: settle(c, job, status="noop", reason=problem, now=self._environment.shared_time(c))
            )
            return None
        request = CompactionRequest(
            lineage_id=job.lineage_id,
            generation=job.generation,
            trigger="hygiene",
            policy=self._policy,
            focus=job.focus,
            summarizer=self._summarizer,
        )
        return (yield from run_claimed(self._environment, request, job))

    def hand_back(self, job: CompactionRecord) -> Steps[bool]:
        """Put a claimed job back into the queue."""
        return write(lambda c: hand_back(c, job))

    def _queue_if_due(self, gauge: Gauge, *, measure: bool) -> Steps[CompactionRecord | None]:
        pressure: Pressure | None = None
        if measure:
            try:
                pressure = yield from pressure_of(self._environment, gauge.lineage_id, gauge.generation, self._policy)
            except SessionNotFoundError:
                return None  # deleted since the page was read
        now = yield from read(self._environment.shared_time, one_query=True)
        found = verdict(gauge, pressure, self._policy, grace=self._grace, now=now)
        if found is None:
            return None
        job_id = self._environment.ids()
        try:
            return (
                yield from write(
                    lambda c: enqueue(
                        c, gauge.lineage_id, gauge.generation, found, job_id=job_id, policy=self._policy, now=now
                    )
                )
            )
        except SessionNotFoundError:
            return None

    def _why_not(self, job: CompactionRecord) -> Steps[str | None]:
        """Why a job that was queued some time ago is not wanted any more, None when it is."""
        session = yield from read(lambda c: session_of(c, job.lineage_id, job.generation))
        if session.end_reason is not None:
            return f"its session ended ({session.end_reason})"
        if session.flush_cursor > MOST_MESSAGES:
            return None
        pressure = yield from pressure_of(self._environment, session.lineage_id, session.generation, self._policy)
        return None if pressure.due else "its session is no longer due"


def hygiene_pass(flow: HygieneFlow) -> Steps[list[CompactionOutcome]]:
    """One pass from beginning to end, one job after the other, each at most once; gives how those that ran ended."""
    yield from flow.scan()
    outcomes: list[CompactionOutcome] = []
    done: set[str] = set()
    while waiting := [job for job in (yield from flow.waiting(PAGE)) if job.job_id not in done]:
        for job in waiting:
            done.add(job.job_id)
            claimed = yield from flow.claim(job)
            try:
                outcome = None if claimed is None else (yield from flow.run(claimed))
            except SessionStoreError:
                continue  # the job has it as its end; one session in trouble keeps no other waiting
            if outcome is not None:
                outcomes.append(outcome)
    return outcomes
