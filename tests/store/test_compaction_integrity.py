"""A compaction is all or nothing, stores each body once, and stands in nobody's way."""
from __future__ import annotations

import multiprocessing
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

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
from tests.store.conversations import SMALL, WINDOW, Message, compacted, counts_of, rows_of, talk

PROSE = "## Goal\nThe user wants every module fixed. Most of them are done; the last answers say what is left to do."
NEXT = {"role": "user", "content": "next"}


def prepared(store: SessionStore, **given: object) -> list[Message]:
    """Session ``a`` with thirty messages that were counted, so that no later attempt has a count to write."""
    session = store.create_session("a", context_window=WINDOW, **given)  # type: ignore[arg-type]  # whatever the test asks
    said = talk(30)
    session.append(said)
    session.pressure()
    return said


def test_ten_compactions_in_a_row_store_each_body_once(store: SessionStore) -> None:
    """LOG-1, NEST-1: rows grow by what was said and one summary each, and one summary is in the context."""
    session = store.create_session("a", context_window=WINDOW, system_prompt="You are a coder.")
    said: list[Message] = []
    for turn in range(10):
        new = talk(20, start=20 * turn)
        session.flush([*session.context(), *new])
        said += new
        session = compacted(session).session
        rows = session.context_rows()
        assert [row.kind for row in rows].count("summary") == 1
        assert len(rows) < 12
    counts = counts_of(store)
    assert (counts["messages"], counts["sessions"], counts["lineages"]) == (210, 11, 1)
    assert counts["compactions"] == 10
    assert counts["context_spans"] <= 11 * 5
    log = session.history(0, 999)
    assert [row.message for row in log if row.kind == "message"] == said
    bodies = Counter(row.body for row in log)
    assert max(bodies.values()) == 1
    summaries = [row.seq for row in log if row.kind == "summary"]
    assert len(summaries) == 10
    covered = {row.seq for row in session.expand(summaries[-1])}
    kept = {row.seq for row in session.context_rows()}
    assert covered | kept == {row.seq for row in log if row.kind == "message"} | {summaries[-1]}


def test_summaries_stay_of_bounded_size(store: SessionStore) -> None:
    """NEST-1"""
    session = store.create_session("a", context_window=WINDOW)
    sizes = []
    for turn in range(10):
        session.append(talk(24, start=24 * turn))
        result = compacted(session)
        session = result.session
        sizes.append(len(result.summary or ""))
    assert max(sizes) < 4 * SMALL.summary_min_tokens * 2


def test_a_continuation_inherits_what_the_root_was_given(store: SessionStore) -> None:
    """LIN-5, LIN-2: and the parent keeps its prompt and its context."""
    prepared(
        store, title="Fix", model="m", profile="anthropic", namespace="n", owner="ana", source="cli", metadata={"k": [1, None]},
        tool_schema_tokens=77, system_prompt_parts={"identity": "You are a coder.", "skills": "git"},
    )
    parent = store.session("a")
    parent.record_usage(prompt=900, completion=50)
    before, prompt, context = parent.record(), parent.system_prompt(), parent.context()
    child = compacted(parent).session.record()
    for name in ("model", "context_window", "profile", "metadata", "tool_schema_tokens", "prompt_tokens_total"):
        assert getattr(child, name) == getattr(before, name), name
    assert (child.parent_session_id, child.edge, child.usage_prompt) == ("a", "compaction", None)
    assert (parent.system_prompt(), parent.context()) == (prompt, context)
    after = parent.record()
    assert after == replace(before, ended_at=after.ended_at, end_reason="compaction", updated_at=after.updated_at)
    lineage = store.lineage("a").lineage
    assert (lineage.title, lineage.namespace, lineage.owner, lineage.source) == ("Fix", "n", "ana", "cli")
    assert store.resume("Fix", namespace="n").system_prompt() != prompt


def test_a_dry_run_changes_nothing(store: SessionStore) -> None:
    """ATOM-3: not a row of any table, not even a count."""
    session = store.create_session("a", context_window=WINDOW)
    said = talk(30)
    session.append(said)
    before = rows_of(store)
    result = session.compact([*said, NEXT], policy=SMALL, dry_run=True, summarizer=lambda _prompt: pytest.fail("asked a model"))
    assert rows_of(store) == before
    assert (result.job_id, result.session.id, result.messages) == (None, "a", said)
    assert result.plan is not None
    assert result.plan.middle_messages > 10


