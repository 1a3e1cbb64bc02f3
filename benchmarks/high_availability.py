"""Losing the primary under load: a primary and a synchronous standby, writers, SIGKILL, promotion, and a count of messages.

``python -m benchmarks high-availability``; the servers are those of the tests. Every acknowledged message stands in a journal
outside of the database; afterwards each must be on the promoted server exactly once. Promotion is ordered a second after the
kill: noticing that a primary is gone is the work of another program, which takes its own time.
"""
from __future__ import annotations

import multiprocessing
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from benchmarks.failover_writer import SHARED, WAYS, write_until
from benchmarks.machine import load
from benchmarks.report import Cell, Table
from benchmarks.settings import Settings
from sessionstore import SessionStore
from tests.postgres_server import PostgresServer, own_server

DURABLE = ("fsync=on", "full_page_writes=on")
"""What the servers of a run are started with: everything that a commit promises."""

NOTICED = 1.0
"""Seconds from the kill to the order to promote."""


@dataclass(frozen=True)
class Failover:
    """What a loss of the primary did. ``gaps`` are the longest seconds without an acknowledgement, a writer each."""

    before: int
    after: int
    lost: Sequence[str]
    doubled: Sequence[str]
    unheard: int
    promoting: float
    gaps: Sequence[float]
    errors: Counter[str]
    problems: Sequence[str]


@contextmanager
def pair(settings: Sequence[str] = ()) -> Iterator[tuple[PostgresServer, PostgresServer]]:
    """A primary and its synchronous standby, on a disk when they have settings that only mean something there."""
    primary = own_server(settings, on_disk=bool(settings))
    try:
        standby = primary.standby()
        try:
            primary.change("synchronous_standby_names", "*")
            yield primary, standby
        finally:
            standby.stop()
    finally:
        primary.stop()


def both(primary: PostgresServer, standby: PostgresServer, database: str) -> str:
    """The URL of a database on whichever of them takes writes; both drivers read it."""
    hosts = [f"{server.url.host}:{server.url.port}" for server in (primary, standby)]
    url = primary.url.set(host=None, port=None, database=database)
    return url.update_query_dict({"host": hosts, "target_session_attrs": "read-write"}).render_as_string(hide_password=False)


def fail_over(folder: Path, *, writers: int, seconds: float, settings: Sequence[str] = ()) -> Failover:
    """Let writers work for half of the time, lose the primary, promote the standby, go on for the other half, and count."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["benchmarks.failover_writer"])
    with pair(settings) as (primary, standby):
        url = both(primary, standby, primary.url.database or "")
        with SessionStore.open(url) as store:
            for name in (SHARED, *(f"writer-{number}" for number in range(writers))):
                store.create_session(name)
        stop = context.Event()
        processes = [context.Process(target=write_until, args=(folder, number, url, stop)) for number in range(writers)]
        for process in processes:
            process.start()
        alive = all(process.is_alive() for process in processes)
        while alive and not all(_has_begun(folder, number) for number in range(writers)):
            alive = all(process.is_alive() for process in processes)
            time.sleep(0.05)
        time.sleep(seconds / 2)
        killed = time.time()
        primary.die()
        time.sleep(NOTICED)
        standby.promote()
        promoting = time.time() - killed
        time.sleep(seconds / 2)
        stop.set()
        for process in processes:
            process.join()
        problems = [f"a writer ended with {process.exitcode}" for process in processes if process.exitcode]
        return _counted(folder, url, killed, promoting, problems)


def _has_begun(folder: Path, number: int) -> bool:
    journal = folder / f"journal-{number}"
    return journal.exists() and journal.stat().st_size > 0


def _counted(folder: Path, url: str, killed: float, promoting: float, problems: Sequence[str]) -> Failover:
    acknowledged: list[str] = []
    errors: Counter[str] = Counter()
    gaps: list[float] = []
    before = 0
    journals = sorted(folder.glob("journal-*"))
    for path in journals:
        lines = [line.split() for line in path.read_text().splitlines()]
        returns = [float(words[2]) for words in lines if words[0] == "ack"]
        errors.update(words[1] for words in lines if words[0] == "error")
        acknowledged += [name for words in lines if words[0] == "ack" for name in words[3:]]
        before += sum(len(words) - 3 for words in lines if words[0] == "ack" and float(words[2]) <= killed)
        gaps.append(max((later - earlier for earlier, later in pairwise(returns)), default=0.0))
    stored: Counter[str] = Counter()
    with SessionStore.open(url) as store:
        for summary in store.list_sessions(limit=len(journals) + 1):
            rows = store.session(summary.session_id).history(0, 10**9)
            stored.update(row.message["content"].split()[0] for row in rows)
        found = [*problems, *(str(finding) for finding in store.doctor())]
    return Failover(
        before=before,
        after=len(acknowledged) - before,
        lost=[name for name in acknowledged if not stored[name]],
        doubled=[name for name, count in stored.items() if count > 1],
        unheard=len(set(stored) - set(acknowledged)),
        promoting=promoting,
        gaps=gaps,
        errors=errors,
        problems=found,
    )


def high_availability(settings: Settings) -> list[Table]:
    """Several runs, each with new servers."""
    rows: list[tuple[Cell, ...]] = []
    for run in range(settings.pick(3, 1)):
        with tempfile.TemporaryDirectory() as folder:
            found = fail_over(Path(folder), writers=len(WAYS), seconds=settings.pick(20, 6), settings=DURABLE)
        errors = ", ".join(f"{count} {name}" for name, count in sorted(found.errors.items())) or "none"
        rows.append(
            (
                run + 1,
                found.before,
                found.after,
                len(found.lost),
                len(found.doubled),
                found.unheard,
                round(found.promoting, 2),
                " / ".join(f"{gap:.2f}" for gap in found.gaps),
                errors,
                "; ".join(found.problems) or "none",
            )
        )
    columns = (
        "run",
        "acknowledged before",
        "and after",
        "lost",
        "doubled",
        "stored and never acknowledged",
        "s from kill to promoted",
        "longest gap of each writer, s",
        "typed errors",
        "other problems",
    )
    about = (
        f"writers: {'; '.join(WAYS)}; turns of two messages with client ids, to a conversation of their own and to a shared "
        f"one in turn; promotion ordered {NOTICED:g} s after the kill; fsync on, synchronous_commit on, both servers and all "
        f"writers on one machine; {load()}"
    )
    return [Table("The primary is killed", columns, tuple(rows), (about,))]
