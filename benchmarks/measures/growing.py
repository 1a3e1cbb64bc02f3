"""How each thing grows with what is stored already: the same work in an empty store and beside a million messages."""
from __future__ import annotations

from collections.abc import Callable

from benchmarks import payloads
from benchmarks.machine import load
from benchmarks.report import Cell, Table, against_goal, milliseconds
from benchmarks.server.comparing import started
from benchmarks.settings import Settings, scratch
from benchmarks.timing import Times, interleaved, timed
from sessionstore import Session, SessionStore

BODY_BYTES = 200
BATCH = 5_000
GOAL = 1.2
"""Append at the largest size over append to an empty store."""


def growth(settings: Settings) -> list[Table]:
    """From a thousand messages to a million (to ten thousand when quick)."""
    with scratch() as folder:
        return [grown(settings, "Growth", lambda size: f"sqlite:///{folder}/{size}.db", "in memory")]


def growth_on_a_server(settings: Settings) -> list[Table]:
    """The same on PostgreSQL, a database each size."""
    with started(("shared_buffers=256MB", "max_wal_size=4GB")) as server:
        return [grown(settings, "Growth on PostgreSQL", lambda _: server.new_database(), "in memory, fsync off")]


def grown(settings: Settings, title: str, new_url: Callable[[int], str], where: str) -> Table:
    """What each thing costs in databases of each size."""
    sizes = (0, 1_000, 10_000) if settings.quick else (0, 1_000, 10_000, 100_000, 1_000_000)
    rounds = settings.pick(200, 20)
    found: dict[int, dict[str, Times]] = {}
    stores = [SessionStore.open(new_url(size)) for size in sizes]
    try:
        filled = [_filled(store, size) for store, size in zip(stores, sizes, strict=True)]
        works = [_works(store, session) for store, session in zip(stores, filled, strict=True)]
        for name in works[0]:
            # One of each size in turn, so that a busy moment of the machine meets all of them.
            times = interleaved([work[name] for work in works], rounds)
            for size, seconds in zip(sizes, times, strict=True):
                found.setdefault(size, {})[name] = seconds
    finally:
        for store in stores:
            store.close()
    rows: list[tuple[Cell, ...]] = []
    for name in found[0]:
        base, last = found[sizes[0]][name].median, found[sizes[-1]][name].median
        goal = against_goal(last / base, GOAL) if name == "append a turn" else None
        medians = [milliseconds(found[size][name].median) for size in sizes]
        rows.append((name, *medians, f"{last / base:.2f}×", goal))
    columns = ("work, ms", *(f"{size:,} stored" for size in sizes), "last to first", "goal")
    about = f"median of {rounds}; a twentieth of the messages in the session itself, the rest in others; {where}; {load()}"
    return Table(title, columns, tuple(rows), (about,))


def _filled(store: SessionStore, size: int) -> Session:
    for number in range(10):
        _fill(store.create_session(id=f"other-{number}"), size * 19 // 200)
    session = store.create_session(id="session", context_window=128_000)
    _fill(session, size // 20)
    return session


def _fill(session: Session, count: int) -> None:
    for begin in range(0, count, BATCH):
        session.append(payloads.messages(min(BATCH, count - begin), BODY_BYTES, first_turn=begin))


def _works(store: SessionStore, session: Session) -> dict[str, Callable[[], float]]:
    number = iter(range(10**7, 10**8))

    def append() -> float:
        turn = payloads.turn(next(number), BODY_BYTES)
        return timed(lambda: session.append(turn))

    return {
        "append a turn": append,
        "last 50": lambda: timed(lambda: session.last(50)),
        "resume by a part of the id": lambda: timed(lambda: store.resume("sess")),
        "list 50 sessions": lambda: timed(lambda: store.list_sessions(limit=50)),
        "lineage": lambda: timed(lambda: store.lineage("session")),
        "pressure, a turn after it was last asked": lambda: append() * 0 + timed(session.pressure),
    }
