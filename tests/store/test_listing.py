"""Listing conversations: paged, stable, from the index, and without a single body."""
from __future__ import annotations

import pytest

from sessionstore import SessionStore
from sessionstore.domain.records import SessionSummary
from tests.conftest import Clock
from tests.store.conversations import WINDOW, compacted, query_plans, sent_work, statements, talk

HELLO = {"role": "user", "content": "hello"}


def pages(store: SessionStore, size: int) -> list[list[SessionSummary]]:
    found: list[list[SessionSummary]] = []
    before = None
    while page := store.list_sessions(before=before, limit=size):
        found.append(page)
        before = page[-1]
    return found


@pytest.mark.parametrize("size", [1, 2, 3, 50])
@pytest.mark.parametrize("step", [0.0, 1.0, 0.000_001, -1.0])
def test_pages_hold_every_conversation_once_the_latest_first(
    store: SessionStore, clock: Clock, size: int, step: float
) -> None:
    """READ-1, LOG-2: also when all times are equal, a microsecond apart, or go back."""
    for number in range(7):
        clock.advance(step)
        store.create_session(f"s{number}").append(HELLO)
    found = pages(store, size)
    lines = [line for page in found for line in page]
    assert sorted(line.lineage_id for line in lines) == [f"s{number}" for number in range(7)]
    assert all(len(page) == size for page in found[:-1])
    if step:
        expected = [f"s{number}" for number in range(7)]
        assert [line.lineage_id for line in lines] == (expected if step < 0 else expected[::-1])


def test_activity_between_two_pages_repeats_and_hides_nothing_else(store: SessionStore, clock: Clock) -> None:
    """READ-1: what became active meanwhile moved to the front; the others follow as they were."""
    for number in range(6):
        clock.advance(1)
        store.create_session(f"s{number}")
    first = store.list_sessions(limit=2)
    clock.advance(1)
    store.session("s1").append(HELLO)
    store.create_session("s6")
    assert [line.lineage_id for line in first] == ["s5", "s4"]
    assert [line.lineage_id for line in store.list_sessions(limit=9, before=first[-1])] == ["s3", "s2", "s0"]
    assert [line.lineage_id for line in store.list_sessions(limit=2)] == ["s6", "s1"]


def test_a_conversation_is_one_line_however_often_it_was_compacted(store: SessionStore, clock: Clock) -> None:
    """LIN-2: the tip, with the title numbered for display and the start of the conversation."""
    started = clock.at
    session = store.create_session("a", title="Fix", context_window=WINDOW, model="m", owner="ana", source="cli", namespace="n")
    session.append(talk(30))
    clock.advance(5)
    session = compacted(session).session
    session.append(talk(20, start=30))
    clock.advance(5)
    session = compacted(session).session
    (line,) = store.list_sessions()
    assert (line.session_id, line.lineage_id, line.generation, line.title) == ("a~3", "a", 3, "Fix #3")
    assert (line.model, line.owner, line.source, line.namespace) == ("m", "ana", "cli", "n")
    assert (line.context_messages, line.log_messages) == (len(session.context()), 52)
    assert (line.started_at, line.updated_at, line.end_reason) == (started, clock.at, None)


def test_filters_go_together_and_pages_stay_within_them(store: SessionStore, clock: Clock) -> None:
    """SEC-1: nothing of another namespace is listed."""
    for number in range(12):
        clock.advance(1)
        store.create_session(f"s{number}", namespace="ab"[number % 2], owner="xyz"[number % 3], source="cli")
    store.session("s10").end("finished")
    lines = store.list_sessions(namespace="a")
    assert [line.lineage_id for line in lines] == ["s10", "s8", "s6", "s4", "s2", "s0"]
    assert store.list_sessions(namespace="a", limit=2, before=lines[1]) == lines[2:4]
    assert [line.lineage_id for line in store.list_sessions(namespace="a", owner="y")] == ["s10", "s4"]
    assert [line.lineage_id for line in store.list_sessions(namespace="a", owner="y", open_only=True)] == ["s4"]
    assert store.list_sessions(source="web") == []
    assert store.list_sessions(namespace="A") == []
    assert store.list_sessions(limit=0) == []


def test_a_listing_reads_no_body_and_walks_the_index(sqlite_store: SessionStore) -> None:
    """READ-1: on SQLite, which tells its plans: the index of activity in its order, no scan, no sorting."""
    for number in range(50):
        sqlite_store.create_session(f"s{number}").append(HELLO)
    first = sqlite_store.list_sessions(limit=5)
    for before in (None, first[-1]):
        with statements(sqlite_store) as sent:
            assert len(sqlite_store.list_sessions(limit=5, before=before)) == 5
        (statement,) = sent_work(sent)
        assert "body" not in statement
        assert "messages" not in statement
        (plan,) = query_plans(sqlite_store, sent_work(sent))
        assert "ix_sessions_activity" in plan, plan
        assert "TEMP B-TREE" not in plan, plan
