"""Seqs as text: ``#12``, ``#12–#15``, and ranges to look up."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

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


def windows_over(places: Sequence[tuple[int, int]], *, limit: int, span: int = 40) -> list[tuple[int, int]]:
    """Ranges to look up, at most ``limit`` of them and each at most ``span`` messages wide: a reading at either end shows all.

    ``places`` are (first, last) seqs of what is to be found, what matters most first: where not all can be had within the
    limit, as many from the beginning of the list as can. Of places that lie further apart than a span the last seq counts.
    """
    spots = [(first if last - first < span else last, last) for first, last in places]
    low, high = 0, len(spots)
    while low < high:
        middle = (low + high + 1) // 2
        if len(_windows(spots[:middle], span)) <= limit:
            low = middle
        else:
            high = middle - 1
    return _windows(spots[:low], span)


def _windows(spots: Iterable[tuple[int, int]], span: int) -> list[tuple[int, int]]:
    windows: list[tuple[int, int]] = []
    for first, last in sorted(spots):
        if windows and last - windows[-1][0] < span:
            windows[-1] = (windows[-1][0], max(windows[-1][1], last))
        else:
            windows.append((first, last))
    return windows
