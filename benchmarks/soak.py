"""A soak of one SQLite file: processes that append, flush, compact, undo and cancel while others of them are killed.

``python -m benchmarks.soak --seconds 60 --processes 8`` prints what was done and what is wrong, and ends with 1 if anything is.
Every message that was acknowledged stands in a journal outside of the database; afterwards each must be there exactly once.
"""
from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

from benchmarks.soak_writer import SESSIONS, WINDOW, WordCounter, write_until
from sessionstore import SessionStore
from sessionstore.compaction.claiming import LONGEST_LEASE

LARGEST_LOG = 16 * 1024 * 1024
"""Bytes that the write-ahead log must stay under."""


@dataclass(frozen=True)
class SoakReport:
    """What a soak did, and every promise that was broken."""

    acknowledged: int
    kills: int
    largest_log: int
    operations: Counter[str]
    errors: Counter[str]
    problems: Sequence[str]


def soak(folder: Path, *, seconds: float, processes: int, seed: int = 1) -> SoakReport:
    """Let processes work on a new file in this folder for so long, kill some at random, and look at what is left."""
    url, chance = f"sqlite:///{folder}/soak.db", random.Random(seed)
    with SessionStore.open(url, counter=WordCounter()) as store:
        for name in SESSIONS:
            store.create_session(name, context_window=WINDOW)
    until = time.time() + seconds
    numbers = iter(range(1, 1_000_000))
    # A server that has imported everything forks the writers, so that one lives for work and not for imports.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["benchmarks.soak_writer"])

    def start() -> BaseProcess:
        process = context.Process(target=write_until, args=(folder, next(numbers), until))
        process.start()
        return process

    running: list[BaseProcess] = [start() for _ in range(processes)]
    kills = largest_log = 0
    log = folder / "soak.db-wal"
    while time.time() < until:
        time.sleep(chance.uniform(0.2, 0.6))
        largest_log = max(largest_log, log.stat().st_size if log.exists() else 0)
        place = chance.randrange(len(running))
        if time.time() < until - 0.5:
            running[place].kill()
            running[place].join()
            kills += 1
            running[place] = start()
    for process in running:
        process.join()
    return _examine(folder, url, kills, largest_log)


def _examine(folder: Path, url: str, kills: int, largest_log: int) -> SoakReport:
    lines = [line.split() for path in sorted(folder.glob("journal-*")) for line in path.read_text().split("\n") if line]
    acknowledged = [words[1] for words in lines if words[0] == "ack"]
    problems = [" ".join(words) for words in lines if words[0] == "crash"]
    stored: Counter[str] = Counter()
    with SessionStore.open(url, clock=lambda: time.time() + LONGEST_LEASE + 1, counter=WordCounter()) as store:
        mended = store.doctor(repair=True)
        problems += [str(finding) for finding in mended if finding.code != "stale_job"]
        problems += [str(finding) for finding in store.doctor()]
        for name in SESSIONS:
            tip = store.resume(name)
            stored.update(row.message["content"].split()[1] for row in tip.history(0, 10**9) if row.kind == "message")
            if len(tip.context()) != tip.record().flush_cursor:
                problems.append(f"{name}: {len(tip.context())} messages, cursor {tip.record().flush_cursor}")
            if tip.flush(tip.context()):
                problems.append(f"{name}: its own context flushed to something")
    problems += [f"message {one} was acknowledged and is not stored" for one in acknowledged if not stored[one]]
    problems += [f"message {one} is stored {count} times" for one, count in stored.items() if count > 1]
    if largest_log > LARGEST_LOG:
        problems.append(f"the write-ahead log had {largest_log:,} bytes")
    operations = Counter(words[1] for words in lines if words[0] == "done")
    errors = Counter(words[1] for words in lines if words[0] == "error")
    return SoakReport(len(acknowledged), kills, largest_log, operations, errors, problems)


def main() -> int:
    """Run a soak; gives the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--processes", type=int, default=8)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = soak(Path(folder), seconds=asked.seconds, processes=asked.processes)
    print(f"{report.acknowledged:,} messages acknowledged, {report.kills} writers killed")  # noqa: T201 - a program's output
    print(f"largest write-ahead log: {report.largest_log:,} bytes")  # noqa: T201 - the same
    print(f"operations: {dict(report.operations)}")  # noqa: T201 - the same
    print(f"typed errors: {dict(report.errors)}")  # noqa: T201 - the same
    for problem in report.problems:
        print(f"PROBLEM {problem}")  # noqa: T201 - the same
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
