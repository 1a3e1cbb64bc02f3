"""An attempt that does not commit leaves everything as it was, and never blocks the next for longer than its lease."""
from __future__ import annotations

import multiprocessing
import os
from collections import Counter
from dataclasses import replace
from itertools import product

import pytest

from sessionstore import (
    CompactionHooks,
    CompactionInProgressError,
    CompactionPlan,
    CompactionVetoedError,
    LeaseLostError,
    SessionStore,
    SummarizerError,
)
from tests.conftest import Clock
from tests.store.conversations import SMALL, compacted, counts_of, prepared, rows_of, talk

PROSE = "## Goal\nThe user wants every module fixed. Most of them are done; the last answers say what is left to do."
NEXT = {"role": "user", "content": "next"}


@pytest.mark.parametrize(
    ("failure", "on_failure"),
    [*product(["raises", "empty", "blank"], ["fallback", "abort"]), ("echo", "abort")],
)
def test_a_failing_summariser_leaves_the_rows_as_they_were(store: SessionStore, on_failure: str, failure: str) -> None:
    """ATOM-3, FAIL-1: apart from the job's own row and the cool-down; then ``raise_for_status`` raises."""
    said = prepared(store)
    before = rows_of(store)

    def broken(prompt: str) -> str:
        if failure == "raises":
            raise TimeoutError("the model did not answer")
        return {"empty": "", "blank": " \n ", "echo": prompt}[failure]

    policy = replace(SMALL, on_failure=on_failure)  # type: ignore[arg-type]  # both words are of the closed set
    result = store.session("a").compact(policy=policy, summarizer=broken)
    assert result.status == ("aborted" if on_failure == "abort" else "deferred")
    after = rows_of(store)
    assert len(after.pop("compactions")) == len(before.pop("compactions")) + 1
    assert len(after["lineages"]) == len(before["lineages"]) == 1
    assert {**after, "lineages": []} == {**before, "lineages": []}
    (job,) = store.lineage("a").compactions
    assert (job.status, job.finished_at is not None, job.lease_expires_at) == (result.status, True, None)
    with pytest.raises(SummarizerError):
        result.raise_for_status()
    assert (result.messages, result.session.id) == (said, "a")
    assert store.session("a").flush([*said, NEXT]) == [30]


def test_an_echo_gives_way_to_the_extractive_summary(store: SessionStore) -> None:
    """FAIL-1: what the model gave back is not stored; asking it again would give the same, so nothing is put off."""
    prepared(store)
    result = store.session("a").compact(policy=SMALL, summarizer=lambda prompt: prompt)
    assert (result.status, result.degraded, result.outcome.summarizer) == ("committed", True, "extractive")
    assert "material" not in (result.summary or "")


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError])
def test_an_exception_settles_the_job_at_once(
    store: SessionStore, database_url: str, error: type[BaseException]
) -> None:
    """ATOM-3: the next attempt doesn't wait for a lease."""
    prepared(store)

    def interrupted(_messages: object) -> None:
        raise error

    hooks = CompactionHooks(flush_memories=interrupted)
    with SessionStore.open(database_url, hooks=hooks, clock=lambda: 1_800_000_000.0) as other, pytest.raises(error):
        other.session("a").compact(policy=SMALL)
    (job,) = store.lineage("a").compactions
    assert (job.status, job.error, job.finished_at is not None) == ("aborted", error.__name__, True)
    compacted(store.session("a"))


def test_a_veto_of_a_hook_changes_nothing(database_url: str) -> None:
    """ATOM-3: before anything is asked of a model."""
    plans: list[CompactionPlan] = []

    def veto(plan: CompactionPlan) -> None:
        plans.append(plan)
        raise CompactionVetoedError("a deployment is running")

    with SessionStore.open(database_url, hooks=CompactionHooks(before_compact=veto)) as store:
        said = prepared(store)
        before = rows_of(store, without=frozenset({"compactions"}))
        result = store.session("a").compact(policy=SMALL, summarizer=lambda _prompt: pytest.fail("asked a model"))
        assert (result.status, result.reason, result.messages) == ("aborted", "a deployment is running", said)
        assert rows_of(store, without=frozenset({"compactions"})) == before
        assert plans[0].middle_messages > 10
        with pytest.raises(CompactionVetoedError, match="a deployment is running"):
            result.raise_for_status()


