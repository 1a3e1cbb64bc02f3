"""Attempts that save too little stop automatic ones, for every process, until time, force or new work ends that."""
from __future__ import annotations

from dataclasses import replace

import pytest

from sessionstore import Session, SessionStore, SummarizerError
from sessionstore.domain.closed_sets import Trigger
from tests.conftest import Clock
from tests.store.conversations import SMALL, WINDOW, compacted, prepared, talk

PRUNING = replace(SMALL, summarize=False, keep_tool_results=0)
"""Prunes and no more, which saves little in a conversation of words."""

NEEDED = 0.10 * WINDOW / 2
"""Tokens of new work after which an automatic compaction is tried again."""


def struck(store: SessionStore, *, strikes: int = 2) -> Session:
    """A session that is due, with so many attempts behind it that saved too little."""
    call = {"id": "c", "type": "function", "function": {"name": "terminal", "arguments": '{"command":"ls"}'}}
    listing = {"role": "tool", "tool_call_id": "c", "content": "file\n" * 60}
    session = store.create_session("a", context_window=WINDOW)
    session.append([*talk(10), {"role": "assistant", "content": None, "tool_calls": [call]}, listing, *talk(90, start=10)])
    assert session.pressure().due
    for _ in range(strikes):
        assert session.compact(policy=PRUNING).status == "aborted"
    return session


def strikes_of(store: SessionStore) -> int:
    """Strikes that the lineage has."""
    return store.lineage("a").lineage.strikes


def test_strikes_add_up_over_processes_and_stop_automatic_compaction_in_all(store: SessionStore, database_url: str) -> None:
    """THRASH-1: they are in the database."""
    session = struck(store, strikes=1)
    assert session.compact(policy=SMALL, dry_run=True).plan is not None
    with SessionStore.open(database_url) as other:
        assert other.session("a").compact(policy=PRUNING).status == "aborted"
        assert strikes_of(other) == 2
        triggers: tuple[Trigger, ...] = ("auto", "preflight", "hygiene")
        for trigger in triggers:
            result = other.session("a").compact(policy=SMALL, trigger=trigger)
            assert (result.status, result.retry_at) == ("deferred", None)
            assert "a new session may serve better" in result.reason
            result.raise_for_status()
    assert session.maintain(policy=SMALL).status == "deferred"
    assert strikes_of(store) == 2


def test_one_strike_stops_nothing(store: SessionStore) -> None:
    """THRASH-1: and a compaction that commits wipes it out."""
    session = struck(store, strikes=1)
    assert session.maintain(policy=SMALL).status == "committed"
    assert strikes_of(store) == 0


def test_force_ends_it(store: SessionStore) -> None:
    """THRASH-1."""
    session = struck(store)
    assert session.maintain(policy=SMALL).status == "deferred"
    assert session.compact(policy=SMALL, trigger="auto", force=True).status == "committed"
    assert strikes_of(store) == 0


def test_a_person_who_asks_does_not_wait(store: SessionStore) -> None:
    """THRASH-1: only automatic compactions are stopped."""
    assert compacted(struck(store)).session.id == "a~2"


def test_new_work_ends_it_and_less_than_that_does_not(store: SessionStore) -> None:
    """THRASH-1: ``min_saving × threshold`` tokens of messages since the last strike."""
    session = struck(store)
    before = session.pressure().tokens
    number = 100
    while session.pressure().tokens - before < NEEDED - 100:
        session.append(talk(1, start=number))
        number += 1
        assert session.maintain(policy=SMALL).status == "deferred"
    session.append(talk(2, start=number))
    assert session.pressure().tokens - before >= NEEDED
    assert session.maintain(policy=SMALL).status == "committed"


def test_an_attempt_after_new_work_that_fails_again_counts_on(store: SessionStore) -> None:
    """THRASH-1: the new work is counted from the last strike, not from the first."""
    session = struck(store)
    session.append(talk(8, start=100))
    assert session.compact(policy=PRUNING, trigger="auto").status == "aborted"
    assert strikes_of(store) == 3
    assert session.maintain(policy=SMALL).status == "deferred"


def test_a_noop_is_no_strike(store: SessionStore) -> None:
    """THRASH-1: nothing was tried."""
    session = store.create_session("a", context_window=WINDOW)
    session.append(talk(3))
    assert [session.compact(policy=SMALL).status for _ in range(3)] == ["noop"] * 3
    assert strikes_of(store) == 0


def test_a_cool_down_holds_for_every_process_and_ends_with_the_clock(
    store: SessionStore, clock: Clock, database_url: str
) -> None:
    """THRASH-1: a failed model is no strike, but the next automatic attempt waits for it."""
    prepared(store)
    session = store.session("a")
    session.append(talk(40, start=30))

    def broken(_prompt: str) -> str:
        raise TimeoutError("no answer")

    failed = session.compact(policy=SMALL, summarizer=broken)
    assert (failed.status, failed.retry_at) == ("deferred", clock.at + 60)
    with pytest.raises(SummarizerError):
        failed.raise_for_status()
    assert strikes_of(store) == 0
    with SessionStore.open(database_url, clock=clock) as other:
        clock.advance(59)
        waiting = other.session("a").maintain(policy=SMALL, summarizer=lambda _prompt: pytest.fail("asked a model"))
        assert (waiting.status, waiting.retry_at) == ("deferred", failed.retry_at)
        waiting.raise_for_status()
        clock.advance(1)
        assert other.session("a").maintain(policy=SMALL).status == "committed"
