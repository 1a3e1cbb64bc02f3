"""What every test may use: a fresh store, its URL, a clock that the test moves, and a counter that needs no vocabulary."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sessionstore import SessionStore


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of ``tests/cases``."""
    group = parser.getgroup("cases")
    group.addoption("--cases", metavar="DIR", help="run the *.json cases of DIR instead of the project's own")
    group.addoption("--slow", action="store_true", help="run slow cases too")


@dataclass
class Clock:
    """A clock that stands until the test moves it; seconds since 1970."""

    at: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.at

    def advance(self, seconds: float) -> None:
        """Let so much time pass."""
        self.at += seconds


@pytest.fixture
def clock() -> Clock:
    """A clock that only the test moves."""
    return Clock()


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    """The URL of a database that does not exist yet."""
    return f"sqlite:///{tmp_path}/store.db"


@pytest.fixture
def store(database_url: str, clock: Clock) -> Iterator[SessionStore]:
    """A fresh store on a real database."""
    with SessionStore.open(database_url, clock=clock) as opened:
        yield opened
