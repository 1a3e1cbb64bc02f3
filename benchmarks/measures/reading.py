"""Reading: a whole context, its end, and a list of conversations, beside everybody else."""
from __future__ import annotations

from pathlib import Path

from benchmarks.machine import load
from benchmarks.participants import LIBRARY, RAW, Participant, Seat, seated, wanted
from benchmarks.report import Cell, Table, against_goal, milliseconds, ratio
from benchmarks.settings import Settings, scratch
from benchmarks.timing import Times

BODY_BYTES = 1000
LAST = 50
GOALS = {"load": 1.3, "last": 2.0}
"""Medians of the library's sync front over the median of raw SQL."""


def load_a_context(settings: Settings) -> list[Table]:
    """A context of ten thousand messages, and its last fifty."""
    count = settings.pick(9_999, 999)
    tables: list[Table] = []
    with scratch() as folder, seated(wanted(settings)) as (seats, notes):
        ready = [seat for seat in seats if _filled(seat, folder, count, notes)]
        for operation, arguments, expected, title in (
            ("load", (), count, f"Load {count:,} messages"),
            ("last", (LAST,), LAST, f"Last {LAST} of {count:,} messages"),
        ):
            rounds = settings.pick(15, 3) if operation == "load" else settings.pick(100, 10)
            tables.append(_compared(ready, operation, arguments, expected, title, rounds, notes))
    return tables


def list_sessions(settings: Settings) -> list[Table]:
    """Ten thousand conversations, listed."""
    count = settings.pick(10_000, 500)
    with scratch() as folder, seated(wanted(settings, asynchronous=False)) as (seats, notes):
        ready = []
        for seat in seats:
            seat.call("open", _path(seat.participant, folder))
            answer = seat.call("make_sessions", count)
            if answer.problem is None:
                ready.append(seat)
            elif answer.problem != "not offered":
                notes.append(f"{seat.participant.name}: {answer.problem}")
        title = f"List {count:,} sessions"
        return [_compared(ready, "list_sessions", (count,), count, title, settings.pick(7, 2), notes)]


def _compared(
    seats: list[Seat],
    operation: str,
    arguments: tuple[int, ...],
    expected: int,
    title: str,
    rounds: int,
    notes: list[str],
) -> Table:
    seconds: dict[str, list[float]] = {}
    peaks: dict[str, float] = {}
    found = list(notes)
    for turn in range(rounds + 1):
        for offset in range(len(seats)):
            seat = seats[(turn + offset) % len(seats)]
            name = seat.participant.name
            answer = seat.call(operation, *arguments, expected=expected)
            if answer.once is None:
                note = f"{name}: {answer.problem}"
                found += [] if note in found else [note]
                continue
            peaks[name] = max(peaks.get(name, 0.0), answer.megabytes)
            if turn:  # the first round only warms, and shows what memory it takes to get there
                seconds.setdefault(name, []).append(answer.once)
    measured = {name: Times(tuple(times)) for name, times in seconds.items()}
    base = measured[RAW.name].median
    rows: list[tuple[Cell, ...]] = []
    for name, times in sorted(measured.items(), key=lambda item: item[1].median):
        goal = GOALS.get(operation) if name == LIBRARY.name else None
        met = None if goal is None else against_goal(times.median / base, goal)
        rows.append((name, milliseconds(times.median), ratio(times.median, base), met, peaks[name]))
    about = f"median of {rounds}, in memory, one of each store in turn; {load()}"
    return Table(title, ("store", "median ms", "to raw", "goal", "peak MB"), tuple(rows), (about, *found))


def _filled(seat: Seat, folder: Path, count: int, notes: list[str]) -> bool:
    seat.call("open", _path(seat.participant, folder))
    answer = seat.order("fill", count=count, body_bytes=BODY_BYTES)
    if answer.problem:
        notes.append(f"{seat.participant.name} failed to fill: {answer.problem}")
    return answer.problem is None


def _path(participant: Participant, folder: Path) -> str:
    return str(folder / f"{participant.module}-{participant.kind}.db")