@pytest.mark.parametrize("on_failure", ["fallback", "abort"])
@pytest.mark.parametrize("failure", ["raises", "empty", "blank", "echo"])
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


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError])
def test_an_exception_settles_the_job_at_once(store: SessionStore, error: type[BaseException]) -> None:
    """ATOM-3: the next attempt doesn't wait for a lease."""
    prepared(store)

    def interrupted(_messages: object) -> None:
        raise error

    hooks = CompactionHooks(flush_memories=interrupted)
    with SessionStore.open(store.url, hooks=hooks, clock=lambda: 1_800_000_000.0) as other, pytest.raises(error):
        other.session("a").compact(policy=SMALL)
    (job,) = store.lineage("a").compactions
    assert (job.status, job.error, job.finished_at is not None) == ("aborted", error.__name__, True)
    compacted(store.session("a"))


def test_messages_that_arrive_while_the_model_thinks_stay_in_the_context(store: SessionStore, database_url: str) -> None:
    """ATOM-4: through another store, without waiting, behind the tail; the job's watermark is before them."""
    prepared(store)
    late = talk(3, start=70)

    with SessionStore.open(database_url, busy_timeout=0.5) as other:

        def thinking(prompt: str) -> str:
            assert other.session("a").append(late[:2]) == [30, 31]
            assert other.resume("a").flush([*other.session("a").context(), late[2]]) == [32]
            assert late[0]["content"] not in prompt
            return PROSE

        result = compacted(store.session("a"), summarizer=thinking)
    assert result.messages[-3:] == late
    assert result.session.flush(result.messages) == []
    rows = result.session.context_rows()
    (job,) = store.lineage("a").compactions
    assert (job.watermark, job.summary_seq, [row.seq for row in rows[-3:]]) == (29, 33, [30, 31, 32])
    assert all(last <= 29 for _, last in job.middle)
    assert late[0]["content"] not in (result.summary or "")
    assert store.session("a").context()[-3:] == late


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


def test_a_hook_that_changes_what_it_is_shown_changes_nothing_stored(database_url: str) -> None:
    """LOG-4, LOG-1: neither the log nor the summary is made of what a hook did to its copy."""

    def vandal(messages: object) -> list[str]:
        for message in messages:  # type: ignore[attr-defined]  # a sequence of messages, spoilt on purpose
            message["content"] = "SPOILT"
        return ["a fact"]

    with SessionStore.open(database_url, hooks=CompactionHooks(flush_memories=vandal)) as store:
        said = prepared(store)
        result = compacted(store.session("a"))
        assert [row.message for row in result.session.history(0, 29)] == said
        assert "SPOILT" not in str(result.messages)
        assert "a fact" in (result.system_prompt or "")


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


def test_saving_too_little_writes_a_strike_and_no_more(store: SessionStore) -> None:
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
    with SessionStore.open(store.url) as other:
        assert other.session("a").compact(policy=SMALL, trigger="auto").status == "deferred"
    assert rows_of(store, without=jobs_and_strikes) == before
    session.append(talk(6, start=40))
    assert session.compact(policy=SMALL, trigger="auto").status == "committed"
    assert store.lineage("a").lineage.strikes == 0


def test_compacting_again_without_new_work_is_a_noop(store: SessionStore) -> None:
    """SHRINK-1: and changes nothing but its own job's row."""
    prepared(store)
    session = compacted(store.session("a")).session
    session.pressure()
    before = rows_of(store, without=frozenset({"compactions"}))
    for _ in range(2):
        result = session.compact(policy=SMALL)
        assert (result.status, result.session.id) == ("noop", "a~2")
        result.raise_for_status()
    assert rows_of(store, without=frozenset({"compactions"})) == before


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


def test_the_new_id_is_announced_after_the_commit(tmp_path: Path) -> None:
    """LIN-4: when the hook runs, the continuation is whole for everybody. A file of its own: two stores and a hook share it."""
    url = f"sqlite:///{tmp_path}/announced.db"
    seen: list[tuple[str, str, int]] = []

    def announce(old: str, new: str) -> None:
        with SessionStore.open(url) as other:
            seen.append((old, new, len(other.session(new).context())))
        raise RuntimeError("the hook's own trouble")

    with SessionStore.open(url, hooks=CompactionHooks(after_commit=announce)) as store:
        prepared(store)
        with pytest.raises(RuntimeError, match="own trouble"):
            store.session("a").compact(policy=SMALL)
        assert [(old, new) for old, new, _ in seen] == [("a", "a~2")]
        assert seen[0][2] == store.resume("a").record().flush_cursor
        assert [job.status for job in store.lineage("a").compactions] == ["committed"]
