"""Every example in a help text runs as it stands."""
from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from sessionstore.cli import main

from .running import TRANSCRIPT, CommandLine
from .test_db_and_vocabulary import packaged_vocabulary


def commands(group: click.Group, context: click.Context) -> Iterator[click.Command]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, click.Context(command, info_name=name, parent=context))
        else:
            yield command


ROOT = click.Context(main, info_name="sessionstore")
COMMANDS = list(commands(main, ROOT))


def examples_of(command: click.Command) -> list[str]:
    return re.findall(r"^ *sessionstore ([^`\n]+)$", command.help or "", re.MULTILINE)


EXAMPLES = sorted({example for command in [*COMMANDS, main] for example in examples_of(command)})


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.callback.__module__.rpartition(".")[2] + command.name)
def test_every_command_has_an_example_and_a_short_description(command: click.Command) -> None:
    assert examples_of(command)
    short = command.get_short_help_str(60)
    assert short
    assert not short.endswith("...")


@pytest.fixture
def newcomer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the examples name."""
    folder = tmp_path / "work"
    session = tmp_path / "home" / ".claude" / "projects" / "x"
    for made in (folder, session):
        made.mkdir(parents=True)
    shutil.copy(TRANSCRIPT, folder / "transcript.jsonl")
    shutil.copy(TRANSCRIPT, session / "session.jsonl")
    packaged_vocabulary(folder / "o200k_base.tiktoken")
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs(
    example: str, newcomer: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    program: CommandLine = request.getfixturevalue("compacted" if example.startswith("undo") else "conversation")
    shutil.copy(program.database, newcomer / "store.db")
    monkeypatch.setenv("SESSIONSTORE_DB", str(newcomer / "store.db"))
    arguments = [found for word in shlex.split(example) for found in expanded(word)]
    result = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.stderr


def expanded(word: str) -> list[str]:
    """A word as the shell hands it over."""
    if "*" not in word:
        return [word]
    path = Path(word).expanduser()
    found = [str(file) for file in Path("/").glob(str(path).lstrip("/"))]
    assert found
    return found
