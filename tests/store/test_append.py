"""Appends: seqs in order, each message once, always to the tip, whoever else writes."""
from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable
from typing import Any

import pytest

from sessionstore import Session, SessionEndedError, SessionNotFoundError, SessionStore
from tests.conftest import Clock
from tests.store.conversations import WINDOW, compacted, repetitive, sent_work, statements, talk

HELLO = {"role": "user", "content": "hello"}


def test_seqs_count_from_zero_without_gaps(store: SessionStore) -> None:
    """LOG-2: one or many, and a list of none."""
    session = store.create_session("a")
    assert session.append(HELLO) == [0]
    assert session.append([HELLO, HELLO]) == [1, 2]
    assert session.append([]) == []
    assert session.append_json('{"role":"user"}') == 3
    assert session.append(HELLO) == [4]
    assert store.create_session("b").append(HELLO) == [0]


def test_a_refused_list_uses_up_no_seq(store: SessionStore) -> None:
    """LOG-1: all of a list or nothing."""
    session = store.create_session("a")
    session.append(HELLO)
    with pytest.raises(ValueError, match="2 messages need 2 client ids, not 1"):
        session.append([HELLO, HELLO], client_id=["x"])
    with pytest.raises(ValueError, match="2 messages need 2 client ids, not 1"):
        session.append([HELLO, HELLO], client_id="x")
    assert session.append(HELLO) == [1]
    assert len(session.context()) == 2


def test_order_is_the_seq_when_the_clock_goes_back(store: SessionStore, clock: Clock) -> None:
    """LOG-2"""
    session = store.create_session("a", context_window=WINDOW)
    said = talk(30)
    for message in said:
        clock.advance(-3_600)
        session.append(message)
    assert session.context() == said
    assert session.last(5) == said[-5:]
    clock.advance(-86_400)
    result = compacted(session)
    clock.advance(-86_400)
    result.session.append(HELLO)
    assert store.resume("a").id == "a~2"
    assert store.lineage("a").tip.session_id == "a~2"
    assert [row.seq for row in session.history(0, 99)] == list(range(32))


def test_a_retry_with_its_client_id_stores_it_once(store: SessionStore) -> None:
    """IDEM-1: equal content without one is stored again."""
    session = store.create_session("a")
    assert session.append(HELLO, client_id="x") == [0]
    assert session.append({"role": "user", "content": "another text"}, client_id="x") == [0]
    assert session.append(HELLO) == [1]
    assert session.append(HELLO, client_id="y") == [2]
    assert session.append([HELLO, HELLO, HELLO], client_id=["y", "z", "x"]) == [2, 3, 0]
    assert session.append([HELLO, HELLO], client_id=[None, "z"]) == [4, 3]
    assert session.append_json('{"role":"user"}', client_id="x") == 0
    assert session.record().flush_cursor == len(session.context()) == 5
    assert store.create_session("b").append(HELLO, client_id="x") == [0]


def test_a_client_id_twice_in_one_list_stores_it_once(store: SessionStore) -> None:
    """IDEM-1: the second one gets the first one's seq."""
    session = store.create_session("a")
    assert session.append([HELLO, HELLO, HELLO], client_id=["x", "y", "x"]) == [0, 1, 0]
    assert len(session.context()) == session.record().flush_cursor == 2


def test_a_retry_finds_its_row_when_that_has_left_the_context(store: SessionStore) -> None:
    """IDEM-1: after a compaction, through the old handle and the new one, also when the session has ended since."""
    session = store.create_session("a", context_window=WINDOW)
    said = talk(30)
    session.append(said, client_id=[f"m{index}" for index in range(30)])
    continuation = compacted(session).session
    before = continuation.context()
    assert session.append(said[10], client_id="m10") == [10]
    assert continuation.append(said[10:12], client_id=["m10", "m11"]) == [10, 11]
    continuation.end("finished")
    assert continuation.append(said[10], client_id="m10") == [10]
    assert continuation.context() == before


def test_many_client_ids_in_one_list(store: SessionStore) -> None:
    """IDEM-1: more than a statement may have bound values."""
    session = store.create_session("a")
    names = [f"m{index}" for index in range(2_500)]
    first = session.append([HELLO] * 2_000, client_id=names[:2_000])
    assert session.append([HELLO] * 2_500, client_id=names) == [*first, *range(2_000, 2_500)]


def test_an_append_through_an_old_handle_or_id_goes_to_the_tip(store: SessionStore) -> None:
    """LIN-1"""
    root = store.create_session("a", context_window=WINDOW)
    root.append(talk(30))
    second = compacted(root).session
    second.append(talk(30, start=30))
    third = compacted(second).session
    assert third.id == "a~3"
    frozen = root.context(), second.context()
    length = len(third.context())
    seqs = [handle.append(HELLO)[0] for handle in (root, second, third, store.session("a"), store.resume("a~2"))]
    assert seqs == list(range(seqs[0], seqs[0] + 5))
    assert third.context()[length:] == [HELLO] * 5
    assert (root.context(), second.context()) == frozen
    assert {row.generation for row in third.history(seqs[0], seqs[-1])} == {3}


