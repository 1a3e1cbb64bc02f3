"""A file that was cut short under an open store: a typed error, and no write is reported as done (OPS-2)."""
from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import event

from sessionstore import AsyncSessionStore, SessionStore, StoreUnavailableError
from tests.store.conversations import talk


def to_nothing(path: Path) -> None:
    os.truncate(path, 0)


def to_half_a_page(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2 - 100)


def to_one_page(path: Path) -> None:
    os.truncate(path, 8_192)


CUTS = [to_nothing, to_half_a_page, to_one_page]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file that another connection holds open too, so that its log outlives the connections of the store."""
    return tmp_path / "store.db"


@pytest.fixture
def opened(path: Path) -> Iterator[SessionStore]:
    with SessionStore.open(f"sqlite:///{path}") as store:
        store.create_session("a").append(talk(200))
        store._database.write(lambda _connection: None)
        with sqlite3.connect(path) as other:
            other.execute("PRAGMA wal_checkpoint(PASSIVE)")
        other.close()
        store.resume("a").append(talk(1))
        yield store


@pytest.mark.parametrize("cut", CUTS)
def test_neither_a_write_nor_a_read_is_reported_as_done(opened: SessionStore, path: Path, cut: Callable[[Path], None]) -> None:
    """OPS-2: on the connection that was open, and on one that another thread opens now."""
    session = opened.resume("a")
    cut(path)
    for attempt in (lambda: session.append(talk(1)), session.context, lambda: opened.create_session("b")):
        with pytest.raises(StoreUnavailableError):
            attempt()
    met: list[BaseException] = []

    def elsewhere() -> None:
        try:
            session.append(talk(1))
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is looked at below
            met.append(error)

    threads = [threading.Thread(target=elsewhere) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [type(error) for error in met] == [StoreUnavailableError] * 3


@pytest.mark.parametrize("cut", CUTS)
def test_a_file_that_is_cut_short_in_the_middle_of_a_write_is_not_reported_as_written(
    opened: SessionStore, path: Path, cut: Callable[[Path], None]
) -> None:
    """OPS-2"""
    session = opened.resume("a")
    opened._database.close()
    waiting = [cut]

    @event.listens_for(opened._database._engine, "connect")
    def watch(connection: sqlite3.Connection, _record: object) -> None:
        def cut_now(statement: str) -> None:
            if statement == "COMMIT" and waiting:
                waiting.pop()(path)

        connection.set_trace_callback(cut_now)

    with pytest.raises(StoreUnavailableError):
        session.append(talk(1))
    assert waiting == []


@pytest.mark.parametrize("cut", CUTS)
def test_the_same_on_an_event_loop(path: Path, opened: SessionStore, cut: Callable[[Path], None]) -> None:
    """OPS-2"""
    opened.close()

    async def run() -> None:
        async with await AsyncSessionStore.open(f"sqlite:///{path}") as store:
            session = await store.resume("a")
            await session.append(talk(1))
            cut(path)
            for attempt in (lambda: session.append(talk(1)), session.context, lambda: store.create_session("b")):
                with pytest.raises(StoreUnavailableError):
                    await attempt()

    asyncio.run(run())


def test_a_file_that_a_vacuum_made_smaller_goes_on(opened: SessionStore, path: Path) -> None:
    """It is as large as the database in it."""
    opened.create_session("big").append({"role": "user", "content": "x" * 2_000_000})
    opened.delete("big")
    with sqlite3.connect(path) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        opened.resume("a").append(talk(1))
        before = path.stat().st_size
        other.execute("VACUUM")
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    other.close()
    assert path.stat().st_size < before
    session = opened.resume("a")
    assert len(session.append(talk(2))) == 2
    assert len(session.context()) == 204


def test_a_deleted_file_is_not_made_anew_by_a_connection_that_comes_later(path: Path, opened: SessionStore) -> None:
    """OPS-2: not by another thread, and not by an event loop's reader."""
    opened.close()

    async def run() -> None:
        async with await AsyncSessionStore.open(f"sqlite:///{path}") as store:
            session = await store.resume("a")
            for file in path.parent.glob("store.db*"):
                file.unlink()
            results = await asyncio.gather(*(session.context() for _ in range(4)), return_exceptions=True)
            assert {type(result) for result in results} == {StoreUnavailableError}

    asyncio.run(run())
    assert not path.exists()


def test_a_store_that_is_opened_again_takes_the_file_as_it_is_then(path: Path, opened: SessionStore) -> None:
    opened.close()
    script = f"import os; os.replace({str(path)!r} + '-copy', {str(path)!r})"
    path.with_name("store.db-copy").write_bytes(path.read_bytes())
    subprocess.run([sys.executable, "-c", script], check=True)
    assert len(opened.resume("a").context()) == 201
