"""Flushing a whole list of which little is new, against appending just that."""
from __future__ import annotations

from benchmarks import payloads
from benchmarks.machine import load
from benchmarks.report import Table, against_goal, milliseconds, ratio
from benchmarks.settings import Settings, scratch
from benchmarks.timing import interleaved, timed
from sessionstore import SessionStore

STORED = 1_000
GOAL = 1.3


def flush_a_list(settings: Settings) -> list[Table]:
    """A thousand messages stored, three new."""
    with scratch() as folder, SessionStore.open(f"sqlite:///{folder}/flush.db") as store:
        known = payloads.messages(STORED - 1, 1000)
        flushed, appended, fresh = (store.create_session(context_window=128_000) for _ in range(3))
        lists = {name: list(known) for name in ("flushed", "fresh")}
        flushed.flush(lists["flushed"])
        fresh.flush(lists["fresh"])
        appended.append(known)
        number = iter(range(10_000, 100_000))

        def flush_again() -> float:
            lists["flushed"] += payloads.turn(next(number), 1000)
            return timed(lambda: flushed.flush(lists["flushed"]))

        def append_three() -> float:
            turn = payloads.turn(next(number), 1000)
            return timed(lambda: appended.append(turn))

        def flush_first() -> float:
            lists["fresh"] += payloads.turn(next(number), 1000)
            handle = store.session(fresh.id)
            return timed(lambda: handle.flush(lists["fresh"]))

        rounds = settings.pick(200, 10)
        again, append, first = interleaved((flush_again, append_three, flush_first), rounds)
    rows = (
        ("append of 3", milliseconds(append.median), milliseconds(append.p99), "1.00×", None),
        (
            "flush with 3 new, not the handle's first",
            milliseconds(again.median),
            milliseconds(again.p99),
            ratio(again.median, append.median),
            against_goal(again.median / append.median, GOAL),
        ),
        (
            "flush with 3 new, the handle's first (compares everything)",
            milliseconds(first.median),
            milliseconds(first.p99),
            ratio(first.median, append.median),
            None,
        ),
    )
    about = f"median of {rounds}, in memory, lists of {STORED} to {STORED + 3 * rounds:,} messages; {load()}"
    return [Table(f"Flush a list of {STORED:,}", ("work", "median ms", "p99 ms", "to an append", "goal"), rows, (about,))]
