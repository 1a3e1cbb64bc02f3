"""A process killed before any statement of any operation leaves the old state or the new one (ATOM-1, LIN-4)."""
from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sessionstore.compaction.claiming import LEASE_SECONDS
from tests.kill.actions import NAME, NOW, ON_FILES, opened
from tests.store.conversations import SMALL, talk

State = dict[str, list[tuple[Any, ...]]]

NOT_THE_STATE = frozenset({"compactions", "ledgers", "message_tokens", "memories"})
"""Tables in which an attempt that came to nothing may leave a row: its end, its ledger, counts of rows, facts it flushed."""


def state_of(path: Path, *, without: frozenset[str] = NOT_THE_STATE) -> State | None:
    """Every row that a user would miss; None for a file without our tables."""
    connection = sqlite3.connect(path)
    try:
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        kept = [name for name in names if name not in without and not name.startswith(("search_", "sqlite_"))]
        return {name: sorted(connection.execute(f"SELECT * FROM {name}"), key=repr) for name in kept} or None
    finally:
        connection.close()


@pytest.mark.parametrize("action", sorted(ON_FILES))
def test_killed_before_any_statement_the_file_holds_the_old_state_or_the_new(tmp_path: Path, action: str) -> None:
    """ATOM-1: and the doctor finds nothing but the dead process's job, which it settles once the lease has run out."""
    command = [sys.executable, "-m", "tests.kill.matrix", action, str(tmp_path)]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False, timeout=250)
    assert done.returncode == 0, done.stderr
    points = json.loads((tmp_path / "points.json").read_text(encoding="utf-8"))
    without = frozenset[str]() if action == "upgrade" else NOT_THE_STATE
    before = state_of(tmp_path / "before.db", without=without) if (tmp_path / "before.db").exists() else None
    after = state_of(tmp_path / "after.db", without=without)
    assert before != after
    if action == "upgrade":
        assert_same_rows(before, after)
    found = []
    for number, point in enumerate(points):
        path = tmp_path / f"killed-{number:03}.db"
        state = state_of(path, without=without) if path.exists() else None
        assert state in (before, after), f"killed before {point!r}"
        found.append(state == after)
        check_reopened(f"sqlite:///{path}", point, work=number % 8 == 0)
    assert found == sorted(found), "once the new state is there it stays"
    assert any(found), "a commit lies before the last statement"
    assert not all(found)


def assert_same_rows(before: State | None, after: State | None) -> None:
    """SCHEMA-1: what an older database holds is all there after its upgrade, beside what the newer version added."""
    assert before is not None
    assert after is not None
    assert set(after) - set(before) == {"ledgers"}
    for name, rows in before.items():
        if name not in ("alembic_version", "compactions"):
            assert after[name] == rows
    (old,), (new,), ((_, _, ledger),) = before["compactions"], after["compactions"], after["ledgers"]
    assert ledger in old
    assert new == tuple(value for value in old if value != ledger)
    assert {"messages", "sessions", "context_spans", "lineages"} <= {name for name, rows in before.items() if rows}


def check_reopened(url: str, point: str, *, work: bool) -> None:
    """After the lease the database is healthy, and with ``work`` one goes on with it."""
    with opened(url, at=NOW + 10 + LEASE_SECONDS) as store:
        assert {finding.code for finding in store.doctor(repair=True)} <= {"stale_job"}, point
        assert list(store.doctor()) == [], point
        for line in store.list_sessions():
            jobs = store.lineage(line.lineage_id).compactions
            assert not [job for job in jobs if job.status in ("queued", "running")], point
            if work:
                session = store.resume(line.lineage_id)
                assert session.flush([*session.context(), *talk(1, start=90)]), point
        if work and store.list_sessions() and store.resume(NAME).record().flush_cursor > 20:
            assert store.resume(NAME).compact(policy=SMALL).status == "committed", point


def test_the_points_of_a_compaction_are_the_named_steps_of_its_commit(tmp_path: Path) -> None:
    """The matrix is as fine as the operation: it has a point at each step that has a name."""
    command = [sys.executable, "-m", "tests.kill.matrix", "compact", str(tmp_path), "--points"]
    subprocess.run(command, cwd=Path(__file__).parents[2], check=True, timeout=250)
    points = json.loads((tmp_path / "points.json").read_text(encoding="utf-8"))
    starts = [index for index, point in enumerate(points) if point == "BEGIN IMMEDIATE"]
    commit = max(index for index in starts if "UPDATE lineages" in "".join(points[index:]))
    writes = [point for point in points[commit:] if point.startswith(("INSERT", "UPDATE"))]
    written = [point.split("(")[0].split(" SET")[0].strip() for point in writes]
    assert [name for name in dict.fromkeys(written) if "search" not in name] == [
        "INSERT INTO system_prompts",
        "UPDATE sessions",
        "UPDATE compactions",
        "INSERT INTO sessions",
        "INSERT INTO messages",
        "INSERT INTO context_spans",
        "UPDATE lineages",
        "INSERT INTO message_tokens",
        "INSERT INTO memories",
    ]
    assert "COMMIT" in points[commit:]
