"""Runs one operation of the matrix as often as it has points, each time in a process that dies at another one.

``python -m tests.kill.matrix ACTION FOLDER [--points]`` makes ``before.db`` and ``after.db``, then ``killed-000.db``, … and
writes the points as JSON: statements, and ends of transactions, in the order of the operation. A process is forked for each
point, so that none has to import anything; it dies by SIGKILL in SQLite's own trace of the statement, before the statement does
anything.
"""
from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from sessionstore.storage import embedded
from tests.kill.actions import ON_FILES

RETURNED = "(the transaction is over, nobody knows it yet)"
"""The name of the point behind a transaction's last statement."""


def watch(reach: Any) -> None:
    """Have every statement of every connection of this process told before it runs."""

    @event.listens_for(Engine, "connect", insert=True)
    def trace(connection: sqlite3.Connection, _record: Any) -> None:
        connection.set_trace_callback(reach)

    end = embedded._end

    def returned(kept: Any) -> None:
        end(kept)
        reach(RETURNED)

    embedded._end = returned


def run_forked(action: str, path: Path, *, die_at: int | None, points: Path | None) -> int:
    """Carry out an action in a process of its own; gives how it ended (0, or minus the signal)."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status)
    passed: list[str] = []

    def reach(statement: str) -> None:
        # Before a query the file is as it was before the statement in front of it; "--" is SQLite's own work behind one.
        if statement.startswith(("SELECT", "PRAGMA", "WITH", "--")):
            return
        passed.append(statement)
        if len(passed) - 1 == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    watch(reach)
    ON_FILES[action].act(f"sqlite:///{path}")
    if points is not None:
        points.write_text(json.dumps([" ".join(statement.split())[:80] for statement in passed]), encoding="utf-8")
    os._exit(0)


def main(action: str, folder: Path, *, only_points: bool = False) -> None:
    """Make the files of one row of the matrix; with ``only_points`` those of the operation that nobody kills."""
    before, after, points = folder / "before.db", folder / "after.db", folder / "points.json"
    ON_FILES[action].prepare(f"sqlite:///{before}")
    if before.exists():
        shutil.copy(before, after)
    assert run_forked(action, after, die_at=None, points=points) == 0
    if only_points:
        return
    for number in range(len(json.loads(points.read_text(encoding="utf-8")))):
        path = folder / f"killed-{number:03}.db"
        if before.exists():
            shutil.copy(before, path)
        assert run_forked(action, path, die_at=number, points=None) == -signal.SIGKILL


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), only_points="--points" in sys.argv)
