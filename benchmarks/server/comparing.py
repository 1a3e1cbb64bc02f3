"""The store on PostgreSQL beside psycopg alone doing the same work, one of each in turn in one run."""
from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import payloads
from benchmarks.machine import load
from benchmarks.report import Table, against_goal, milliseconds, ratio
from benchmarks.server.raw_psycopg import RawPsycopg
from benchmarks.settings import Settings
from benchmarks.timing import interleaved, timed
from sessionstore import AsyncSessionStore, SessionStore
from tests.postgres_server import PostgresServer, own_server

BODY_BYTES = 1000
STORED = 1_000
"""Messages in a list that is flushed."""

SAME_WORK = "raw psycopg: the same two statements"
APPEND_GOAL, LOAD_GOAL = 2.0, 1.5
DURABLE = ("fsync=on", "full_page_writes=on", "shared_buffers=256MB")
"""What a server on a disk is started with."""


@dataclass
class _Bench:
    """A store, an async one and a bare connection, each with databases of its own on one server."""

    store: SessionStore
    indexed: SessionStore
    raw: RawPsycopg
    loop: asyncio.AbstractEventLoop
    other: AsyncSessionStore
    number: Iterator[int]

    def turn(self) -> list[payloads.Message]:
        """A turn that was never stored before."""
        return payloads.turn(next(self.number), BODY_BYTES)


def on_a_server(settings: Settings) -> list[Table]:
    """Appends on a disk with fsync and in memory without; the rest in memory."""
    tables = []
    with _bench(DURABLE, on_disk=True) as bench:
        tables += [_appends(settings, bench, "on a disk, fsync on"), _flushes(settings, bench, "on a disk, fsync on")]
    with _bench(()) as bench:
        tables += [_appends(settings, bench, "in memory, fsync off"), _flushes(settings, bench, "in memory, fsync off")]
        return [*tables, *_loads(settings, bench), _imports(settings, bench)]


@contextmanager
def started(settings: tuple[str, ...], *, on_disk: bool = False) -> Iterator[PostgresServer]:
    """A server for as long as a block lasts."""
    server = own_server(settings, on_disk=on_disk)
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def _bench(settings: tuple[str, ...], *, on_disk: bool = False) -> Iterator[_Bench]:
    with started(settings, on_disk=on_disk) as server:
        loop = asyncio.new_event_loop()

        async def opened() -> AsyncSessionStore:
            return await AsyncSessionStore.open(server.new_database())

        bench = _Bench(
            SessionStore.open(server.new_database()),
            SessionStore.open(server.new_database(), search_index=True),
            RawPsycopg(server.new_database().replace("+psycopg", "")),
            loop,
            loop.run_until_complete(opened()),
            iter(range(10**6, 10**9)),
        )
        try:
            yield bench
        finally:
            bench.store.close()
            bench.indexed.close()
            bench.raw.close()
            loop.run_until_complete(bench.other.close())
            loop.close()


def _appends(settings: Settings, bench: _Bench, where: str) -> Table:
    session, indexed = bench.store.create_session("s"), bench.indexed.create_session("s")
    bench.raw.begin("s")
    begun = bench.loop.run_until_complete(bench.other.create_session("s"))

    async def appended(turn: list[payloads.Message]) -> float:
        clock = bench.loop.time()
        await begun.append(turn)
        return bench.loop.time() - clock

    works: dict[str, Callable[[], float]] = {
        "raw psycopg: one insert of two columns": lambda: _timed(bench.raw.append_plainly, bench.turn()),
        SAME_WORK: lambda: _timed(bench.raw.append, "s", bench.turn()),
        "sessionstore": lambda: _timed(session.append, bench.turn()),
        "sessionstore, async": lambda: bench.loop.run_until_complete(appended(bench.turn())),
        "sessionstore, with the search index": lambda: _timed(indexed.append, bench.turn()),
    }
    title = f"Append a turn of three ({where})"
    return _compared(title, works, settings.pick(1_000, 30), SAME_WORK, {"sessionstore": APPEND_GOAL})


