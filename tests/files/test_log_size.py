"""The write-ahead log stays short beside readers that overlap, and a reader that stays long stops nobody."""
from __future__ import annotations

import itertools
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sessionstore import SessionStore
from sessionstore.storage.log_size import LONGEST_LOG

BODY = {"role": "user", "content": "words " * 13_000}
"""About ten pages."""

MOST = 16 * 1024 * 1024
"""Bytes that the log never has."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def log_size(path: Path) -> int:
    return path.with_name("store.db-wal").stat().st_size


def snapshot(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN")
    connection.execute("SELECT count(*) FROM lineages").fetchone()


@contextmanager
def readers_that_overlap(path: Path) -> Iterator[None]:
    """Readers of whom always one looks at a snapshot: the next begins before the last has ended."""
    stop, begun = threading.Event(), threading.Event()

    def read() -> None:
        pair = [sqlite3.connect(path, isolation_level=None) for _ in range(2)]
        snapshot(pair[0])
        begun.set()
        for old, new in itertools.cycle([(pair[0], pair[1]), (pair[1], pair[0])]):
            snapshot(new)
            old.execute("COMMIT")
            if stop.is_set():
                break
        for connection in pair:
            connection.close()

    thread = threading.Thread(target=read)
    thread.start()
    begun.wait()
    yield
    stop.set()
    thread.join()


def test_readers_that_overlap_do_not_let_the_log_grow(path: Path) -> None:
    with SessionStore.open(f"sqlite:///{path}") as store:
        session = store.create_session("a")
        sizes = []
        with readers_that_overlap(path):
            for _ in range(400):
                session.append(BODY)
                sizes.append(log_size(path))
        assert path.stat().st_size > 1.5 * MOST
        assert max(sizes) < MOST
        assert len(session.context()) == 400
        assert list(store.doctor()) == []


def test_a_reader_that_stays_keeps_the_log_and_no_writer_and_when_it_goes_the_log_is_cut(path: Path) -> None:
    with SessionStore.open(f"sqlite:///{path}") as store:
        session = store.create_session("a")
        reader = sqlite3.connect(path, isolation_level=None)
        snapshot(reader)
        while log_size(path) < 2 * LONGEST_LOG:
            session.append([BODY] * 10)
        assert reader.execute("SELECT count(*) FROM messages").fetchone() == (0,)
        reader.execute("COMMIT")
        reader.close()
        while log_size(path) > LONGEST_LOG:
            session.append([BODY] * 10)
        assert list(store.doctor()) == []
