"""The worker's loop: passes over the open sessions, jobs in threads, and an end that leaves no session held."""
from __future__ import annotations

import json
import queue
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from sessionstore.cli.figures import iso_time
from sessionstore.domain.session_ids import session_id
from sessionstore.errors import SessionEndedError, SessionNotFoundError, SessionStoreError, StoreLockedError
from sessionstore.operations.steps import drive

if TYPE_CHECKING:
    from sessionstore.compaction.outcome import CompactionOutcome
    from sessionstore.domain.records import CompactionRecord
    from sessionstore.flows.hygiene_flow import HygieneFlow
    from sessionstore.operations.environment import Environment

PATIENCE: Final = 30.0
"""Seconds that a worker which was told to stop lets its jobs finish, before it puts them back into the queue."""

_FAILED: Final = frozenset({"aborted", "stuck"})

_OVERTAKEN: Final = (SessionNotFoundError, SessionEndedError)
"""Errors that say no more than that somebody deleted or ended the session meanwhile: nothing is left to be done."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of jobs so far."""

    waiting: int = 0
    running: int = 0
    done: int = 0
    failed: int = 0


@dataclass
class Worker:
    """Runs jobs in ``concurrency`` threads, each with transactions of its own, until it is told to stop.

    ``log`` gets one record a job, ``progress`` the tally after every change. ``interval`` is the pause between passes, in
    seconds. ``stop`` may be set by a signal.
    """

    environment: Environment
    flow: HygieneFlow
    log: Callable[[dict[str, Any]], None]
    concurrency: int = 1
    interval: float = 60.0
    progress: Callable[[Tally], None] = field(default=lambda _tally: None)
    stop: threading.Event = field(default_factory=threading.Event)
    patience: float = PATIENCE

    def __post_init__(self) -> None:
        self._jobs: queue.Queue[CompactionRecord] = queue.Queue()
        self._running: dict[str, CompactionRecord] = {}
        self._handed_back: set[str] = set()
        self._lock = threading.Lock()
        self._tally = Tally()

    def run(self, *, once: bool) -> Tally:
        """Work until ``stop`` is set, or for one pass; gives what became of the jobs.

        Raises ``StoreLockedError`` when the one pass could not be done.
        """
        while not self.stop.is_set():
            try:
                self._pass()
            except StoreLockedError as error:
                if once:
                    raise
                # Somebody else is busy for long: that passes, and a supervisor would only start the same again.
                self.log({"event": "pass", "status": "locked", "reason": str(error)})
            if once:
                break
            self.stop.wait(self.interval)
        return self._tally

    def _pass(self) -> None:
        scan = drive(self.flow.scan(), self.environment.database)
        for job in scan.abandoned:
            self.log({"event": "abandoned", "job_id": job.job_id, "session_id": _session_id(job), "status": "interrupted"})
        seen: set[str] = set()
        while not self.stop.is_set():
            waiting = drive(self.flow.waiting(self.concurrency * 4), self.environment.database)
            fresh = [job for job in waiting if job.job_id not in seen]
            if not fresh:
                break
            for job in fresh:
                seen.add(job.job_id)
                self._jobs.put(job)
            self._count(waiting=len(fresh))
            count = min(self.concurrency, len(fresh))
            threads = [threading.Thread(target=self._take_jobs, daemon=True) for _ in range(count)]
            for thread in threads:
                thread.start()
            self._await(threads)

    def _await(self, threads: list[threading.Thread]) -> None:
        deadline: float | None = None
        for thread in threads:
            while thread.is_alive():
                thread.join(0.05)
                if self.stop.is_set():
                    deadline = deadline or time.monotonic() + self.patience
                    if time.monotonic() >= deadline:
                        self._give_back()
                        return

    def _take_jobs(self) -> None:
        while not self.stop.is_set():
            try:
                waiting = self._jobs.get_nowait()
            except queue.Empty:
                return
            self._count(waiting=-1)
            started = time.monotonic()
            try:
                job = drive(self.flow.claim(waiting), self.environment.database)
                if job is None:
                    continue
                with self._lock:
                    self._running[job.job_id] = job
                self._count(running=1)
                outcome = drive(self.flow.run(job), self.environment.database)
                self._finish(job, started, outcome)
            except SessionStoreError as error:
                self._finish(waiting, started, None, error)

    def _finish(
        self,
        job: CompactionRecord,
        started: float,
        outcome: CompactionOutcome | None,
        error: SessionStoreError | None = None,
    ) -> None:
        with self._lock:
            was_running = self._running.pop(job.job_id, None) is not None
            if job.job_id in self._handed_back:
                return
        failed = outcome.status in _FAILED if outcome is not None else error is not None and not isinstance(error, _OVERTAKEN)
        self._count(running=-1 if was_running else 0, done=1, failed=int(failed))
        status = "aborted" if error is not None else "noop" if outcome is None else outcome.status
        self.log(
            {
                "event": "job",
                "job_id": job.job_id,
                "session_id": _session_id(job),
                "continuation_id": None if outcome is None else outcome.continuation_id,
                "status": status,
                "reason": str(error) if error is not None else "no longer due" if outcome is None else outcome.reason,
                "attempts": job.attempts,
                "tokens_before": None if outcome is None else outcome.tokens_before,
                "tokens_after": None if outcome is None else outcome.tokens_after,
                "summarizer": None if outcome is None else outcome.summarizer,
                "degraded": outcome is not None and outcome.degraded,
                "seconds": round(time.monotonic() - started, 3),
            }
        )

    def _give_back(self) -> None:
        with self._lock:  # a job that comes to its end meanwhile waits to say so
            for job in self._running.values():
                if drive(self.flow.hand_back(job), self.environment.database):
                    self._handed_back.add(job.job_id)
                    self.log({"event": "handed_back", "job_id": job.job_id, "session_id": _session_id(job), "status": "queued"})

    def _count(self, *, waiting: int = 0, running: int = 0, done: int = 0, failed: int = 0) -> None:
        with self._lock:
            now = self._tally
            self._tally = Tally(now.waiting + waiting, now.running + running, now.done + done, now.failed + failed)
            self.progress(self._tally)


def print_record(record: dict[str, Any]) -> None:
    """Write a record as one line of JSON on stderr, with the time in UTC first."""
    line = json.dumps({"at": iso_time(time.time()), **record})
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def _session_id(job: CompactionRecord) -> str:
    return session_id(job.lineage_id, job.generation)
