"""The worker: jobs in threads, a record a job, and a stop that leaves no session held."""
from __future__ import annotations

import json
import signal
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from sessionstore import SessionStore, StoreLockedError
from sessionstore.cli.working import Tally, Worker
from sessionstore.domain.summarizing import Summarizer
from sessionstore.flows.hygiene_flow import HygieneFlow
from tests.cli.running import CommandLine
from tests.conftest import Clock
from tests.counters import PieceCounter
from tests.store.conversations import SMALL, WINDOW, talk

SUMMARY = "Critical Context: the modules were looked at and mended, one after the other."


def worker(store: SessionStore, summarizer: Summarizer | None, log: list[dict[str, Any]], **asked: Any) -> Worker:
    environment = store._flow.environment
    return Worker(environment, HygieneFlow(environment, policy=SMALL, summarizer=summarizer, grace=0.0), log.append, **asked)


def fill(store: SessionStore, *names: str) -> None:
    for name in names:
        store.create_session(name, context_window=WINDOW).append(talk(60))


def test_jobs_run_at_the_same_time_each_in_a_thread(database_url: str, clock: Clock) -> None:
    together = threading.Barrier(3, timeout=30)

    def model(_prompt: str) -> str:
        together.wait()
        return SUMMARY

    log: list[dict[str, Any]] = []
    with SessionStore.open(database_url, clock=clock, counter=PieceCounter()) as store:
        fill(store, "a", "b", "c")
        tally = worker(store, model, log, concurrency=3).run(once=True)
        assert (tally.done, tally.failed, tally.running, tally.waiting) == (3, 0, 0, 0)
        assert {store.resume(name).id for name in "abc"} == {"a~2", "b~2", "c~2"}
    assert sorted(record["session_id"] for record in log) == ["a", "b", "c"]
    assert {record["status"] for record in log} == {"committed"}
    assert all(record["tokens_after"] < record["tokens_before"] for record in log)


