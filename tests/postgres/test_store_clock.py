"""Leases go by the server's clock: a machine whose clock is wrong takes no session away, and waits for no dead holder."""
from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection, event, text

from sessionstore import AsyncSessionStore, CompactionInProgressError, Session, SessionStore
from sessionstore.compaction.claiming import LEASE_SECONDS, claim
from sessionstore.compaction.heartbeat import Heartbeat
from sessionstore.domain.records import CompactionRecord
from sessionstore.storage.compaction_rows import find_compaction
from tests.store.conversations import SMALL, WINDOW, talk

HOUR = 3_600.0
NOTES = "Critical Context: the modules were looked at and mended, one after the other."


@pytest.fixture(params=[HOUR, -HOUR], ids=["an hour ahead", "an hour behind"])
def wrong_clock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[], float]:
    """Set this machine's clock wrong."""
    right = time.time
    monkeypatch.setattr(time, "time", lambda: right() + request.param)
    return right


def begin(store: SessionStore) -> Session:
    session = store.create_session("a", context_window=WINDOW)
    session.append(talk(30))
    return session


def held_elsewhere(session: Session, store: SessionStore, at: float) -> CompactionRecord:
    """A claim by a machine whose clock is right."""
    record = session.record()
    given: dict[str, Any] = {"job_id": "other", "trigger": "manual", "policy": SMALL, "focus": None, "owner": "other"}
    return store._database.write(lambda c: claim(c, record, now=at, **given))


def test_a_live_lease_is_respected_and_a_dead_one_is_not(postgres_url: str, wrong_clock: Callable[[], float]) -> None:
    """ATOM-1, ATOM-2"""
    with SessionStore.open(postgres_url) as store:
        session = begin(store)
        held_elsewhere(session, store, wrong_clock())
        with pytest.raises(CompactionInProgressError):
            session.compact(policy=SMALL)
        store._database.write(_expire)
        assert session.compact(policy=SMALL).status == "committed"
        assert [job.status for job in store.lineage("a").compactions] == ["interrupted", "committed"]


def test_a_job_is_held_for_as_long_as_everybody_thinks(postgres_url: str, wrong_clock: Callable[[], float]) -> None:
    """ATOM-2: its lease, its signs of life and its end have the server's time."""
    seen: list[float] = []
    with SessionStore.open(postgres_url) as store:

        def look(_prompt: str) -> str:
            (job,) = store.lineage("a").compactions
            assert job.lease_expires_at is not None
            seen.append(job.lease_expires_at)
            heartbeat = Heartbeat(store._flow.environment, job, every=0.01)
            heartbeat.start()
            while not (found := store._database.read(lambda c: find_compaction(c, "a", job.job_id))) or (
                found.lease_expires_at == job.lease_expires_at
            ):
                assert found
            heartbeat.stop()
            seen.append(found.lease_expires_at or 0.0)
            return NOTES

        begun = wrong_clock()
        assert begin(store).compact(policy=SMALL, summarizer=look).status == "committed"
        ended = wrong_clock()
        (job,) = store.lineage("a").compactions
    assert all(begun < end - LEASE_SECONDS < ended for end in seen)
    assert job.finished_at is not None
    assert begun < job.finished_at < ended


def test_a_pause_after_a_failed_summary_is_over_at_the_same_time_for_all(
    postgres_url: str, wrong_clock: Callable[[], float]
) -> None:
    """THRASH-1"""
    with SessionStore.open(postgres_url) as store:
        begun = wrong_clock()
        result = begin(store).compact(policy=SMALL, summarizer=lambda _prompt: "")
        assert result.status == "deferred"
        assert result.retry_at is not None
        assert begun < result.retry_at - SMALL.cooldown_seconds < wrong_clock()


def test_appends_ask_no_server_for_the_time(postgres_url: str) -> None:
    asked: list[str] = []
    with SessionStore.open(postgres_url) as store:
        session = begin(store)

        def watch(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
            asked.append(statement)

        engine = store._database._engine
        event.listen(engine, "before_cursor_execute", watch)
        session.append(talk(2))
        session.flush([*session.context(), {"role": "user", "content": "And the next?"}])
        assert not [statement for statement in asked if "clock_timestamp" in statement]
        session.compact(policy=SMALL)
        assert [statement for statement in asked if "clock_timestamp" in statement]


def test_the_async_front_goes_by_the_server_too(postgres_url: str, wrong_clock: Callable[[], float]) -> None:
    async def run() -> None:
        with SessionStore.open(postgres_url) as store:
            held_elsewhere(begin(store), store, wrong_clock())
        async with await AsyncSessionStore.open(postgres_url) as awaited:
            session = await awaited.resume("a")
            with pytest.raises(CompactionInProgressError):
                await session.compact(policy=SMALL)

    asyncio.run(run())


def test_a_clock_that_is_passed_in_is_the_only_one(postgres_url: str) -> None:
    at = 1_000_000_000.0
    with SessionStore.open(postgres_url, clock=lambda: at) as store:
        begin(store).compact(policy=SMALL)
        (job,) = store.lineage("a").compactions
    assert (job.started_at, job.finished_at) == (at, at)


def _expire(connection: Connection) -> None:
    connection.execute(
        text("UPDATE compactions SET lease_expires_at = :then WHERE lineage_id = 'a' AND job_id = 'other'"),
        {"then": int((_server_time(connection) - 1) * 1_000_000)},
    )


def _server_time(connection: Connection) -> float:
    return float(connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())
