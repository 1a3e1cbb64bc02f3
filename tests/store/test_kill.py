"""A process that is killed at any moment leaves the old state or the new one, and everything that it was told is stored."""
from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import Random

from sessionstore import SessionStore
from tests.counters import PieceCounter
from tests.nursery import NURSERY
from tests.store.conversations import SMALL, WINDOW
from tests.store.killed_writer import write_for_ever

KILLS = 50
A_FILE = 5
"""Kills of writers of one database; then a fresh one, so that the log to look through stays short."""

MOST_LINES = 24
"""Lines of its journal that a writer has written at most when its end is decided."""

MOST_WAITED = 0.02
"""Seconds that pass at most from there to the kill: long enough to fall anywhere in what it does next."""


def killed_after(url: str, seed: int, count: int, seconds: float) -> list[str]:
    """Let a writer tell so many lines, wait a moment, kill it, and give all the lines that it wrote in full."""
    receiver, sender = NURSERY.Pipe(duplex=False)
    writer = NURSERY.Process(target=write_for_ever, args=(url, "a", seed, sender))
    writer.start()
    sender.close()
    lines: list[str] = []
    with receiver:
        assert receiver.recv_bytes() == b"ready"
        lines += [receiver.recv_bytes().decode() for _ in range(count)]
        time.sleep(seconds)
        writer.kill()
        # The kill may fall into the middle of a line, which then comes as an end of file.
        with suppress(EOFError, OSError):
            while True:
                lines.append(receiver.recv_bytes().decode())
    writer.join()
    assert writer.exitcode == -9
    return lines


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


def kill_writers(path: Path, chance: Random, *, seeds: Sequence[int]) -> tuple[int, int]:
    """Kill one writer after the other on one file, looking after each; gives messages and generations acknowledged."""
    url, now = f"sqlite:///{path}", time.time()
    with SessionStore.open(url, counter=PieceCounter()) as store:
        store.create_session("a", context_window=WINDOW)
    expected: dict[int, str] = {}
    generations: list[str] = []
    for turn, seed in enumerate(seeds, start=1):
        lines = killed_after(url, seed, chance.randint(0, MOST_LINES), chance.uniform(0, MOST_WAITED))
        expected |= acknowledged_messages(lines)
        generations += [line.partition(" ")[2] for line in lines if line.startswith(("compact", "undo"))]
        with sqlite3.connect(path) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        connection.close()

        def an_hour_later(hours: int = turn) -> float:
            return now + 3_600 * hours

        with SessionStore.open(url, counter=PieceCounter(), clock=an_hour_later) as store:
            assert_whole(store, expected, generations)
            # A job that died with its worker is settled by the next one, an hour later by this store's clock.
            store.resume("a").compact(policy=SMALL)
            assert not [job for job in store.lineage("a").compactions if job.status == "running"]
    return len(expected), len(generations)


def test_fifty_kills_leave_the_old_state_or_the_new_one(tmp_path: Path) -> None:
    """ATOM-1, LOG-1, LIN-4: SIGKILL at random moments of a loop of appends, flushes, compactions and undos.

    On SQLite files of its own: it is the embedded database whose process dies, and ``integrity_check`` is its word.
    """
    chance = Random(20_240_607)
    acknowledged = [
        kill_writers(tmp_path / f"{first}.db", chance, seeds=range(first, first + A_FILE)) for first in range(0, KILLS, A_FILE)
    ]
    assert sum(messages for messages, _ in acknowledged) > 4 * KILLS
    assert sum(generations for _, generations in acknowledged) > KILLS // 2
