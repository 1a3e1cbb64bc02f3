"""A SQLite file that is full, read-only, damaged, replaced, or on a network (OPS-2, CONC-1)."""
from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import event, text

from sessionstore import SessionStore, StoreLockedError, StoreUnavailableError
from sessionstore.storage.file_identity import refuse_network_file_system
from sessionstore.storage.waiting import LONGEST_PAUSE, SHORTEST_PAUSE, pause
from tests.store.conversations import talk


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def opened(path: Path) -> Iterator[SessionStore]:
    with SessionStore.open(f"sqlite:///{path}") as store:
        store.create_session("a").append(talk(4))
        yield store


def set_pages(store: SessionStore, pages: int) -> None:
    """Let the file of every connection of a store have at most so many pages."""
    store._database.close()

    @event.listens_for(store._database._engine, "connect")
    def limit(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages}")


def test_a_full_disk_is_a_typed_error_and_nothing_acknowledged_is_lost(opened: SessionStore) -> None:
    """The store works again once there is room."""
    pages = opened._database.read(lambda c: c.execute(text("PRAGMA page_count")).scalar())
    set_pages(opened, int(pages or 0) + 12)
    session = opened.resume("a")
    acknowledged: list[int] = []

    def fill() -> None:
        while True:
            acknowledged.extend(session.append({"role": "user", "content": "more " * 800}))

    with pytest.raises(StoreUnavailableError, match="full"):
        fill()
    assert acknowledged
    assert len(session.context()) == 4 + len(acknowledged)
    set_pages(opened, 1_000_000)
    assert session.append(talk(1)) == [4 + len(acknowledged)]
    assert list(opened.doctor()) == []


def test_a_read_only_file_can_be_read_and_refuses_writes_by_a_typed_error(opened: SessionStore, path: Path) -> None:
    with SessionStore.open(f"sqlite:///file:{path}?mode=ro&uri=true") as store:
        assert len(store.resume("a").context()) == 4
        with pytest.raises(StoreUnavailableError, match="read-only"):
            store.resume("a").append(talk(1))
    assert len(opened.resume("a").context()) == 4


def test_a_file_that_was_deleted_under_an_open_store_takes_no_write(opened: SessionStore, path: Path) -> None:
    session = opened.resume("a")
    for file in path.parent.glob("store.db*"):
        file.unlink()
    with pytest.raises(StoreUnavailableError, match="was deleted"):
        session.append(talk(1))
    with pytest.raises(StoreUnavailableError, match="was deleted"):
        session.context()
    assert not path.exists()


def test_a_file_that_was_replaced_under_an_open_store_takes_no_write(
    opened: SessionStore, path: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.db"
    SessionStore.open(f"sqlite:///{other}").close()
    session = opened.resume("a")
    other.replace(path)
    with pytest.raises(StoreUnavailableError, match="replaced"):
        session.append(talk(1))


def test_a_file_that_is_replaced_in_the_middle_of_a_write_is_not_reported_as_written(
    opened: SessionStore, path: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.db"
    shutil.copy(path, other)
    session = opened.resume("a")
    opened._database.close()

    @event.listens_for(opened._database._engine, "connect")
    def watch(connection: sqlite3.Connection, _record: object) -> None:
        def replace(statement: str) -> None:
            if statement == "COMMIT" and other.exists():
                other.replace(path)

        connection.set_trace_callback(replace)

    with pytest.raises(StoreUnavailableError, match="replaced"):
        session.append(talk(1))


def test_a_damaged_page_is_a_typed_error_other_lineages_stay_readable_and_a_backup_brings_it_back(
    opened: SessionStore, path: Path, tmp_path: Path
) -> None:
    opened.create_session("b").append({"role": "user", "content": "x" * 300_000})
    opened.backup(tmp_path / "backup.db")
    opened.close()
    data = path.read_bytes()
    at = data.rindex(b"x" * 3_000) - 100_000  # in the middle of a value that reaches over many pages
    page = opened._database.read(lambda c: c.execute(text("PRAGMA page_size")).scalar())
    opened.close()
    start = at // int(page or 0) * int(page or 0)
    with path.open("r+b") as file:
        file.seek(start)
        file.write(b"\xff\xff\xff\xff")  # the number of the next page of a long value
    with pytest.raises(StoreUnavailableError, match="damaged"):
        opened.resume("b").context()
    assert len(opened.resume("a").context()) == 4
    assert [finding.code for finding in opened.doctor()][:1] == ["damaged_file"]
    opened.close()
    (tmp_path / "backup.db").replace(path)
    with SessionStore.open(f"sqlite:///{path}") as store:
        assert store.resume("b").context() == [{"role": "user", "content": "x" * 300_000}]
        assert list(store.doctor()) == []


MOUNTS = """\
24 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
31 24 0:40 / /mnt/team\\040share rw,relatime shared:9 - nfs4 server:/export rw
32 31 0:41 / /mnt/team\\040share/local rw - tmpfs tmpfs rw
33 24 0:42 / /home/ana/remote rw - fuse.sshfs ana@host:/ rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/ana/agent.db", None),
        ("/mnt/team share/agent.db", "nfs4"),
        ("/mnt/team share", "nfs4"),
        ("/mnt/team shared/agent.db", None),
        ("/mnt/team share/local/agent.db", None),
        ("/home/ana/remote/x/agent.db", "fuse.sshfs"),
    ],
)
def test_a_network_file_system_is_refused_by_the_mount_table(tmp_path: Path, path: str, kind: str | None) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(MOUNTS, encoding="utf-8")
    if kind is None:
        refuse_network_file_system("sqlite:///x", path, mounts=table)
        return
    with pytest.raises(StoreUnavailableError, match=kind):
        refuse_network_file_system("sqlite:///x", path, mounts=table)


def test_without_a_mount_table_nothing_is_refused(tmp_path: Path) -> None:
    refuse_network_file_system("sqlite:///x", "/mnt/x.db", mounts=tmp_path / "absent")


@pytest.mark.usefixtures("opened")
def test_a_writer_that_waits_in_vain_gets_a_typed_error_after_its_time(path: Path) -> None:
    """CONC-1"""
    blocker = sqlite3.connect(path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    with SessionStore.open(f"sqlite:///{path}", busy_timeout=0.2) as impatient:
        with pytest.raises(StoreLockedError) as caught:
            impatient.resume("a").append(talk(1))
        assert caught.value.waited == 0.2
        assert len(impatient.resume("a").context()) == 4
        blocker.execute("ROLLBACK")
        blocker.close()
        assert impatient.resume("a").append(talk(1))


def test_who_waits_longer_asks_more_often() -> None:
    pauses = [pause(waited) for waited in (0.0, 0.05, 0.5, 5.0)]
    assert pauses == sorted(pauses, reverse=True)
    assert pauses[0] == LONGEST_PAUSE
    assert pauses[-1] == SHORTEST_PAUSE
