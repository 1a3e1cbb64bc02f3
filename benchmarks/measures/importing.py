"""Importing a transcript, against reading and storing the same lines by hand."""
from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from benchmarks import payloads
from benchmarks.machine import load
from benchmarks.report import Table, milliseconds, ratio
from benchmarks.settings import Settings, scratch
from benchmarks.timing import interleaved, memory_peak, timed
from sessionstore import SessionStore


def import_a_transcript(settings: Settings) -> list[Table]:
    """Four megabytes of OpenAI chat, a message a line."""
    count = settings.pick(4_200, 210)
    rounds = settings.pick(7, 1)
    with scratch() as folder:
        source = folder / "transcript.jsonl"
        source.write_text("".join(json.dumps(message) + "\n" for message in payloads.messages(count, 1_000)))
        number = iter(range(1_000))

        def ours() -> float:
            with SessionStore.open(f"sqlite:///{folder}/{next(number)}.db") as store:
                return timed(lambda: store.import_file(source))

        def again() -> float:
            with SessionStore.open(f"sqlite:///{folder}/again.db") as store:
                store.import_file(source)
                return timed(lambda: store.import_file(source))

        def raw() -> float:
            return timed(lambda: _by_hand(source, folder / f"{next(number)}.db"))

        with memory_peak() as peak:
            ours()
        by_hand, first, second = interleaved((raw, ours, again), rounds)
        size = source.stat().st_size / 1e6
    rows = (
        ("json.loads and sqlite3, one transaction", milliseconds(by_hand.median), "1.00×", None),
        ("import_file", milliseconds(first.median), ratio(first.median, by_hand.median), peak.megabytes),
        ("import_file of the same file again", milliseconds(second.median), ratio(second.median, by_hand.median), None),
    )
    about = f"{size:.1f} MB, {count:,} messages, median of {rounds}, in memory; {load()}"
    return [Table("Import a transcript", ("work", "median ms", "to raw", "peak MB"), rows, (about,))]


def _by_hand(source: Path, database: Path) -> None:
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE messages (seq INTEGER PRIMARY KEY, role TEXT, body TEXT)")
    connection.execute("BEGIN IMMEDIATE")
    with source.open(encoding="utf-8") as lines:
        rows = [(number, json.loads(line)["role"], line.rstrip("\n")) for number, line in enumerate(lines)]
    connection.executemany("INSERT INTO messages VALUES (?, ?, ?)", rows)
    connection.execute("COMMIT")
    connection.close()
