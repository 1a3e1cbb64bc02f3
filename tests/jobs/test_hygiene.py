"""Hygiene: who is due is found by counters, waits for its grace, and is compacted once."""
from __future__ import annotations

from collections.abc import Iterator

import pytest

from sessionstore import CompactionHooks, CompactionPolicy, Session, SessionStore, SummarizerError
from sessionstore.domain.back_off import FIRST_PAUSE, LONGEST_PAUSE, pause_after
from sessionstore.domain.hygiene import DEFAULT_GRACE, MOST_MESSAGES
from tests.conftest import Clock
from tests.counters import PieceCounter
from tests.store.conversations import SMALL, WINDOW, query_plans, rows_of, sent_work, statements, talk


@pytest.fixture
def counted(database_url: str, clock: Clock) -> Iterator[SessionStore]:
    """A store whose counter costs nothing."""
    with SessionStore.open(database_url, clock=clock, counter=PieceCounter()) as opened:
        yield opened


def due(store: SessionStore, name: str, *, window: int = WINDOW, count: int = 60) -> Session:
    """A session above its threshold and below the hygiene ratio."""
    session = store.create_session(name, context_window=window)
    session.append(talk(count))
    tokens = session.pressure().tokens
    session.set_model("m", int(tokens / 0.6))
    return session


def jobs(store: SessionStore, name: str) -> list[str]:
    return [job.status for job in store.lineage(name).compactions]


def passed(store: SessionStore, **asked: object) -> list[tuple[str, str]]:
    results = store.hygiene(policy=SMALL, **asked)  # type: ignore[arg-type]  # the caller's own
    return sorted((result.outcome.session_id, result.status) for result in results)


def test_a_session_that_is_due_waits_for_its_grace_and_is_compacted_then(counted: SessionStore, clock: Clock) -> None:
    due(counted, "a")
    counted.create_session("small", context_window=WINDOW).append(talk(3))
    assert passed(counted) == []
    assert jobs(counted, "a") == ["queued"]
    clock.advance(DEFAULT_GRACE - 1)
    assert passed(counted) == []
    clock.advance(1)
    assert passed(counted) == [("a", "committed")]
    assert counted.resume("a").id == "a~2"
    assert [job.trigger for job in counted.lineage("a").compactions] == ["hygiene"]
    assert passed(counted) == []
    assert jobs(counted, "small") == []
    assert list(counted.doctor()) == []


def test_the_grace_counts_from_when_it_was_seen_due_also_while_it_is_written_to(
    counted: SessionStore, clock: Clock
) -> None:
    session = due(counted, "a")
    passed(counted)
    for number in range(6):
        clock.advance(DEFAULT_GRACE / 5)
        session.append(talk(1, start=100 + number))
    assert passed(counted) == [("a", "committed")]


def test_a_session_that_has_long_been_quiet_is_compacted_in_one_pass(counted: SessionStore, clock: Clock) -> None:
    due(counted, "a")
    clock.advance(86_400)
    assert passed(counted) == [("a", "committed")]


def test_above_the_hygiene_ratio_nobody_waits(counted: SessionStore) -> None:
    session = due(counted, "a")
    session.set_model("m", int(session.pressure().tokens / 0.9))
    assert passed(counted) == [("a", "committed")]


def test_a_session_with_very_many_messages_is_compacted_whatever_its_tokens(counted: SessionStore) -> None:
    session = counted.create_session("crowded", context_window=10_000_000)
    roles = ("user", "assistant")
    session.append([{"role": roles[n % 2], "content": f"line {n} of a long talk"} for n in range(MOST_MESSAGES + 1)])
    assert not session.pressure().due
    assert passed(counted) == [("crowded", "committed")]
    assert counted.resume("crowded").record().flush_cursor < 100


def test_a_session_whose_window_is_unknown_is_left_alone(counted: SessionStore, clock: Clock) -> None:
    counted.create_session("a").append(talk(400))
    clock.advance(86_400)
    assert passed(counted) == []
    assert jobs(counted, "a") == []


def test_one_that_the_agent_compacts_in_its_grace_leaves_no_job_behind(counted: SessionStore, clock: Clock) -> None:
    session = due(counted, "a")
    passed(counted)
    assert session.compact(policy=SMALL).status == "committed"
    assert [(job.status, job.trigger) for job in counted.lineage("a").compactions] == [("committed", "manual")]
    clock.advance(86_400)
    assert passed(counted) == []


