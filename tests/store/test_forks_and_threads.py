"""A store on both sides of a fork, and in many threads (CONC-1)."""
from __future__ import annotations

import os
import threading
import warnings

import pytest

from sessionstore import SessionStore
from tests.store.conversations import talk


def test_a_forked_process_has_connections_of_its_own(store: SessionStore) -> None:
    """Both sides go on with the same store, on a server too, and every message is there once."""
    session = store.create_session("a")
    session.append(talk(1))
    children = []
    for number in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads, from Python 3.12 on
            child = os.fork()
        if not child:
            status = 1
            try:
                for _ in range(10):
                    session.append({"role": "user", "content": f"child {number}"})
                status = 0
            finally:
                os._exit(status)
        children.append(child)
    for _ in range(10):
        session.append({"role": "user", "content": "parent"})
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0, 0]
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
