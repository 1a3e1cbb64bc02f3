"""Times of one thing done many times, and peaks of memory while it is done."""
from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of each repetition."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle one."""
        return statistics.median(self.seconds)

    @property
    def p99(self) -> float:
        """What ninety-nine of a hundred stay below; the longest when there are fewer than a hundred."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]


def interleaved(actions: Sequence[Callable[[], float]], rounds: int) -> list[Times]:
    """Seconds that each action reports, one of each a round, so that a busy machine is as busy for all of them."""
    found: list[list[float]] = [[] for _ in actions]
    for turn in range(rounds):
        # Each round begins with another one, so that none always runs on the caches that one neighbour left.
        for offset in range(len(actions)):
            index = (turn + offset) % len(actions)
            found[index].append(actions[index]())
    return [Times(tuple(seconds)) for seconds in found]


def timed(action: Callable[[], object]) -> float:
    """Seconds that an action takes."""
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


@dataclass(slots=True)
class MemoryPeak:
    """How far the resident memory of this process rose above where it began, in MB; 0 where Linux's counters are missing."""

    megabytes: float = field(default=0.0)


@contextmanager
def memory_peak() -> Iterator[MemoryPeak]:
    """Watch the resident memory of this process."""
    peak = MemoryPeak()
    _forget_peak()
    before = resident_peak()
    yield peak
    peak.megabytes = max(0.0, resident_peak() - before)


def resident_peak() -> float:
    """Highest resident memory of this process since it was last reset, in MB."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0.0
    line = next((line for line in status.read_text().splitlines() if line.startswith("VmHWM")), "VmHWM: 0 kB")
    return int(line.split()[1]) / 1024


def _forget_peak() -> None:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return