def test_one_that_is_no_longer_due_is_let_off(counted: SessionStore, clock: Clock) -> None:
    session = due(counted, "a")
    passed(counted)
    session.set_model("larger", 1_000_000)
    clock.advance(DEFAULT_GRACE)
    assert passed(counted) == []
    assert [(job.status, job.reason) for job in counted.lineage("a").compactions] == [
        ("noop", "its session is no longer due")
    ]


def test_a_session_that_ends_takes_its_waiting_job_along(counted: SessionStore) -> None:
    for name, reason in (("a", "finished"), ("b", "idle")):
        due(counted, name)
        passed(counted)
        counted.resume(name).end(reason)  # type: ignore[arg-type]  # from a table
        assert jobs(counted, name) == ["interrupted"]
    due(counted, "c")
    passed(counted)
    counted.resume("c").rewind(3)
    assert jobs(counted, "c") == ["interrupted"]
    assert list(counted.doctor()) == []


def test_what_was_decided_is_not_decided_again_before_there_is_something_new(counted: SessionStore, clock: Clock) -> None:
    """STUCK-1: never loops."""
    session = counted.create_session("stuck", context_window=2_000)
    session.append({"role": "user", "content": "one request that is far too long " * 400})
    clock.advance(86_400)
    assert passed(counted) == [("stuck", "stuck")]
    before = rows_of(counted)
    clock.advance(86_400)
    assert passed(counted) == []
    assert rows_of(counted) == before
    session.append(talk(1))
    clock.advance(86_400)
    assert passed(counted) == [("stuck", "stuck")]


def test_an_attempt_that_broke_off_is_tried_again_after_longer_and_longer_pauses(database_url: str, clock: Clock) -> None:
    broken = [3]

    def build(_context: object) -> str:
        broken[0] -= 1
        if broken[0] >= 0:
            raise SummarizerError("the builder is away")
        return "You are back."

    with SessionStore.open(
        database_url, clock=clock, counter=PieceCounter(), hooks=CompactionHooks(build_system_prompt=build)
    ) as store:
        due(store, "a")
        clock.advance(86_400)
        for number in (1, 2, 3):
            assert passed(store) == []
            assert jobs(store, "a") == ["aborted"] * number
            clock.advance(pause_after(number) - 1)
            assert passed(store) == []
            assert jobs(store, "a") == ["aborted"] * number + ["queued"]
            clock.advance(1)
        assert passed(store) == [("a", "committed")]
        assert [job.attempts for job in store.lineage("a").compactions] == [1, 2, 3, 4]


def test_pauses_double_up_to_an_hour() -> None:
    assert [pause_after(number) for number in (1, 2, 3)] == [FIRST_PAUSE, 2 * FIRST_PAUSE, 4 * FIRST_PAUSE]
    assert pause_after(1_000) == LONGEST_PAUSE


def test_a_pass_reads_bodies_only_of_what_was_never_counted(sqlite_url: str, clock: Clock) -> None:
    """READ-1: the second pass reads counters, along the index of tips, and no message."""
    with SessionStore.open(sqlite_url, clock=clock, counter=PieceCounter()) as store:
        for number in range(5):
            store.create_session(f"s{number}", context_window=1_000_000, system_prompt="p").append(talk(4))
        with statements(store) as first:
            passed(store)
        assert any("messages.body" in statement for statement in first)
        with statements(store) as second:
            passed(store)
        work = sent_work(second)
        assert not any("body" in statement for statement in work)
        plans = query_plans(store, work)
        assert any("ix_sessions_activity" in plan for plan in plans)
        assert sum("uq_compactions_live" in plan for plan in plans) >= 1
        assert not any("SCAN messages" in plan for plan in plans)


def test_a_pass_counts_a_bounded_number_of_sessions_and_the_next_goes_on(counted: SessionStore) -> None:
    from sessionstore.flows.hygiene_flow import HygieneFlow
    from sessionstore.operations.steps import drive

    for number in range(5):
        counted.create_session(f"s{number}", context_window=1_000_000).append(talk(4))
    flow = HygieneFlow(counted._flow.environment, policy=CompactionPolicy(), summarizer=None, grace=1.0)
    measured = [drive(flow.scan(most_measured=2), counted._database).measured for _ in range(4)]
    assert measured == [2, 2, 1, 0]
