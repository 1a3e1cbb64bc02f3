"""Databases that the tests of the commands begin with."""
from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .running import TRANSCRIPT, CommandLine


@pytest.fixture
def empty(tmp_path: Path) -> CommandLine:
    """The program on a database that doesn't exist yet."""
    return CommandLine(tmp_path / "sessions.db")


@pytest.fixture(scope="session")
def _imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = CommandLine(tmp_path_factory.mktemp("imported") / "sessions.db")
    program.succeed("import", str(TRANSCRIPT), "--id", "fix-auth", "--title", "Fix auth")
    return program.database


@pytest.fixture(scope="session")
def _compacted(tmp_path_factory: pytest.TempPathFactory, _imported: Path) -> Path:
    program = CommandLine(tmp_path_factory.mktemp("compacted") / "sessions.db")
    shutil.copy(_imported, program.database)
    program.succeed("compact", "fix-auth", "--context-window", "48000")
    return program.database


@pytest.fixture
def conversation(tmp_path: Path, _imported: Path) -> CommandLine:
    """The program on a database with the recorded transcript as ``fix-auth``, 204 messages."""
    shutil.copy(_imported, tmp_path / "sessions.db")
    return CommandLine(tmp_path / "sessions.db")


@pytest.fixture
def compacted(tmp_path: Path, _compacted: Path) -> CommandLine:
    """The same, compacted once: its tip is ``fix-auth~2``."""
    shutil.copy(_compacted, tmp_path / "sessions.db")
    return CommandLine(tmp_path / "sessions.db")


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees or touches the data of whoever runs it."""
    for variable in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / variable.lower()))
    monkeypatch.delenv("SESSIONSTORE_DB", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