def _flushes(settings: Settings, bench: _Bench, where: str) -> Table:
    known = payloads.messages(STORED - 1, BODY_BYTES)
    flushed, appended = bench.store.create_session("flushed"), bench.store.create_session("appended")
    flushed.flush(known)
    appended.append(known)

    def flush() -> float:
        known.extend(bench.turn())
        return _timed(flushed.flush, known)

    works = {"append of 3": lambda: _timed(appended.append, bench.turn()), "flush with 3 new": flush}
    return _compared(f"Flush a list of {STORED:,} ({where})", works, settings.pick(300, 10), "append of 3", {})


def _loads(settings: Settings, bench: _Bench) -> Iterator[Table]:
    count = settings.pick(10_000, 1_000)
    listed = payloads.messages(count, BODY_BYTES)
    session = bench.store.create_session("long")
    session.append(listed)
    bench.raw.begin("long")
    bench.raw.fill("long", listed)
    begun = bench.loop.run_until_complete(bench.other.create_session("long"))
    bench.loop.run_until_complete(begun.append(listed))
    whole: dict[str, Callable[[], float]] = {
        "raw psycopg": lambda: timed(lambda: _expect(count, bench.raw.load("long"))),
        "sessionstore": lambda: timed(lambda: _expect(count, len(session.context()))),
        "sessionstore, async": lambda: timed(lambda: bench.loop.run_until_complete(begun.context())),
    }
    yield _compared(
        f"Load {count:,} messages", whole, settings.pick(25, 3), "raw psycopg", {"sessionstore": LOAD_GOAL}, each=count
    )
    end: dict[str, Callable[[], float]] = {
        "raw psycopg": lambda: timed(lambda: _expect(50, bench.raw.last("long", 50))),
        "sessionstore": lambda: timed(lambda: _expect(50, len(session.last(50)))),
        "sessionstore, async": lambda: timed(lambda: bench.loop.run_until_complete(begun.last(50))),
    }
    yield _compared(f"Last 50 of {count:,}", end, settings.pick(300, 10), "raw psycopg", {"sessionstore": LOAD_GOAL}, each=50)


def _imports(settings: Settings, bench: _Bench) -> Table:
    count = settings.pick(10_000, 500)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "transcript.jsonl"
        source.write_text("".join(json.dumps(message) + "\n" for message in payloads.messages(count, BODY_BYTES)))

        def ours() -> float:
            name = f"imported-{next(bench.number)}"
            return timed(lambda: bench.store.import_file(source, id=name))

        def raw() -> float:
            name = f"imported-{next(bench.number)}"
            bench.raw.begin(name)
            return timed(lambda: bench.raw.fill_from(name, source))

        works = {"json.loads and COPY by psycopg": raw, "import_file": ours}
        title = f"Import a transcript of {count:,} messages"
        return _compared(title, works, settings.pick(7, 1), "json.loads and COPY by psycopg", {}, each=count)


def _compared(
    title: str,
    works: Mapping[str, Callable[[], float]],
    rounds: int,
    base: str,
    goals: Mapping[str, float],
    *,
    each: int = 1,
) -> Table:
    for work in works.values():  # warm: first statements are prepared, first pages read
        for _ in range(min(rounds, 10)):
            work()
    times = dict(zip(works, interleaved(list(works.values()), rounds), strict=True))
    rows = tuple(
        (
            name,
            milliseconds(found.median),
            milliseconds(found.p99),
            float(f"{each / found.median:.3g}"),
            ratio(found.median, times[base].median),
            against_goal(found.median / times[base].median, goals[name]) if name in goals else None,
        )
        for name, found in times.items()
    )
    columns = ("work", "median ms", "p99 ms", "messages a second" if each > 1 else "turns a second", "to raw", "goal")
    return Table(title, columns, rows, (f"median of {rounds}, one of each in turn; bodies of {BODY_BYTES} bytes; {load()}",))


def _timed(work: Callable[..., object], *arguments: Any) -> float:
    return timed(lambda: work(*arguments))


def _expect(count: int, found: int) -> None:
    if count != found:
        raise RuntimeError(f"{found} messages came instead of {count}")