def test_two_workers_share_the_jobs_and_none_is_done_twice(database_url: str, clock: Clock) -> None:
    log: list[dict[str, Any]] = []
    names = [f"s{number}" for number in range(8)]
    with SessionStore.open(database_url, clock=clock, counter=PieceCounter()) as store:
        fill(store, *names)
        workers = [worker(store, None, log, concurrency=2) for _ in range(2)]
        threads = [threading.Thread(target=one.run, kwargs={"once": True}) for one in workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [store.resume(name).id for name in names] == [f"{name}~2" for name in names]
        assert [[job.status for job in store.lineage(name).compactions] for name in names] == [["committed"]] * 8


def test_a_worker_that_is_told_to_stop_lets_its_job_finish(database_url: str, clock: Clock) -> None:
    log: list[dict[str, Any]] = []
    with SessionStore.open(database_url, clock=clock, counter=PieceCounter()) as store:
        fill(store, "a", "b")
        stopping: list[Worker] = []

        def model(_prompt: str) -> str:
            stopping[0].stop.set()
            return SUMMARY

        stopping.append(worker(store, model, log))
        assert stopping[0].run(once=False).done == 1
        assert sorted(len(store.lineage(name).sessions) for name in "ab") == [1, 2]
        assert sorted(job.status for name in "ab" for job in store.lineage(name).compactions) == ["committed", "queued"]


def test_a_job_that_takes_too_long_to_stop_goes_back_into_the_queue(database_url: str, clock: Clock) -> None:
    """ATOM-2: whoever was handed back commits nothing, the next worker begins at once."""
    log: list[dict[str, Any]] = []
    let_go = threading.Event()
    with SessionStore.open(database_url, clock=clock, counter=PieceCounter()) as store:
        fill(store, "a")
        stopping: list[Worker] = []

        def model(_prompt: str) -> str:
            stopping[0].stop.set()
            let_go.wait(30)
            return SUMMARY

        stopping.append(worker(store, model, log, patience=0.1))
        stopping[0].run(once=False)
        assert [job.status for job in store.lineage("a").compactions] == ["queued"]
        let_go.set()
        while any(thread.name.startswith("sessionstore-lease") for thread in threading.enumerate()):
            time.sleep(0.01)
        assert store.resume("a").id == "a"
        assert worker(store, None, log).run(once=True).done == 1
        assert store.resume("a").id == "a~2"
    assert [record["event"] for record in log] == ["handed_back", "job"]


def test_a_session_that_is_deleted_under_its_job_is_no_failure(database_url: str, clock: Clock) -> None:
    log: list[dict[str, Any]] = []
    with SessionStore.open(database_url, clock=clock, counter=PieceCounter()) as store:
        fill(store, "a")

        def model(_prompt: str) -> str:
            store.delete("a")
            return SUMMARY

        tally = worker(store, model, log).run(once=True)
        assert (tally.done, tally.failed, tally.running) == (1, 0, 0)
        assert list(store.doctor()) == []
    assert [(record["status"], record["continuation_id"]) for record in log] == [("aborted", None)]


def test_the_tally_is_told_after_every_change(database_url: str, clock: Clock) -> None:
    told: list[Tally] = []
    with SessionStore.open(database_url, clock=clock, counter=PieceCounter()) as store:
        fill(store, "a")
        worker(store, None, [], progress=told.append).run(once=True)
    assert told == [Tally(1, 0, 0, 0), Tally(0, 0, 0, 0), Tally(0, 1, 0, 0), Tally(0, 0, 1, 0)]


def test_the_command_does_one_pass_and_writes_a_line_of_json_a_job(tmp_path: Path) -> None:
    program = CommandLine(tmp_path / "worker.db")
    with SessionStore.open(f"sqlite:///{program.database}", counter=PieceCounter()) as store:
        fill(store, "a")
    policy = tmp_path / "policy.toml"
    policy.write_text("head_messages = 2\ntail_messages = 4\n", encoding="utf-8")
    result = program.child("worker", "--once", "--grace", "0", "--policy", str(policy))
    assert result.returncode == 0, result.stderr
    records = [json.loads(line) for line in result.stderr.splitlines()]
    assert [(record["event"], record["session_id"], record["status"]) for record in records] == [("job", "a", "committed")]
    again = program.child("worker", "--once")
    assert (again.returncode, again.stderr) == (0, "")


def test_a_pass_in_which_a_job_is_stuck_gives_exit_status_3(tmp_path: Path) -> None:
    program = CommandLine(tmp_path / "worker.db")
    with SessionStore.open(f"sqlite:///{program.database}", counter=PieceCounter()) as store:
        store.create_session("a", context_window=2_000).append({"role": "user", "content": "far too long " * 2_000})
    result = program.child("worker", "--once", "--grace", "0")
    assert result.returncode == 3
    assert json.loads(result.stderr)["status"] == "stuck"


def test_a_single_pass_that_cannot_begin_gives_exit_status_1_and_one_line(tmp_path: Path) -> None:
    program = CommandLine(tmp_path / "absent" / "worker.db")
    result = program.child("worker", "--once")
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1


def test_a_single_pass_over_a_locked_file_is_an_error_and_not_an_empty_pass(sqlite_url: str) -> None:
    with SessionStore.open(sqlite_url, busy_timeout=0.1) as store:
        fill(store, "a")
        blocker = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
        blocker.execute("BEGIN IMMEDIATE")
        log: list[dict[str, Any]] = []
        with pytest.raises(StoreLockedError):
            worker(store, None, log).run(once=True)
        blocker.execute("ROLLBACK")
        blocker.close()
        assert worker(store, None, log).run(once=True).done == 1


def test_sigterm_ends_a_worker_that_waits_for_its_next_pass_with_exit_status_0(tmp_path: Path) -> None:
    program = CommandLine(tmp_path / "worker.db")
    with SessionStore.open(f"sqlite:///{program.database}", counter=PieceCounter()) as store:
        fill(store, "a")
    with program.spawn("worker", "--grace", "0", "--interval", "3600") as process:
        assert process.stderr is not None
        assert json.loads(process.stderr.readline())["session_id"] == "a"
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0
