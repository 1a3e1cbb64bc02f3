"""A process that is killed at any moment leaves the old state or the new one, and everything that it was told is stored."""
from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from sessionstore import SessionStore
from tests.counters import PieceCounter
from tests.store.conversations import SMALL, WINDOW

KILLS = 50
MOST_WAITED = 0.35
"""Seconds after which a writer is killed at the latest: some hundred transactions."""

LIVES = 0.02
"""Seconds that it lives at least once it has opened the store."""


def killed_after(url: str, seed: int, seconds: float) -> list[str]:
    """Let a writer run for so long, kill it, and give the lines that it wrote in full."""
    command = [sys.executable, "-m", "tests.store.killed_writer", url, "a", str(seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
        time.sleep(seconds)
        writer.kill()
        told = writer.stdout.read().decode()
    assert writer.returncode == -9
    return told.splitlines() if told.endswith("\n") or not told else told.splitlines()[:-1]


def acknowledged_messages(lines: Sequence[str]) -> dict[int, str]:
    found = {}
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "append":
            seq, _, content = rest.partition(" ")
            found[int(seq)] = content
    return found


def assert_whole(store: SessionStore, expected: dict[int, str], generations: Sequence[str]) -> None:
    """The lineage is one of the states that a writer can have left: nothing acknowledged is missing, nothing half there."""
    trace = store.lineage("a")
    tip = store.resume("a")
    log = {row.seq: row for row in tip.history(0, 10**9)}
    assert sorted(log) == list(range(tip.record().next_seq)), "the log has a gap"
    for seq, content in expected.items():
        assert log[seq].message["content"] == content
    assert [row.generation for row in trace.sessions] == list(range(1, len(trace.sessions) + 1))
    assert {name.partition("~")[0] for name in generations} <= {"a"}
    assert set(generations) <= {row.session_id for row in trace.sessions}
    assert trace.lineage.tip_generation == len(trace.sessions)
    for row in trace.sessions:
        later = row.generation < trace.lineage.tip_generation
        assert (row.end_reason in ("compaction", "undo", "rewind")) == later
        assert (row.ended_at is not None) == later
        handle = store.session(row.session_id)
        context = handle.context_rows()
        assert len(context) == row.flush_cursor
        assert handle.flush_cursor_agrees(context) if hasattr(handle, "flush_cursor_agrees") else True
        kinds = [entry.kind for entry in context]
        assert kinds.count("summary") <= 1
        assert context or row.generation == 1
    for job in trace.compactions:
        opened = [row for row in trace.sessions if row.generation == job.opened_generation]
        assert (job.status == "committed") == bool(opened)
        assert job.status == "committed" or job.summary_seq is None
        if job.status == "committed":
            assert job.summary_seq is not None
            assert log[job.summary_seq].kind == "summary"
    committed = sum(job.status == "committed" for job in trace.compactions)
    assert committed == sum(row.edge == "compaction" for row in trace.sessions)
    assert sum(row.kind == "summary" for row in log.values()) == committed


def test_fifty_kills_leave_the_old_state_or_the_new_one(tmp_path: Path) -> None:
    """ATOM-1, LOG-1, LIN-4: SIGKILL at random moments of a loop of appends, flushes, compactions and undos.

    On a SQLite file of its own: it is the embedded database whose process dies, and ``integrity_check`` is its word.
    """
    url, chance = f"sqlite:///{tmp_path}/killed.db", Random(20_240_607)
    now = time.time()
    with SessionStore.open(url, counter=PieceCounter()) as store:
        store.create_session("a", context_window=WINDOW)
    expected: dict[int, str] = {}
    generations: list[str] = []
    live = 0
    for number in range(KILLS):
        lines = killed_after(url, number, chance.uniform(LIVES, MOST_WAITED))
        expected |= acknowledged_messages(lines)
        generations += [line.partition(" ")[2] for line in lines if line.startswith(("compact", "undo"))]
        with sqlite3.connect(tmp_path / "killed.db") as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        connection.close()
        later: dict[str, Any] = {"clock": lambda shift=(number + 1) * 3_600: now + shift}
        with SessionStore.open(url, counter=PieceCounter(), **later) as store:
            assert_whole(store, expected, generations)
            # A job that died with its worker is settled by the next one, an hour later by this store's clock.
            live += sum(job.status == "running" for job in store.lineage("a").compactions)
            store.resume("a").compact(policy=SMALL)
            assert not [job for job in store.lineage("a").compactions if job.status == "running"]
    assert len(expected) > KILLS
    assert any("~" in name for name in generations)
