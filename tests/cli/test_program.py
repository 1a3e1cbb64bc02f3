"""The program as a whole: how fast it answers, which database it takes, and how a failure looks."""
from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click import Context
from click.testing import CliRunner

from sessionstore import __version__
from sessionstore.cli import main
from sessionstore.cli.settings import Settings, database_url

from .running import TRANSCRIPT, CommandLine

HEAVY = ("sqlalchemy", "rich", "alembic", "tiktoken", "bpe_openai", "aiosqlite")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["compact", "--help"], ["demo", "--help"]])
def test_help_and_version_load_no_heavy_module(arguments: list[str]) -> None:
    program = f"""
import sys
from sessionstore.cli import main
main({arguments!r}, standalone_mode=False)
print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout
    assert done.stderr.strip() == "[]"


def test_help_lists_every_command_under_its_purpose() -> None:
    text = CliRunner().invoke(main, ["--help"]).stdout
    look, _, rest = text.partition("\nLook:")[2].partition("\nAct:")
    act, _, healthy = rest.partition("\nKeep healthy:")
    purposes = [[line.split()[0] for line in part.splitlines() if line.strip()] for part in (look, act, healthy)]
    assert sorted(name for names in purposes for name in names) == sorted(main.list_commands(Context(main)))
    for names, some in zip(purposes, ({"demo", "lineage"}, {"import", "compact", "undo"}, {"db", "delete"}), strict=True):
        assert some <= set(names)
    assert "..." not in look + act + healthy


def test_version_is_the_package_s() -> None:
    assert CliRunner().invoke(main, ["--version"], prog_name="sessionstore").stdout == f"sessionstore {__version__}\n"


def test_an_error_is_one_line_on_stderr_and_exit_status_1(empty: CommandLine) -> None:
    empty.child("list")  # makes the database
    done = empty.child("show", "nobody")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error: no session 'nobody'")
    assert done.stderr.count("\n") == 1


def test_an_error_with_line_breaks_in_it_is_still_one_line(empty: CommandLine) -> None:
    result = empty.run("show", "no\nbody\n")
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments", [["nonsense"], ["list", "--limit", "0"], ["show"], ["rewind", "x", "y"]])
def test_wrong_usage_is_exit_status_2(empty: CommandLine, arguments: list[str]) -> None:
    result = empty.run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""


def test_a_file_that_is_no_database_is_one_line(tmp_path: Path) -> None:
    damaged = tmp_path / "notes.db"
    damaged.write_text("these are not the rows you are looking for\n" * 100)
    done = CommandLine(damaged).child("list")
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


def test_a_database_url_that_is_none_is_one_line() -> None:
    result = CliRunner().invoke(main, ["--db", "://x", "list"])
    assert result.exit_code == 1
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1


def test_a_full_disk_is_one_line(conversation: CommandLine) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "sessionstore", "--db", str(conversation.database), "list"],
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "error: No space left on device\n"


def test_a_reader_that_goes_away_is_met_quietly(conversation: CommandLine) -> None:
    with conversation.spawn("show", "fix-auth", "--full") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait() == 128 + signal.SIGPIPE


def test_ctrl_c_is_one_line_and_exit_status_130(empty: CommandLine, tmp_path: Path) -> None:
    fifo = tmp_path / "transcript.jsonl"
    os.mkfifo(fifo)
    with empty.spawn("import", str(fifo)) as process:
        # The program has opened the pipe once this returns, and waits for what never comes.
        with fifo.open("w"):
            interrupt(process)
        assert process.returncode == 130
        assert process.stderr is not None
        assert process.stderr.read() == "interrupted\n"


def interrupt(process: subprocess.Popen[str]) -> None:
    """Press Ctrl-C, and again if it came in the moment between Python's last look at signals and a call that waits."""
    for _ in range(5):
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            continue
        return
    process.kill()


class InterruptedInput(io.BytesIO):
    """A keyboard on which somebody presses Ctrl-C."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size == 0:
            # A look at what kind of stream it is.
            return b""
        raise KeyboardInterrupt

    read1 = read


def test_ctrl_c_at_a_question_is_exit_status_130(conversation: CommandLine) -> None:
    arguments = ["--db", str(conversation.database), "delete", "fix-auth"]
    result = CliRunner().invoke(main, arguments, input=InterruptedInput())
    assert result.exit_code == 130
    assert result.stderr.endswith("interrupted\n")
    assert conversation.json("list", "--json")


def test_a_plain_path_is_a_sqlite_file() -> None:
    assert database_url("agent.db") == "sqlite:///agent.db"
    assert database_url("/var/agent.db") == "sqlite:////var/agent.db"
    assert database_url("postgresql+psycopg://localhost/agents") == "postgresql+psycopg://localhost/agents"
    assert database_url(":memory:") == "sqlite://"


def test_the_environment_names_the_database(conversation: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SESSIONSTORE_DB", str(conversation.database))
    listed = json.loads(CliRunner().invoke(main, ["list", "--json"]).stdout)
    assert [session["session_id"] for session in listed] == ["fix-auth"]


def test_the_default_database_is_a_file_in_the_user_s_data_folder(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["import", str(TRANSCRIPT)])
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "xdg_data_home" / "sessionstore" / "sessions.db").is_file()
    assert str(tmp_path) in Settings().url()


def test_a_terminal_that_lacks_letters_gets_output_all_the_same(conversation: CommandLine) -> None:
    ascii_only = {"PYTHONIOENCODING": "ascii"}
    tree = conversation.child("lineage", "fix-auth", environment=ascii_only)
    assert tree.returncode == 0
    assert "`-- fix-auth" in tree.stdout
    shown = conversation.child("show", "fix-auth", "--full", environment=ascii_only)
    assert (shown.returncode, shown.stderr) == (0, "")
    rows = conversation.child("show", "fix-auth", "--json", environment=ascii_only)
    assert len(json.loads(rows.stdout)) == 204


@pytest.mark.parametrize(
    "command",
    [["doctor"], ["backup", "b.db"], ["stats"], ["show", "a"], ["compact", "a"], ["prune", "--older-than", "9d"]],
)
def test_a_misspelt_database_is_an_error_and_not_an_empty_one(empty: CommandLine, command: list[str]) -> None:
    """Only what brings something in, lists, or waits for work makes a file that isn't there."""
    done = empty.child(*command)
    assert done.returncode == 1
    assert "there is no such file" in done.stderr
    assert not empty.database.exists()


def test_a_model_that_nothing_would_ask_is_wrong_usage(empty: CommandLine) -> None:
    done = empty.child("compact", "a", "--model", "m")
    assert done.returncode == 2
    assert "--summarizer openai" in done.stderr


def test_a_backup_that_cannot_be_written_names_the_backup(empty: CommandLine) -> None:
    empty.child("list")
    target = empty.database.parent / "nowhere" / "b.db"
    done = empty.child("backup", str(target))
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {target} cannot be used: the backup cannot be written")
