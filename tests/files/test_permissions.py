"""A file and a folder that may be read and not written, by whoever runs the tests: root becomes nobody for the time (OPS-2)."""
from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sessionstore import AsyncSessionStore, SessionStore, StoreUnavailableError
from tests.store.conversations import talk

NOBODY = 65_534


@contextmanager
def without_privileges() -> Iterator[None]:
    """Permissions don't hold for root, so it lays its rights down."""
    if os.geteuid() != 0:
        yield
        return
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


@pytest.fixture
def path() -> Iterator[Path]:
    """A store that was closed, in a folder that everybody may look into."""
    folder = Path(tempfile.mkdtemp(prefix="sessionstore-permissions-"))
    folder.chmod(0o755)
    path = folder / "store.db"
    with SessionStore.open(f"sqlite:///{path}") as store:
        store.create_session("a").append(talk(4))
    yield path
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_a_read_only_file_is_read_and_refuses_every_write_until_it_may_be_written(path: Path) -> None:
    """OPS-2"""
    path.chmod(0o444)
    path.parent.chmod(0o777)
    with without_privileges(), SessionStore.open(f"sqlite:///{path}") as store:
        session = store.resume("a")
        for attempt in (lambda: session.append(talk(1)), lambda: store.create_session("b"), lambda: store.delete("a")):
            with pytest.raises(StoreUnavailableError, match="read-only"):
                attempt()
        assert len(session.context()) == 4
    for file in path.parent.iterdir():  # the log that a reader made has the permissions of the file it belongs to
        file.chmod(0o666)
    with without_privileges(), SessionStore.open(f"sqlite:///{path}") as store:
        assert store.resume("a").append(talk(1)) == [4]


def test_the_same_on_an_event_loop(path: Path) -> None:
    """OPS-2"""
    path.chmod(0o444)
    path.parent.chmod(0o777)

    async def run() -> None:
        async with await AsyncSessionStore.open(f"sqlite:///{path}") as store:
            session = await store.resume("a")
            with pytest.raises(StoreUnavailableError, match="read-only"):
                await session.append(talk(1))
            assert len(await session.context()) == 4

    with without_privileges():
        asyncio.run(run())


@pytest.mark.parametrize("mode", [0o444, 0o666])
def test_a_folder_that_may_not_be_written_is_named_as_what_is_in_the_way(path: Path, mode: int) -> None:
    """OPS-2: the write-ahead log lies beside the file."""
    path.chmod(mode)
    path.parent.chmod(0o555)
    with without_privileges(), pytest.raises(StoreUnavailableError, match="folder"):
        SessionStore.open(f"sqlite:///{path}")
    path.parent.chmod(0o755)
    with SessionStore.open(f"sqlite:///{path}") as store:
        assert len(store.resume("a").context()) == 4
        assert list(store.doctor()) == []


def test_a_file_that_may_not_be_read_is_a_typed_error(path: Path) -> None:
    path.chmod(0o000)
    with without_privileges(), pytest.raises(StoreUnavailableError):
        SessionStore.open(f"sqlite:///{path}")
