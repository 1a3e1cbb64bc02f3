"""Many processes on one SQLite file: what turns cost beside raw sqlite3, how evenly writers get through, how the log grows.

``python -m benchmarks.many_writers turns|fairness|log [--folder DIR]``; the folder should be on a disk, not in memory.
"""
from __future__ import annotations

import argparse
import json
import multiprocessing
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from benchmarks.soak_writer import WordCounter
from sessionstore import SessionStore

TURN = [
    {"role": "user", "content": "please look at the login and say what is wrong with it"},
    {"role": "assistant", "content": "I looked at auth.py and the token lives thirty seconds. " * 4},
    {"role": "user", "content": "go on"},
]
PROCESSES, TURNS = 4, 500
WRITERS, SECONDS = 8, 20.0
APPENDS, READERS = 100_000, 3


def store_turns(folder: Path, number: int, start: Barrier, _answers: Any) -> None:
    """So many turns through the library, into a conversation of this process."""
    with SessionStore.open(f"sqlite:///{folder}/turns.db", counter=WordCounter()) as store:
        session = store.create_session(f"s{number}")
        start.wait()
        for _ in range(TURNS):
            session.append(TURN)


def raw_turns(folder: Path, number: int, start: Barrier, _answers: Any) -> None:
    """The same rows through sqlite3 alone, as plainly as they can be written."""
    connection = sqlite3.connect(folder / "raw.db", timeout=30.0, isolation_level=None)
    connection.execute("PRAGMA synchronous = FULL")
    start.wait()
    for _ in range(TURNS):
        connection.execute("BEGIN IMMEDIATE")
        rows = [(f"s{number}", message["role"], json.dumps(message), int(time.time() * 1e6)) for message in TURN]
        connection.executemany("INSERT INTO messages (session, role, body, at) VALUES (?, ?, ?, ?)", rows)
        connection.execute("COMMIT")
    connection.close()


def fair_writer(folder: Path, number: int, start: Barrier, answers: Any) -> None:
    """As many turns as get through in the time."""
    with SessionStore.open(f"sqlite:///{folder}/fair.db", counter=WordCounter()) as store:
        session = store.create_session(f"s{number}")
        start.wait()
        until, turns, longest = time.monotonic() + SECONDS, 0, 0.0
        while time.monotonic() < until:
            began = time.monotonic()
            session.append(TURN)
            longest = max(longest, time.monotonic() - began)
            turns += 1
        answers.put((turns, longest))


def together(work: Callable[..., None], folder: Path, count: int) -> tuple[float, list[Any]]:
    """Run processes from one moment on; gives seconds until the last has ended, and what they answered."""
    context = multiprocessing.get_context("spawn")
    start, answers = context.Barrier(count + 1), context.Queue()
    processes = [context.Process(target=work, args=(folder, number, start, answers)) for number in range(count)]
    for process in processes:
        process.start()
    start.wait()
    began = time.monotonic()
    found = [answers.get() for _ in processes] if work is fair_writer else []
    for process in processes:
        process.join()
        assert process.exitcode == 0
    return time.monotonic() - began, found


def turns(folder: Path) -> dict[str, Any]:
    """4 processes of 500 turns each, and the same load through raw sqlite3."""
    SessionStore.open(f"sqlite:///{folder}/turns.db").close()
    # SQLite doesn't wait for the lock in this one statement, so it is said before anybody else is there.
    with closing(sqlite3.connect(folder / "raw.db")) as raw_file:
        raw_file.execute("PRAGMA journal_mode = WAL")
        raw_file.execute("CREATE TABLE messages (id INTEGER PRIMARY KEY, session, role, body, at)")
    ours, _ = together(store_turns, folder, PROCESSES)
    raw, _ = together(raw_turns, folder, PROCESSES)
    with SessionStore.open(f"sqlite:///{folder}/turns.db") as store:
        stored = sum(store.resume(f"s{number}").record().next_seq for number in range(PROCESSES))
    return {"seconds": round(ours, 2), "raw_seconds": round(raw, 2), "times_raw": round(ours / raw, 2), "stored": stored}


def fairness(folder: Path) -> dict[str, Any]:
    """8 writers for 20 seconds: the least share of all, in parts of an even one, and the longest wait."""
    SessionStore.open(f"sqlite:///{folder}/fair.db").close()
    _, found = together(fair_writer, folder, WRITERS)
    counts = [count for count, _ in found]
    share = min(counts) / statistics.mean(counts)
    return {"turns": sorted(counts), "least_share": round(share, 2), "longest_wait": round(max(wait for _, wait in found), 2)}


def log(folder: Path) -> dict[str, Any]:
    """100,000 appends of one message beside readers that come and go: the largest size of the write-ahead log."""
    context = multiprocessing.get_context("spawn")
    stop, largest = context.Event(), 0
    path = folder / "log.db-wal"
    with SessionStore.open(f"sqlite:///{folder}/log.db", counter=WordCounter()) as store:
        session = store.create_session("a")
        readers = [context.Process(target=come_and_go, args=(folder, stop), daemon=True) for _ in range(READERS)]
        for reader in readers:
            reader.start()
        began = time.monotonic()
        for number in range(APPENDS):
            session.append({"role": "user", "content": f"message {number} and some words behind it " * 5})
            largest = max(largest, path.stat().st_size)
        seconds = time.monotonic() - began
        stop.set()
        for reader in readers:
            reader.join()
    return {"appends": APPENDS, "readers": READERS, "largest_log_bytes": largest, "seconds": round(seconds, 1)}


def come_and_go(folder: Path, stop: Any) -> None:
    """Open the store, read the newest messages a few times, close it; again and again."""
    while not stop.is_set():
        with SessionStore.open(f"sqlite:///{folder}/log.db", counter=WordCounter()) as store:
            for _ in range(50):
                store.resume("a").last(50)


def main() -> None:
    """Run one of them, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", default=["turns", "fairness", "log"])
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    for name in asked.what:
        with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
            measured = {"turns": turns, "fairness": fairness, "log": log}[name](Path(folder))
        sys.stdout.write(json.dumps({name: measured}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
