"""The trace of a conversation with very many generations."""
from __future__ import annotations

from benchmarks.machine import load
from benchmarks.report import Table, milliseconds
from benchmarks.settings import Settings, scratch
from benchmarks.timing import interleaved, memory_peak, timed
from sessionstore import SessionStore


def trace_a_lineage(settings: Settings) -> list[Table]:
    """A thousand generations, each with a row of its own, made by rewinding."""
    generations = settings.pick(1_000, 50)
    with scratch() as folder, SessionStore.open(f"sqlite:///{folder}/lineage.db") as store:
        session = store.create_session(id="long", context_window=128_000)
        session.append({"role": "user", "content": "Begin."})
        for _ in range(generations - 1):
            session = session.rewind(0)
            session.append({"role": "assistant", "content": "Tried once more."})
        with memory_peak() as peak:
            trace = store.lineage("long")
        assert len(trace.sessions) == generations
        rounds = settings.pick(20, 3)
        traced, resumed = interleaved(
            (lambda: timed(lambda: store.lineage("long")), lambda: timed(lambda: store.resume("long~2"))), rounds
        )
    rows = (
        (f"lineage of {generations:,} generations", milliseconds(traced.median), milliseconds(traced.p99), peak.megabytes),
        ("resume by an old generation's id", milliseconds(resumed.median), milliseconds(resumed.p99), None),
    )
    return [Table("Trace", ("work", "median ms", "p99 ms", "peak MB"), rows, (f"median of {rounds}, in memory; {load()}",))]
