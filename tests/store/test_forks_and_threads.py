"""A store on both sides of a fork, and in many threads (CONC-1)."""
from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from sessionstore import SchemaError, SessionStore, StoreLockedError
from tests.store.conversations import talk

_LONGEST = 60
"""Seconds after which a child that hangs is ended, so that its test fails."""


def forked(work: Callable[[], None]) -> int:
    """The id of a child process that does some work; it ends with 0 when that went well."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads, from Python 3.12 on
        child = os.fork()
    if child:
        return child
    status = 1
    signal.alarm(_LONGEST)
    try:
        work()
        status = 0
    finally:
        os._exit(status)


def ended(child: int) -> int:
    """How a child ended: its exit status, or minus the signal."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_forked_process_has_connections_of_its_own(store: SessionStore) -> None:
    """Both sides go on with the same store, on a server too, and every message is there once."""
    session = store.create_session("a")
    session.append(talk(1))

    def append(who: str) -> None:
        for _ in range(10):
            session.append({"role": "user", "content": who})

    children = [forked(partial(append, f"child {number}")) for number in range(3)]
    append("parent")
    assert [ended(child) for child in children] == [0, 0, 0]
    assert len(session.context()) == 1 + 40
    assert list(store.doctor()) == []


def append_in_threads(store: SessionStore) -> None:
    session = store.create_session("a")
    failed: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(5):
                session.append({"role": "user", "content": f"thread {number}, turn {turn}"})
                session.context()
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert sorted(message["content"] for message in session.context()) == sorted(
        f"thread {number}, turn {turn}" for number in range(16) for turn in range(5)
    )


def test_any_number_of_threads_share_a_store(store: SessionStore) -> None:
    append_in_threads(store)


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_threads_share_a_memory_database(url: str) -> None:
    """It lives in one connection, which they take in turns."""
    with SessionStore.open(url) as store:
        append_in_threads(store)


def test_a_store_that_was_closed_opens_again(store: SessionStore) -> None:
    session = store.create_session("a")
    session.append(talk(2))
    store.close()
    session.append(talk(1))
    assert len(session.context()) == 3


def test_what_a_child_acknowledged_is_there_after_its_parent_closed_the_store(tmp_path: Path) -> None:
    """LOG-1: SQLite's own account of its locks must not reach the child."""
    url = f"sqlite:///{tmp_path}/store.db"
    store = SessionStore.open(url)
    store.create_session("a").append(talk(1))
    reading, writing = os.pipe()

    def append_before_and_after() -> None:
        session = store.session("a")
        session.append(talk(1, start=10))
        os.read(reading, 1)
        session.append(talk(1, start=20))

    child = forked(append_before_and_after)
    while len(store.session("a").context()) < 2:
        time.sleep(0.01)
    store.close()
    os.write(writing, b"x")
    assert ended(child) == 0
    with SessionStore.open(url) as again:
        assert again.session("a").context() == [*talk(1), *talk(1, start=10), *talk(1, start=20)]


@pytest.mark.parametrize("place", ["file", "memory"])
def test_a_fork_beside_threads_at_work_leaves_the_child_no_lock_that_nobody_holds(tmp_path: Path, place: str) -> None:
    """CONC-1, ATOM-1"""
    store = SessionStore.open(f"sqlite:///{tmp_path}/store.db" if place == "file" else "sqlite://", busy_timeout=20)
    session = store.create_session("a")
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            session.append(talk(1))

    threads = [threading.Thread(target=write) for _ in range(2)]
    for thread in threads:
        thread.start()

    def use() -> None:
        if place == "file":
            store.session("a").append(talk(1))
        else:
            # The memory of the parent is not the child's: it has an empty database.
            with pytest.raises(SchemaError):
                store.list_sessions()

    statuses = [ended(forked(use)) for _ in range(5)]
    stop.set()
    for thread in threads:
        thread.join()
    assert statuses == [0] * 5
    assert list(store.doctor()) == []
    store.close()


def test_a_memory_database_that_a_handler_enters_again_is_a_typed_error() -> None:
    """CONC-1: it has one connection, so who waits for himself waits in vain, and not for ever."""
    with SessionStore.open("sqlite://", busy_timeout=0.2) as store:
        session = store.create_session("a")

        def again(_connection: object) -> None:
            session.append(talk(1))

        with pytest.raises(StoreLockedError):
            store._database.write(again)
        assert session.append(talk(1)) == [0]


@pytest.mark.parametrize("url", ["sqlite:///file::memory:?uri=true", "sqlite:///file:x?mode=memory&uri=true"])
def test_other_names_of_a_memory_database(url: str) -> None:
    with SessionStore.open(url) as store:
        append_in_threads(store)
