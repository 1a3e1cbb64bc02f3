"""Appending a turn: how long one takes, in memory and on disk, sync and async, beside everybody else."""
from __future__ import annotations

from pathlib import Path

from benchmarks.machine import load
from benchmarks.participants import ASYNC_LIBRARY, LIBRARY, RAW, Seat, seated, wanted
from benchmarks.report import Cell, Table, against_goal, milliseconds, ratio
from benchmarks.settings import Settings, scratch
from benchmarks.timing import Times

BODY_BYTES = 1000
BATCH = 5
"""Turns that one store appends before it is another one's turn."""
GOALS = {
    (LIBRARY.name, "memory"): 3.0,
    (LIBRARY.name, "disk"): 1.5,
    (ASYNC_LIBRARY.name, "memory"): 5.0,
}
"""Medians of ours over the median of raw SQL."""


def append_a_turn(settings: Settings) -> list[Table]:
    """One table in memory, one on disk."""
    return [_table(settings, place) for place in ("memory", "disk")]


def _table(settings: Settings, place: str) -> Table:
    turns = settings.pick(500, 50)
    with scratch(on_disk=place == "disk") as folder, seated(wanted(settings)) as (all_seats, notes):
        seats = [seat for seat in all_seats if _opened(seat, folder, notes)]
        seconds: dict[str, list[float]] = {seat.participant.name: [] for seat in seats}
        peaks: dict[str, float] = dict.fromkeys(seconds, 0.0)
        _rotate(seats, 0, settings.pick(50, 10), notes)  # warm: first statements, first pages
        for first in range(1_000, 1_000 + turns, BATCH):
            for seat, added, peak in _rotate(seats, first, BATCH, notes):
                seconds[seat.participant.name] += added
                peaks[seat.participant.name] = max(peaks[seat.participant.name], peak)
        measured = {name: Times(tuple(found)) for name, found in seconds.items() if found}
        base = measured[RAW.name].median
        rows: list[tuple[Cell, ...]] = []
        for name, times in sorted(measured.items(), key=lambda item: item[1].median):
            goal = GOALS.get((name, place))
            rows.append(
                (
                    name,
                    milliseconds(times.median),
                    milliseconds(times.p99),
                    ratio(times.median, base),
                    None if goal is None else against_goal(times.median / base, goal),
                    peaks[name],
                )
            )
    columns = ("store", "median ms", "p99 ms", "to raw", "goal", "peak MB")
    about = (
        f"{turns} turns of user, assistant with a call, and result, {BODY_BYTES} bytes each; {BATCH} of each store in turn; "
        f"{load()}"
    )
    return Table(f"Append a turn ({place})", columns, tuple(rows), (about, *notes))


def _opened(seat: Seat, folder: Path, notes: list[str]) -> bool:
    answer = seat.call("open", str(folder / f"{seat.participant.module}-{seat.participant.kind}.db"))
    if answer.problem:
        notes.append(f"{seat.participant.name} failed to open: {answer.problem}")
    return answer.problem is None


def _rotate(seats: list[Seat], first: int, turns: int, notes: list[str]) -> list[tuple[Seat, tuple[float, ...], float]]:
    found = []
    for offset in range(len(seats)):
        seat = seats[(first // BATCH + offset) % len(seats)]
        answer = seat.order("append", first=first, turns=turns, body_bytes=BODY_BYTES)
        if answer.problem:
            note = f"{seat.participant.name} failed to append: {answer.problem}"
            if note not in notes:
                notes.append(note)
            continue
        found.append((seat, answer.seconds, answer.megabytes))
    return found
