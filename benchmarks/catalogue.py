"""Every benchmark by its name."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.corpus.outcomes import corpus_outcomes
from benchmarks.high_availability import high_availability
from benchmarks.measures.appending import append_a_turn
from benchmarks.measures.compacting import compact_long_sessions
from benchmarks.measures.counting_speed import count_tokens
from benchmarks.measures.flushing import flush_a_list
from benchmarks.measures.growing import growth, growth_on_a_server
from benchmarks.measures.importing import import_a_transcript
from benchmarks.measures.reading import list_sessions, load_a_context
from benchmarks.measures.sizes import database_size
from benchmarks.measures.starting import start_up
from benchmarks.measures.tracing import trace_a_lineage
from benchmarks.report import Table
from benchmarks.retention.comparing import retention
from benchmarks.server.capacity import capacity
from benchmarks.server.comparing import on_a_server
from benchmarks.settings import Settings
from benchmarks.yardsticks.conformance_kit import conformance_kit
from benchmarks.yardsticks.constraint_guard import constraint_guard


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark: what the command line calls it, and what runs it."""

    name: str
    run: Callable[[Settings], list[Table]]


BENCHMARKS = (
    Benchmark("append", append_a_turn),
    Benchmark("flush", flush_a_list),
    Benchmark("load", load_a_context),
    Benchmark("list", list_sessions),
    Benchmark("lineage", trace_a_lineage),
    Benchmark("compact", compact_long_sessions),
    Benchmark("count", count_tokens),
    Benchmark("import", import_a_transcript),
    Benchmark("size", database_size),
    Benchmark("start", start_up),
    Benchmark("growth", growth),
    Benchmark("server", on_a_server),
    Benchmark("server-growth", growth_on_a_server),
    Benchmark("capacity", capacity),
    Benchmark("high-availability", high_availability),
    Benchmark("retention", retention),
    Benchmark("corpus", corpus_outcomes),
    Benchmark("kit", conformance_kit),
    Benchmark("guard", constraint_guard),
)
