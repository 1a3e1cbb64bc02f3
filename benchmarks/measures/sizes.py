"""Bytes of a database for a byte of payload, by size of body, with and without the search index."""
from __future__ import annotations

from pathlib import Path

from benchmarks import payloads
from benchmarks.contestants.contestant import folder_bytes
from benchmarks.participants import seated, wanted
from benchmarks.report import Cell, Table, against_goal
from benchmarks.settings import Settings, scratch
from sessionstore import SessionStore

GOALS = {(200, False): 1.75, (1_000, False): 1.4, (2_000, False): 1.25, (2_000, True): 1.6}
"""Bytes of the database a byte of payload."""


def database_size(settings: Settings) -> list[Table]:
    """Ours at three sizes of body, and everybody at one."""
    count = settings.pick(9_999, 600)
    rows: list[tuple[Cell, ...]] = []
    for body in (200, 1_000, 2_000):
        for indexed in (False, True):
            found = _ours(body, count, indexed=indexed)
            goal = GOALS.get((body, indexed))
            rows.append((body, indexed, found, None if goal is None else against_goal(found, goal)))
    about = (
        f"{count:,} messages, appended by turns; payload is the messages as JSON; the database closed, so without a journal"
    )
    tables = [Table("Database bytes a payload byte", ("body bytes", "search index", "ratio", "goal"), tuple(rows), (about,))]
    if settings.peers:
        tables.append(_beside_peers(settings, settings.pick(999, 99)))
    return tables


def _ours(body: int, count: int, *, indexed: bool) -> float:
    listed = payloads.messages(count, body)
    with scratch() as folder:
        path = folder / "size.db"
        with SessionStore.open(f"sqlite:///{path}") as store:
            session = store.create_session(context_window=128_000)
            for begin in range(0, count, 3):
                session.append(listed[begin : begin + 3])
            if indexed:
                store.rebuild_search_index()
        return folder_bytes(path) / payloads.payload_bytes(listed)


def _beside_peers(settings: Settings, count: int) -> Table:
    payload = payloads.payload_bytes(payloads.messages(count, 1_000))
    rows: list[tuple[Cell, ...]] = []
    with scratch() as folder, seated(wanted(settings, asynchronous=False)) as (seats, notes):
        for seat in seats:
            path = Path(folder) / f"{seat.participant.module}-{seat.participant.kind}.db"
            seat.call("open", str(path))
            answer = seat.order("append", first=0, turns=count // 3, body_bytes=1_000)
            seat.call("close")
            if answer.problem:
                notes.append(f"{seat.participant.name}: {answer.problem}")
            else:
                rows.append((seat.participant.name, folder_bytes(path) / payload))
    rows.sort(key=lambda row: float(row[1] or 0))
    about = f"{count:,} messages of 1,000 bytes appended by turns; each as it stores by itself, its search index included"
    return Table("Database bytes a payload byte, beside others", ("store", "ratio"), tuple(rows), (about, *notes))
