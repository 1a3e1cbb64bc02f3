"""What a benchmark found, as rows with named columns, in Markdown and in JSON."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Cell = str | int | float | bool | None
"""A value of a row: None where there is nothing to say."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table of findings: its title, columns, rows, and what a reader should know of how they came about."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def to_markdown(self) -> str:
        """The table under a heading, its notes below."""
        lines = [f"### {self.title}", "", _line(self.columns), _line(["---"] * len(self.columns))]
        lines += [_line([_text(cell) for cell in row]) for row in self.rows]
        if self.notes:
            lines += ["", *(f"* {note}" for note in self.notes)]
        return "\n".join(lines) + "\n"

    def to_json(self) -> dict[str, Any]:
        """The same with the rows as objects by column."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return {"title": self.title, "rows": rows, "notes": list(self.notes)}


def ratio(value: float | None, base: float | None) -> str | None:
    """How many times the base a value is, as people write it; None where one of them is missing."""
    if value is None or not base:
        return None
    return f"{value / base:.2f}×"


def milliseconds(seconds: float | None) -> float | None:
    """Seconds as milliseconds with three significant digits."""
    return None if seconds is None else float(f"{seconds * 1000:.3g}")


def against_goal(value: float | None, limit: float) -> str:
    """Whether a ratio keeps to its goal."""
    if value is None:
        return "not measured"
    return f"{'yes' if value <= limit else 'NO'} (≤ {limit:g})"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _text(cell: Cell) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:.3g}" if abs(cell) < 1000 else f"{cell:,.0f}"
    return f"{cell:,}" if isinstance(cell, int) else cell.replace("|", "\\|")
