"""A few seconds of what ``benchmarks.soak`` does for a minute."""
from __future__ import annotations

from pathlib import Path

from benchmarks.soak import soak


def test_processes_that_write_and_die_lose_no_message_and_double_none(tmp_path: Path) -> None:
    """LOG-1, FLUSH-1, ATOM-1, CONC-1, CONC-3: each acknowledged message is there exactly once, and the doctor finds nothing."""
    report = soak(tmp_path, seconds=8.0, processes=4)
    assert list(report.problems) == []
    assert report.acknowledged > 20
    assert report.kills > 2
