"""A store on a SQLite file, whatever database the other tests run on: for what only SQLite tells of itself."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sessionstore import SessionStore
from tests.conftest import Clock


@pytest.fixture
def sqlite_store(tmp_path: Path, clock: Clock) -> Iterator[SessionStore]:
    """A fresh store whose statements and query plans can be read."""
    with SessionStore.open(f"sqlite:///{tmp_path}/traced.db", clock=clock) as opened:
        yield opened
