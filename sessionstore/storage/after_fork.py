"""A forked process gets connections of its own: SQLite's, and a server's, must not be used on both sides of a fork."""
from __future__ import annotations

import os
from typing import Final
from weakref import WeakSet

from sqlalchemy import Engine
from sqlalchemy.pool import Pool

_ENGINES: Final[WeakSet[Engine]] = WeakSet()
_LEFT_TO_THE_PARENT: Final[list[Pool]] = []


def forget_when_forked(engine: Engine) -> None:
    """See to it that a child process begins with an empty pool."""
    _ENGINES.add(engine)


def _in_child() -> None:
    for engine in list(_ENGINES):
        # Kept for ever: closing a connection here would end the parent's, or take its locks away.
        _LEFT_TO_THE_PARENT.append(engine.pool)
        engine.dispose(close=False)


os.register_at_fork(after_in_child=_in_child)