def test_a_second_compaction_at_the_same_time_is_refused(store: SessionStore, database_url: str) -> None:
    """LIN-3, ATOM-2: by a typed error that names the job, from the same process and from another one."""
    prepared(store)
    refused: list[CompactionInProgressError] = []
    with SessionStore.open(database_url, clock=lambda: 1_800_000_001.0) as other:

        def rival(_prompt: str) -> str:
            for rivals_store in (store, other):
                with pytest.raises(CompactionInProgressError) as caught:
                    rivals_store.session("a").compact(policy=SMALL, force=True)
                refused.append(caught.value)
            return PROSE

        result = compacted(store.session("a"), summarizer=rival)
    assert {error.job_id for error in refused} == {result.job_id}
    assert {error.session_id for error in refused} == {"a"}
    assert [job.status for job in store.lineage("a").compactions] == ["committed"]


def test_a_worker_that_lost_its_lease_cannot_commit_over_the_next(store: SessionStore, clock: Clock) -> None:
    """ATOM-2: the late one gets a typed error, the newer continuation stands."""
    prepared(store)

    def slow(_prompt: str) -> str:
        clock.advance(3_600)
        compacted(store.session("a"))
        return PROSE

    with pytest.raises(LeaseLostError):
        store.session("a").compact(policy=SMALL, summarizer=slow)
    trace = store.lineage("a")
    assert [row.session_id for row in trace.sessions] == ["a", "a~2"]
    assert sorted(job.status for job in trace.compactions) == ["committed", "interrupted"]


def compact_and_die(url: str, at: float) -> None:
    store = SessionStore.open(url, clock=lambda: at)
    store.session("a").compact(policy=SMALL, summarizer=lambda _prompt: os._exit(9))


def test_a_dead_workers_job_blocks_for_its_lease_and_no_longer(store: SessionStore, clock: Clock, database_url: str) -> None:
    """ATOM-1: then it is settled as interrupted and the next one goes on; appends never waited."""
    said = prepared(store)
    child = multiprocessing.get_context("spawn").Process(target=compact_and_die, args=(database_url, clock.at))
    child.start()
    child.join()
    assert child.exitcode == 9
    session = store.session("a")
    assert session.context() == said
    with pytest.raises(CompactionInProgressError):
        session.compact(policy=SMALL)
    assert session.append(NEXT) == [30]
    clock.advance(3_600)
    result = compacted(session)
    assert result.session.last(1) == [NEXT]
    dead, alive = store.lineage("a").compactions
    assert (dead.status, alive.status) == ("interrupted", "committed")
    assert dead.finished_at == clock.at
    assert alive.fencing_token > dead.fencing_token


def test_saving_too_little_writes_a_strike_and_no_more(store: SessionStore, database_url: str) -> None:
    """THRASH-1, SHRINK-1, ATOM-3: two in a row put automatic compaction off until there is new work."""
    call = {"id": "c", "type": "function", "function": {"name": "terminal", "arguments": '{"command":"ls"}'}}
    listing = {"role": "tool", "tool_call_id": "c", "content": "file\n" * 60}
    said = [*talk(4), {"role": "assistant", "content": None, "tool_calls": [call]}, listing, *talk(24, start=4)]
    session = store.create_session("a", context_window=3_000)
    session.append(said)
    session.pressure()
    jobs_and_strikes = frozenset({"compactions", "lineages"})
    before = rows_of(store, without=jobs_and_strikes)
    pruning = replace(SMALL, summarize=False, keep_tool_results=0)
    for strikes in (1, 2):
        result = session.compact(policy=pruning, trigger="auto")
        assert (result.status, store.lineage("a").lineage.strikes) == ("aborted", strikes), result.reason
        assert (result.session.id, result.messages) == ("a", said)
        result.raise_for_status()
    result = session.compact(policy=pruning, trigger="auto")
    assert (result.status, store.lineage("a").lineage.strikes) == ("deferred", 2)
    with SessionStore.open(database_url) as other:
        assert other.session("a").compact(policy=SMALL, trigger="auto").status == "deferred"
    assert rows_of(store, without=jobs_and_strikes) == before
    session.append(talk(6, start=40))
    assert session.compact(policy=SMALL, trigger="auto").status == "committed"
    assert store.lineage("a").lineage.strikes == 0


def test_a_setting_that_changes_while_the_model_thinks_stops_the_commit(store: SessionStore) -> None:
    """ATOM-3: pins and settings move the plan's revision; appends do not."""
    prepared(store)

    def pinning(_prompt: str) -> str:
        store.session("a").pin(10)
        return PROSE

    before = counts_of(store)
    with pytest.raises(Exception, match="nothing was written") as caught:
        store.session("a").compact(policy=SMALL, summarizer=pinning)
    assert type(caught.value).__name__ == "ConflictError"
    assert counts_of(store) == before + Counter(compactions=1)
    result = compacted(store.session("a"))
    assert 10 in {row.seq for row in result.session.context_rows()}