@pytest.mark.parametrize("reason", ["idle", "shutdown"])
def test_an_append_reopens_what_ended_by_itself(store: SessionStore, reason: Any) -> None:
    session = store.create_session("a")
    session.append(HELLO)
    session.end(reason)
    assert session.append(HELLO) == [1]
    assert (session.record().end_reason, session.record().ended_at, store.lineage("a").lineage.closed_at) == (None, None, None)


@pytest.mark.parametrize("reason", ["user", "reset", "finished"])
def test_an_append_to_what_somebody_ended_is_refused(store: SessionStore, reason: Any) -> None:
    session = store.create_session("a")
    session.append(HELLO)
    session.end(reason)
    for handle in (session, store.resume("a")):
        with pytest.raises(SessionEndedError, match="reopen") as caught:
            handle.append(HELLO)
        assert (caught.value.end_reason, caught.value.continuation_id) == (reason, None)
    assert len(session.context()) == 1


def test_every_call_on_a_deleted_conversation_is_a_typed_error(store: SessionStore) -> None:
    session = store.create_session("a")
    session.append(HELLO)
    store.delete("a")
    calls: list[Callable[[], object]] = [
        lambda: session.append(HELLO), lambda: session.flush([HELLO]), session.record, session.render, session.context,
        lambda: session.last(1), lambda: session.history(0, 1), session.compact, lambda: session.rewind(0), session.end,
        lambda: session.reader("r").read(),
    ]
    silent = []
    for position, call in enumerate(calls):
        try:
            call()
        except SessionNotFoundError:
            continue
        silent.append(position)
    assert silent == []


def test_an_append_is_two_statements_in_one_transaction(sqlite_store: SessionStore) -> None:
    """The hot path: one moves seq and cursor together, one writes the rows, however many and however long the log is."""
    session = sqlite_store.create_session("a")
    session.append(talk(50))
    for messages in (HELLO, talk(20)):
        with statements(sqlite_store) as sent:
            session.append(messages)
        assert len(sent_work(sent)) == 2, sent_work(sent)
        assert [statement for statement in sent if statement.startswith(("BEGIN", "COMMIT"))] == ["BEGIN IMMEDIATE", "COMMIT"]
    with statements(sqlite_store) as sent:
        session.append(HELLO, client_id="x")
    assert len(sent_work(sent)) <= 3


def test_an_append_through_an_old_handle_finds_the_tip_in_four_statements(sqlite_store: SessionStore) -> None:
    session = sqlite_store.create_session("a", context_window=WINDOW)
    session.append(talk(30))
    compacted(session)
    with statements(sqlite_store) as sent:
        session.append(HELLO)
    assert len(sent_work(sent)) == 4


def append_numbered(session: Session, writer: str, count: int) -> list[int]:
    return [session.append({"role": "user", "content": f"{writer} {index}"})[0] for index in range(count)]


def append_in_process(url: str, writer: str, count: int) -> None:
    with SessionStore.open(url) as store:
        append_numbered(store.session("a"), writer, count)


def assert_all_there(session: Session, writers: list[str], count: int) -> None:
    contents = [row.message["content"] for row in session.history(0, 10_000)]
    assert len(contents) == len(writers) * count == session.record().flush_cursor == session.record().next_seq
    for writer in writers:
        assert [said for said in contents if said.startswith(f"{writer} ")] == [f"{writer} {index}" for index in range(count)]


def test_threads_that_write_to_one_session_lose_nothing(store: SessionStore) -> None:
    """CONC-1: each writer's messages are all there, in its own order."""
    session = store.create_session("a")
    writers = [f"thread-{number}" for number in range(6)]
    threads = [
        threading.Thread(target=append_numbered, args=(session if number % 2 else store.session("a"), writer, 25))
        for number, writer in enumerate(writers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert_all_there(session, writers, 25)


def test_processes_that_write_to_one_session_lose_nothing(store: SessionStore, database_url: str) -> None:
    """CONC-1: none of them meets a locked database."""
    session = store.create_session("a")
    writers = [f"process-{number}" for number in range(3)]
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=append_in_process, args=(database_url, writer, 40)) for writer in writers]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert_all_there(session, writers, 40)


def test_equal_messages_are_all_kept(store: SessionStore) -> None:
    """IDEM-1"""
    session = store.create_session("a")
    said = repetitive(20)
    for message in said:
        session.append(message)
    assert session.context() == said
