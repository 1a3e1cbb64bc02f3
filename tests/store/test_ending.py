"""Ends: deliberate ones are final, automatic ones are not, and a later generation is never left behind one."""
from __future__ import annotations

from typing import Any

import pytest

from sessionstore import SessionEndedError, SessionStore, SessionStoreError
from tests.conftest import Clock
from tests.store.conversations import SMALL, WINDOW, compacted, rows_of, talk


@pytest.mark.parametrize("reason", ["user", "reset", "finished", "idle", "shutdown"])
def test_an_end_is_recorded_and_can_be_read_after(store: SessionStore, clock: Clock, reason: Any) -> None:
    session = store.create_session("a")
    said = talk(4)
    session.append(said)
    clock.advance(60)
    session.end(reason)
    record = store.session("a").record()
    assert (record.end_reason, record.ended_at) == (reason, clock.at)
    assert store.lineage("a").lineage.closed_at == clock.at
    assert session.context() == said
    assert store.resume("a").id == "a"
    (line,) = store.list_sessions()
    assert (line.end_reason, line.ended_at) == (reason, clock.at)
    assert store.list_sessions(open_only=True) == []


def test_ending_twice_changes_nothing_and_another_reason_is_refused(store: SessionStore, clock: Clock) -> None:
    session = store.create_session("a")
    session.end("finished")
    before = rows_of(store)
    clock.advance(60)
    session.end("finished")
    with pytest.raises(SessionEndedError) as caught:
        session.end("idle")
    assert caught.value.end_reason == "finished"
    assert rows_of(store) == before


def test_somebody_may_end_on_purpose_what_ended_by_itself(store: SessionStore) -> None:
    """Deliberate reasons are final: an idle session that its user closes must not be reopened by a late append."""
    session = store.create_session("a")
    session.end("idle")
    session.end("finished")
    with pytest.raises(SessionEndedError):
        session.append({"role": "user", "content": "late"})


@pytest.mark.parametrize("reason", ["compaction", "undo", "rewind", "bored", "", None])
def test_a_reason_that_nobody_can_give_is_refused(store: SessionStore, reason: Any) -> None:
    """LIN-4: ``compaction``, ``undo`` and ``rewind`` mean that a later generation exists, always."""
    session = store.create_session("a")
    before = rows_of(store)
    with pytest.raises((ValueError, SessionStoreError)):
        session.end(reason)
    assert rows_of(store) == before


@pytest.mark.parametrize("reason", ["user", "reset", "finished", "idle", "shutdown"])
def test_a_reopened_session_goes_on(store: SessionStore, reason: Any) -> None:
    session = store.create_session("a")
    session.append(talk(2))
    session.end(reason)
    session.reopen()
    session.reopen()
    assert store.lineage("a").lineage.closed_at is None
    assert session.append(talk(1)) == [2]
    assert len(store.list_sessions(open_only=True)) == 1


def test_what_a_later_generation_took_over_stays_closed(store: SessionStore) -> None:
    """LIN-2, LIN-3"""
    root = store.create_session("a", context_window=WINDOW)
    root.append(talk(30))
    compacted(root)
    before = rows_of(store)
    for call in (root.reopen, root.end, root.compact):
        with pytest.raises(SessionEndedError) as caught:
            call()
        assert (caught.value.session_id, caught.value.continuation_id) == ("a", "a~2")
    assert rows_of(store) == before


@pytest.mark.parametrize("reason", ["user", "reset", "finished"])
def test_no_generation_is_opened_behind_a_deliberate_end(store: SessionStore, reason: Any) -> None:
    session = store.create_session("a", context_window=WINDOW)
    session.append(talk(30))
    session.end(reason)
    before = rows_of(store)
    for call in (session.compact, session.undo_compaction, lambda: session.rewind(0)):
        with pytest.raises(SessionEndedError) as caught:
            call()
        assert (caught.value.end_reason, caught.value.continuation_id) == (reason, None)
    assert rows_of(store) == before


def test_ending_while_a_compaction_runs_stops_its_commit(store: SessionStore) -> None:
    """LIN-4: the end stands, and the job has one too."""
    session = store.create_session("a", context_window=WINDOW)
    session.append(talk(30))

    def end_meanwhile(_prompt: str) -> str:
        session.end("user")
        return "## Goal\nThe user wants the modules fixed; most of them are done by now."

    with pytest.raises(SessionEndedError):
        session.compact(policy=SMALL, summarizer=end_meanwhile)
    trace = store.lineage("a")
    assert [(row.session_id, row.end_reason) for row in trace.sessions] == [("a", "user")]
    assert [job.status for job in trace.compactions] == ["aborted"]
    session.reopen()
    compacted(session)


def test_a_compaction_of_a_session_that_ended_by_itself(store: SessionStore) -> None:
    """An operator compacts offline what fell idle; ``idle`` is no deliberate end, so it is compacted or refused whole."""
    session = store.create_session("a", context_window=WINDOW)
    session.append(talk(30))
    session.end("idle")
    before = rows_of(store)
    try:
        result = session.compact(policy=SMALL)
    except SessionEndedError:
        assert rows_of(store) == before
    else:
        assert result.status == "committed"
        assert store.session("a").record().end_reason == "compaction"
