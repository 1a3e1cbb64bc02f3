"""``sessionstore demo``: what a newcomer sees first."""
from __future__ import annotations

import re
from pathlib import Path

from click.testing import CliRunner

from sessionstore.cli import main
from sessionstore.domain.sections import SECTIONS

from .running import CommandLine


def played(*arguments: str) -> str:
    result = CliRunner().invoke(main, ["demo", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


def without_what_varies(text: str) -> str:
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "TIME", text)
    text = re.sub(r"\d+(\.\d)? m?s\b", "DURATION", text)
    return re.sub(r"scratch database .*", "", text)


def test_it_shows_two_compactions_their_lineage_and_the_whole_summary() -> None:
    text = played()
    assert text.count("committed: ") == 2
    assert "└── tallybook~3" in text
    assert text.count("% saved") == 4
    summary = text.partition("The summary")[2].partition("What the model is sent now")[0]
    assert [line for line in summary.splitlines() if line in SECTIONS] == list(SECTIONS)
    assert "sessionstore demo --keep demo.db" in text


def test_it_says_the_same_every_time_but_for_times() -> None:
    assert without_what_varies(played()) == without_what_varies(played())


def test_the_second_summary_stands_for_what_the_first_did(tmp_path: Path) -> None:
    """NEST-1: one summary in a context; the previous one is updated."""
    kept = tmp_path / "kept.db"
    played("--keep", str(kept))
    program = CommandLine(kept)
    first, second = program.json("lineage", "tallybook", "--json")["compactions"]
    assert first["status"] == second["status"] == "committed"
    rows = program.json("show", "tallybook", "--json")
    assert [row["seq"] for row in rows if row["kind"] == "summary"] == [second["summary_seq"]]
    assert [first["summary_seq"], first["summary_seq"]] in second["middle"]


def test_a_kept_database_answers_what_it_suggests(tmp_path: Path) -> None:
    kept = tmp_path / "kept.db"
    text = played("--keep", str(kept))
    suggested = re.findall(rf"^sessionstore --db {re.escape(str(kept))} (.*?)(?:  |$)", text, re.MULTILINE)
    assert len(suggested) == 4
    for line in suggested:
        assert CommandLine(kept).succeed(*line.split())


def test_it_leaves_nothing_behind_and_overwrites_nothing(tmp_path: Path) -> None:
    path = re.search(r"scratch database (\S+)", played())
    assert path is not None
    assert not Path(path[1]).parent.exists()
    mine = tmp_path / "mine.db"
    mine.write_text("mine")
    assert CliRunner().invoke(main, ["demo", "--keep", str(mine)]).exit_code == 2
    assert mine.read_text() == "mine"
