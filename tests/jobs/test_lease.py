"""A lease: prolonged while its holder lives, settled when it is dead, and never two holders at once."""
from __future__ import annotations

import threading
from typing import Any

import pytest

from sessionstore import CompactionHooks, CompactionInProgressError, LeaseLostError, Session, SessionStore
from sessionstore.compaction.claiming import LEASE_SECONDS, LONGEST_LEASE, claim, prolong
from sessionstore.compaction.heartbeat import Heartbeat
from sessionstore.domain.records import CompactionRecord
from sessionstore.storage.compaction_rows import find_compaction
from tests.conftest import Clock
from tests.store.conversations import SMALL, WINDOW, talk


class Stopped(BaseException):
    """Ends an attempt the way a dying process does: nothing of the library catches it before the database is left behind."""


def begin(store: SessionStore, name: str = "a", *, count: int = 30) -> Session:
    session = store.create_session(name, context_window=WINDOW)
    session.append(talk(count))
    return session


def claimed(store: SessionStore, session: Session, clock: Clock, **asked: Any) -> CompactionRecord:
    """Claim a session the way a process does that dies right after."""
    record = session.record()
    policy = asked.pop("policy", SMALL)
    given = {"job_id": "dead", "trigger": "manual", "policy": policy, "focus": None, "owner": "dead", "now": clock.at, **asked}
    return store._database.write(lambda c: claim(c, record, **given))


def jobs(store: SessionStore, name: str = "a") -> list[tuple[str, int]]:
    return [(job.status, job.attempts) for job in store.lineage(name).compactions]


def test_a_held_session_is_refused_and_an_abandoned_one_is_taken_over(store: SessionStore, clock: Clock) -> None:
    """ATOM-1, ATOM-2"""
    session = begin(store)
    claimed(store, session, clock)
    clock.advance(LEASE_SECONDS - 1)
    with pytest.raises(CompactionInProgressError) as caught:
        session.compact(policy=SMALL)
    assert (caught.value.job_id, caught.value.lease_owner) == ("dead", "dead")
    clock.advance(1)
    assert session.compact(policy=SMALL).status == "committed"
    assert jobs(store) == [("interrupted", 1), ("committed", 2)]


def test_a_sign_of_life_prolongs_the_lease_and_no_lease_holds_for_ever(store: SessionStore, clock: Clock) -> None:
    session = begin(store)
    job = claimed(store, session, clock)
    begun = clock.at
    while store._database.write(lambda c: prolong(c, job, now=clock.at)):
        clock.advance(LEASE_SECONDS / 2)
    assert clock.at == begun + LONGEST_LEASE
    assert session.compact(policy=SMALL).status == "committed"


def test_a_holder_whose_lease_ran_out_commits_nothing(store: SessionStore, clock: Clock) -> None:
    """ATOM-2: not even when nobody else took the session over."""
    session = begin(store)
    context = session.context()

    def slow(_prompt: str) -> str:
        clock.advance(LEASE_SECONDS + 1)
        return "Critical Context: the modules were looked at and mended, one after the other."

    with pytest.raises(LeaseLostError):
        session.compact(policy=SMALL, summarizer=slow)
    assert session.context() == context
    assert jobs(store) == [("aborted", 1)]


def test_an_expired_holder_cannot_commit_over_the_one_that_took_over(store: SessionStore, clock: Clock) -> None:
    """ATOM-2, LIN-3"""
    session = begin(store)
    continuation: list[str] = []

    def overtaken(_prompt: str) -> str:
        clock.advance(LEASE_SECONDS + 1)
        continuation.append(store.resume("a").compact(policy=SMALL).session.id)
        return "Critical Context: the modules were looked at and mended, one after the other."

    with pytest.raises(LeaseLostError):
        session.compact(policy=SMALL, summarizer=overtaken)
    assert store.resume("a").id == continuation[0] == "a~2"
    assert jobs(store) == [("interrupted", 1), ("committed", 2)]


def test_a_heart_beats_while_a_model_takes_its_time(store: SessionStore, clock: Clock) -> None:
    """The lease reaches further than it did, though the job has done nothing in the database meanwhile."""
    session = begin(store)
    job = claimed(store, session, clock)
    heartbeat = Heartbeat(store._flow.environment, job, every=0.01)
    clock.advance(LEASE_SECONDS / 2)
    heartbeat.start()
    beaten = threading.Event()
    while not beaten.is_set():
        found = store._database.read(lambda c: find_compaction(c, "a", job.job_id))
        assert found is not None
        if found.lease_expires_at == clock.at + LEASE_SECONDS:
            beaten.set()
    heartbeat.stop()
    clock.advance(LEASE_SECONDS + 1)
    assert session.compact(policy=SMALL).status == "committed"


@pytest.mark.parametrize("hook", ["after_summary", "commit"])
def test_the_summary_of_an_attempt_that_broke_off_is_used_by_the_next(
    database_url: str, clock: Clock, hook: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is not paid twice."""
    asked: list[str] = []

    def model(prompt: str) -> str:
        asked.append(prompt)
        return "Critical Context: the modules were looked at and mended, one after the other."

    with SessionStore.open(database_url, clock=clock, hooks=CompactionHooks()) as store:
        session = begin(store)
        from sessionstore.compaction import job as job_module

        step = {"after_summary": "summary_draft", "commit": "commit_draft"}[hook]
        with monkeypatch.context() as patched:
            patched.setattr(job_module, step, _dies)
            with pytest.raises(Stopped):
                session.compact(policy=SMALL, summarizer=model)
        assert len(asked) == 1
        result = session.compact(policy=SMALL, summarizer=model)
        assert result.status == "committed"
        assert "one after the other" in (result.summary or "")
        assert len(asked) == 1
        assert any("left when it broke off" in warning for warning in result.warnings)


def test_a_summary_of_another_middle_is_not_used(store: SessionStore, monkeypatch: pytest.MonkeyPatch) -> None:
    from sessionstore.compaction import job as job_module

    asked: list[str] = []

    def model(prompt: str) -> str:
        asked.append(prompt)
        return "Critical Context: the modules were looked at and mended, one after the other."

    session = begin(store)
    with monkeypatch.context() as patched:
        patched.setattr(job_module, "summary_draft", _dies)
        with pytest.raises(Stopped):
            session.compact(policy=SMALL, summarizer=model)
    session.append(talk(4, start=30))
    assert session.compact(policy=SMALL, summarizer=model).status == "committed"
    assert len(asked) == 2


def test_another_focus_asks_the_model_again(store: SessionStore, monkeypatch: pytest.MonkeyPatch) -> None:
    from sessionstore.compaction import job as job_module

    asked: list[str] = []

    def model(prompt: str) -> str:
        asked.append(prompt)
        return "Critical Context: the modules were looked at and mended, one after the other."

    session = begin(store)
    with monkeypatch.context() as patched:
        patched.setattr(job_module, "summary_draft", _dies)
        with pytest.raises(Stopped):
            session.compact(policy=SMALL, summarizer=model)
    assert session.compact(policy=SMALL, summarizer=model, focus="module 3").status == "committed"
    assert len(asked) == 2



def _dies(*_arguments: Any, **_named: Any) -> Any:
    raise Stopped
