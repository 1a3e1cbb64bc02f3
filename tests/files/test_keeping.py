"""Backup, retention and numbers."""
from __future__ import annotations

import json
import sqlite3
import threading
from pathlib import Path

import pytest

from sessionstore import SessionStore, StoreUnavailableError
from tests.cli.running import CommandLine
from tests.conftest import Clock
from tests.counters import PieceCounter
from tests.doctor.planting import LINEAGE, use_everything
from tests.store.conversations import WINDOW, compacted, rows_of, talk

DAY = 86_400.0


def test_a_backup_has_every_row_and_opens_as_a_store(sqlite_url: str, tmp_path: Path, clock: Clock) -> None:
    """LIN-8"""
    target = tmp_path / "backup.db"
    with SessionStore.open(sqlite_url, clock=clock, counter=PieceCounter()) as store:
        use_everything(store)
        report = store.backup(target)
        with SessionStore.open(f"sqlite:///{target}", clock=clock) as copy:
            assert rows_of(copy) == rows_of(store)
            assert list(copy.doctor()) == []
    assert report.rows >= 100
    assert Path(report.path) == target
    assert [file.name for file in tmp_path.glob("backup*")] == ["backup.db"]


def test_a_backup_while_others_write_is_of_one_moment(sqlite_url: str, tmp_path: Path) -> None:
    target = tmp_path / "backup.db"
    stop = threading.Event()
    with SessionStore.open(sqlite_url) as store:
        session = store.create_session("a")
        session.append([{"role": "user", "content": "x" * 1_000}] * 2_000)

        def write() -> None:
            while not stop.is_set():
                session.append(talk(2))

        writer = threading.Thread(target=write)
        writer.start()
        try:
            reports = [store.backup(target) for _ in range(5)]
        finally:
            stop.set()
            writer.join()
        assert reports[-1].rows > 2_000
        with SessionStore.open(f"sqlite:///{target}") as copy:
            assert list(copy.doctor()) == []
            assert copy.resume("a").record().next_seq % 2 == 0


def test_a_backup_that_cannot_be_leaves_what_was_there(sqlite_url: str, tmp_path: Path) -> None:
    with SessionStore.open(sqlite_url) as store:
        store.create_session("a")
        with pytest.raises(StoreUnavailableError, match="the database itself"):
            store.backup(tmp_path / "store.db")
        assert [line.session_id for line in store.list_sessions()] == ["a"]
        with pytest.raises(StoreUnavailableError):
            store.backup(tmp_path / "no folder" / "backup.db")


def test_retention_removes_whole_lineages_by_their_last_activity(store: SessionStore, clock: Clock) -> None:
    """LIN-7: an old root with a young tip stays whole."""
    old = store.create_session("old", title="Old")
    old.append(talk(2))
    store.create_session("ended").end("finished")
    session = store.create_session("long", context_window=WINDOW)
    session.append(talk(30))
    clock.advance(80 * DAY)
    session = compacted(session).session
    clock.advance(20 * DAY)
    assert [one.lineage_id for one in store.prune(older_than=90 * DAY, ended_only=True, dry_run=True)] == ["ended"]
    shown = store.prune(older_than=90 * DAY, dry_run=True)
    assert [(one.lineage_id, one.title, one.messages) for one in shown] == [("ended", None, 0), ("old", "Old", 2)]
    assert len(store.list_sessions()) == 3
    assert {one.lineage_id for one in store.prune(older_than=90 * DAY)} == {"old", "ended"}
    assert [line.session_id for line in store.list_sessions()] == ["long~2"]
    assert len(store.lineage("long").sessions) == 2
    assert store.prune(older_than=90 * DAY) == []
    assert list(store.doctor()) == []
    store.create_session("again", title="Old")  # its title is free


def test_retention_can_be_limited_to_a_namespace(store: SessionStore, clock: Clock) -> None:
    store.create_session("a", namespace="x")
    store.create_session("b", namespace="y")
    clock.advance(DAY)
    assert [one.lineage_id for one in store.prune(older_than=1.0, namespace="x")] == ["a"]
    assert [line.session_id for line in store.list_sessions()] == ["b"]


def test_stats_count_what_is_there(store: SessionStore, clock: Clock) -> None:
    begun = clock.at
    session = store.create_session(LINEAGE, context_window=WINDOW)
    session.append(talk(30))
    clock.advance(5)
    result = compacted(session)
    store.create_session("b").end("finished")
    found = store.stats()
    assert (found.lineages, found.open_lineages, found.sessions) == (2, 1, 3)
    assert (found.messages, found.summaries, found.renditions) == (30, 1, 0)
    assert found.compactions == {"committed": 1}
    assert found.tokens_saved == result.tokens_before - result.tokens_after
    assert (found.oldest, found.last_activity) == (begun, begun + 5)
    assert found.bytes > 10_000


def test_stats_of_an_empty_database(store: SessionStore) -> None:
    found = store.stats()
    assert (found.lineages, found.messages, found.tokens_saved, found.oldest, found.compactions) == (0, 0, 0, None, {})


def test_the_commands(tmp_path: Path) -> None:
    program = CommandLine(tmp_path / "sessions.db")
    with SessionStore.open(f"sqlite:///{program.database}", clock=lambda: 1_000_000.0, counter=PieceCounter()) as store:
        store.create_session("a", title="Old one").append(talk(3))
    target = tmp_path / "copy.db"
    assert "compared" in program.succeed("backup", str(target))
    assert program.json("backup", str(target), "--json")["rows"] > 3
    assert program.json("stats", "--json")["messages"] == 3
    assert "1, 1 of them open" in program.succeed("stats")
    assert "1 conversation would be deleted" in program.succeed("prune", "--older-than", "90d", "--dry-run")
    assert program.run("prune", "--older-than", "90d", answer="n\n").exit_code == 1
    assert program.run("prune", "--older-than", "soon").exit_code == 2
    document = program.json("prune", "--older-than", "90d", "--yes", "--json")
    assert (document["deleted"], [one["lineage_id"] for one in document["lineages"]]) == (True, ["a"])
    assert json.loads(program.succeed("list", "--json")) == []
    with sqlite3.connect(target) as connection:
        assert connection.execute("SELECT count(*) FROM messages").fetchone() == (3,)
    connection.close()
