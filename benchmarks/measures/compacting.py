"""A compaction: its plan, its commit, its rows, and the whole beside Hermes' compressor with its own persistence."""
from __future__ import annotations

import random
import sqlite3
import time
from collections import Counter
from pathlib import Path

from benchmarks import payloads
from benchmarks.machine import load
from benchmarks.participants import HERMES, LIBRARY, Seat, seated
from benchmarks.report import Cell, Table, against_goal, milliseconds, ratio
from benchmarks.settings import Settings, scratch
from benchmarks.timing import Times, memory_peak, timed
from sessionstore import CompactionHooks, SessionStore

COMMIT_GOAL = 5.0
"""Milliseconds of a commit in memory."""
SUMMARY = payloads.prose(random.Random(3), 4_000)
"""What the scripted summariser answers."""


class CommitWatch:
    """A store's clock that remembers when it was last looked at, and a hook that knows how long ago that was."""

    def __init__(self) -> None:
        self._looked = 0.0
        self.seconds = 0.0

    def now(self) -> float:
        """The time for the store."""
        self._looked = time.perf_counter()
        return time.time()

    def committed(self, _session: str, _continuation: str) -> None:
        """Stop the watch: called when the transaction is over."""
        self.seconds = time.perf_counter() - self._looked


def compact_long_sessions(settings: Settings) -> list[Table]:
    """Two lengths by ourselves, and the shorter one beside Hermes."""
    sizes = {settings.pick(2_000, 200): settings.pick(5, 1), settings.pick(20_000, 600): 1}
    rows: list[tuple[Cell, ...]] = []
    for size, rounds in sizes.items():
        for summarizer in ("scripted", "extractive"):
            rows += _measured(size, summarizer, rounds)
    columns = ("messages", "summariser", "dry run ms", "compaction ms", "commit ms", "commit goal", "rows written", "peak MB")
    notes = (
        "the commit is what passes from the last look at the store's clock, in its transaction, to the hook that is told of it",
        f"messages of 1,000 bytes, their tokens known from ``pressure()``; in memory; {load()}",
    )
    tables = [Table("Compact a session", columns, tuple(rows), notes)]
    if settings.peers:
        tables.append(_beside_hermes(min(sizes), settings.pick(5, 1)))
    return tables


def _measured(size: int, summarizer: str, rounds: int) -> list[tuple[Cell, ...]]:
    dry: list[float] = []
    whole: list[float] = []
    commits: list[float] = []
    peaks: list[float] = []
    written: Counter[str] = Counter()
    for _ in range(rounds):
        with scratch() as folder:
            path = folder / "compact.db"
            watch = CommitWatch()
            hooks = CompactionHooks(after_commit=watch.committed)
            with SessionStore.open(f"sqlite:///{path}", hooks=hooks, clock=watch.now) as store:
                session = store.create_session(context_window=128_000, system_prompt="You are a coder.")
                session.append(payloads.messages(size, 1000))
                session.pressure()  # as every turn does: what is counted once is not counted again
                dry.append(timed(lambda session=session: session.compact(dry_run=True)))  # type: ignore[misc]  # a default binds the loop's value
                before = _row_counts(path)
                with memory_peak() as peak:
                    begun = time.perf_counter()
                    result = session.compact(summarizer=(lambda _: SUMMARY) if summarizer == "scripted" else None)
                    whole.append(time.perf_counter() - begun)
                if result.status != "committed":
                    raise RuntimeError(f"the compaction ended {result.status}: {result.reason}")
                peaks.append(peak.megabytes)
                commits.append(watch.seconds)
                written = _row_counts(path) - before
    commit = milliseconds(Times(tuple(commits)).median)
    changed = ", ".join(f"{table} {count}" for table, count in sorted(written.items()))
    return [
        (
            size,
            summarizer,
            milliseconds(Times(tuple(dry)).median),
            milliseconds(Times(tuple(whole)).median),
            commit,
            against_goal(commit, COMMIT_GOAL),
            changed,
            max(peaks),
        )
    ]


def _row_counts(path: Path) -> Counter[str]:
    connection = sqlite3.connect(path)
    try:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        names = [name for (name,) in tables if not name.startswith("search_")]
        return Counter({name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names})
    finally:
        connection.close()


def _beside_hermes(size: int, rounds: int) -> Table:
    found: dict[str, list[float]] = {}
    with scratch() as folder, seated((LIBRARY, HERMES)) as (seats, notes):
        for number in range(rounds):
            for seat in seats:
                _one(seat, folder, number, size, found, notes)
    hermes = found.get(HERMES.name)
    base = Times(tuple(hermes)).median if hermes else None
    rows: list[tuple[Cell, ...]] = []
    for name, seconds in found.items():
        median = Times(tuple(seconds)).median
        goal = against_goal(median / base, 1.0) if base and name == LIBRARY.name else None
        rows.append((name, milliseconds(median), ratio(median, base), goal))
    about = f"median of {rounds}; ours with the extractive summariser, counting included, Hermes with a stubbed model; {load()}"
    columns = ("store", "median ms", "to Hermes", "goal")
    return Table(f"Compact {size:,} messages and store it", columns, tuple(rows), (about, *notes))


def _one(seat: Seat, folder: Path, number: int, size: int, found: dict[str, list[float]], notes: list[str]) -> None:
    seat.call("open", str(folder / f"{seat.participant.module}-{number}.db"))
    answer = seat.order("compact", count=size)
    if answer.once is None:
        note = f"{seat.participant.name}: {answer.problem}"
        notes += [] if note in notes else [note]
    else:
        found.setdefault(seat.participant.name, []).append(answer.once)
    seat.call("close")
