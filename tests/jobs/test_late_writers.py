"""Writers that come late, hold what is no longer so, or meet each other in the middle of a compaction."""
from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from sessionstore import (
    CompactionHooks,
    CompactionInProgressError,
    ConflictError,
    Session,
    SessionEndedError,
    SessionNotFoundError,
    SessionStore,
    StaleCursorError,
)
from tests.store.conversations import SMALL, WINDOW, compacted, talk

SUMMARY = "Critical Context: the modules were looked at and mended, one after the other."


def begin(store: SessionStore, *, count: int = 30) -> Session:
    session = store.create_session("a", context_window=WINDOW)
    session.append(talk(count))
    return session


def compact_while(session: Session, happening: Callable[[], Any]) -> Any:
    """Compact a session, and let something happen while the summary is made."""

    def model(_prompt: str) -> str:
        happening()
        return SUMMARY

    return session.compact(policy=SMALL, summarizer=model)


def test_an_append_to_a_session_that_was_compacted_meanwhile_goes_to_the_tip(store: SessionStore) -> None:
    """LIN-1"""
    late = begin(store)
    tip = compacted(store.resume("a")).session
    (seq,) = late.append({"role": "user", "content": "late"})
    assert tip.context()[-1] == {"role": "user", "content": "late"}
    assert tip.record().next_seq == seq + 1
    assert len(store.session("a").context()) == 30


def test_a_flush_to_a_session_that_was_compacted_meanwhile_names_the_continuation_and_what_is_unsaved(
    store: SessionStore,
) -> None:
    """FLUSH-2, FLUSH-4"""
    late = begin(store)
    held = [*late.context(), {"role": "user", "content": "late"}]
    tip = compacted(store.resume("a")).session
    with pytest.raises(SessionEndedError) as caught:
        late.flush(held)
    assert caught.value.continuation_id == "a~2"
    assert caught.value.unsaved == [{"role": "user", "content": "late"}]
    moved, messages = late.rebase(held)
    assert moved.id == "a~2"
    assert tip.context()[-1] == {"role": "user", "content": "late"}
    assert messages == tip.context()
    late.rebase(held)
    assert messages == tip.context()


def test_two_agents_that_hold_the_same_list_are_both_stored_or_one_is_told(store: SessionStore) -> None:
    """CONC-1"""
    begin(store)
    one, other = store.resume("a"), store.resume("a")
    held = one.context()
    one.flush(held)
    other.flush(held)
    one.flush([*held, {"role": "user", "content": "from one"}])
    with pytest.raises((StaleCursorError, ConflictError)):
        other.flush([*held, {"role": "user", "content": "from the other"}])
    assert [message["content"] for message in one.context()[30:]] == ["from one"]
    other.append({"role": "user", "content": "from the other"})
    assert len(one.context()) == 32


def test_a_gateway_with_an_old_id_reads_and_writes_the_tip(store: SessionStore) -> None:
    """LIN-1"""
    begin(store)
    tip = compacted(store.resume("a")).session
    tip.append(talk(20, start=40))
    tip = compacted(tip).session
    for old in ("a", "a~2", "a~3"):
        gateway = store.resume(old)
        assert gateway.id == "a~3"
        gateway.append({"role": "user", "content": f"through {old}"})
    assert [message["content"] for message in tip.context()[-3:]] == ["through a", "through a~2", "through a~3"]


def test_a_message_that_arrives_during_the_summary_stays_and_is_not_summarised(store: SessionStore) -> None:
    """ATOM-4"""
    session = begin(store)
    arrived = {"role": "user", "content": "wait, one more thing"}
    result = compact_while(session, lambda: store.resume("a").append(arrived))
    assert result.status == "committed"
    assert result.session.context()[-1] == arrived
    (job,) = store.lineage("a").compactions
    assert job.watermark == 29
    assert all(last < 30 for _, last in job.middle)
    assert result.session.flush(result.messages) == []


def test_a_flush_during_the_summary_by_another_agent_is_kept_too(store: SessionStore) -> None:
    """ATOM-4, FLUSH-4"""
    session = begin(store)
    agent = store.resume("a")
    held = [*agent.context(), *talk(2, start=60)]
    result = compact_while(session, lambda: agent.flush(held))
    assert result.session.context()[-2:] == talk(2, start=60)


def test_of_two_compactions_at_once_one_is_told_and_one_commits(store: SessionStore) -> None:
    """LIN-3, ATOM-2"""
    session = begin(store)
    told: list[BaseException] = []

    def second() -> None:
        with pytest.raises(CompactionInProgressError) as caught:
            store.resume("a").compact(policy=SMALL)
        told.append(caught.value)

    assert compact_while(session, second).status == "committed"
    assert len(told) == 1
    assert [job.status for job in store.lineage("a").compactions] == ["committed"]


def test_many_threads_that_compact_one_session_make_one_continuation(store: SessionStore) -> None:
    """LIN-3"""
    begin(store)
    start = threading.Barrier(6, timeout=30)
    ended: list[str] = []

    def compact() -> None:
        session = store.resume("a")
        start.wait()
        try:
            ended.append(session.compact(policy=SMALL).status)
        except (CompactionInProgressError, SessionEndedError) as error:
            ended.append(type(error).__name__)

    threads = [threading.Thread(target=compact) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ended.count("committed") == 1
    assert [row.edge for row in store.lineage("a").sessions] == ["root", "compaction"]
    assert len(ended) == 6


def test_an_undo_during_a_compaction_wins_and_the_compaction_writes_nothing(store: SessionStore) -> None:
    begin(store)
    tip = compacted(store.resume("a")).session
    tip.append(talk(20, start=40))
    with pytest.raises(SessionEndedError):
        compact_while(tip, lambda: store.resume("a").undo_compaction())
    trace = store.lineage("a")
    assert [row.edge for row in trace.sessions] == ["root", "compaction", "undo"]
    assert [job.status for job in trace.compactions] == ["committed", "aborted"]
    assert store.resume("a").context()[-20:] == talk(20, start=40)
    assert list(store.doctor()) == []


def test_a_deletion_during_a_compaction_wins_and_leaves_nothing_behind(store: SessionStore) -> None:
    session = begin(store)
    with pytest.raises(SessionNotFoundError) as caught:
        compact_while(session, lambda: store.delete("a"))
    assert caught.value.reference == "a"
    assert_nothing_left(store)


def assert_nothing_left(store: SessionStore) -> None:
    assert store.list_sessions() == []
    assert list(store.doctor()) == []
    stats = store.stats()
    assert (stats.messages, stats.sessions, stats.compactions) == (0, 0, {})


@pytest.mark.parametrize("answer", ["", SUMMARY])
def test_a_deletion_before_facts_are_stored_wins_too(database_url: str, answer: str) -> None:
    """Also when the summary fails afterwards, which would have stored the facts that were flushed."""
    with SessionStore.open(database_url, hooks=CompactionHooks(flush_memories=lambda _messages: ["a fact"])) as store:
        session = begin(store)

        def model(_prompt: str) -> str:
            store.delete("a")
            return answer

        with pytest.raises(SessionNotFoundError):
            session.compact(policy=SMALL, summarizer=model)
        assert_nothing_left(store)


def test_an_end_during_a_compaction_wins(store: SessionStore) -> None:
    session = begin(store)
    with pytest.raises(SessionEndedError):
        compact_while(session, lambda: store.resume("a").end("finished"))
    assert store.resume("a").id == "a"
    assert [job.status for job in store.lineage("a").compactions] == ["aborted"]
    assert list(store.doctor()) == []
