"""Seqs as text: ``#12``, ``#12–#15``, and ranges to look up."""
from __future__ import annotations

from collections.abc import Iterable

_RUNS_SHOWN = 3


def cite_range(first: int, last: int) -> str:
    """``#12`` for one seq, ``#12–#15`` for a run; both ends are included."""
    return f"#{first}" if first == last else f"#{first}–#{last}"


def runs_of(seqs: Iterable[int]) -> list[tuple[int, int]]:
    """The seqs as ascending runs ``(first, last)`` without gaps."""
    runs: list[tuple[int, int]] = []
    for seq in sorted(set(seqs)):
        if runs and seq == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], seq)
        else:
            runs.append((seq, seq))
    return runs


def cite(seqs: Iterable[int]) -> str:
    """The seqs as text with runs compressed; of many runs the first and the last two, with how many seqs there are in all."""
    runs = runs_of(seqs)
    if len(runs) <= _RUNS_SHOWN:
        return ", ".join(cite_range(*run) for run in runs)
    total = sum(last - first + 1 for first, last in runs)
    shown = [cite_range(*run) for run in (runs[0], *runs[-2:])]
    return f"{shown[0]} … {shown[1]}, {shown[2]} ({total} in all)"


def windows_over(seqs: Iterable[int], *, limit: int, span: int = 20) -> list[tuple[int, int]]:
    """Ranges that cover the seqs, each at most ``span`` messages wide, so that one look reads it.

    When that takes more than ``limit`` ranges (at least 1) the span is doubled until it doesn't.
    """
    ordered = sorted(set(seqs))
    while True:
        windows: list[tuple[int, int]] = []
        for seq in ordered:
            if windows and seq - windows[-1][0] < span:
                windows[-1] = (windows[-1][0], seq)
            else:
                windows.append((seq, seq))
        if len(windows) <= max(1, limit):
            return windows
        span *= 2
