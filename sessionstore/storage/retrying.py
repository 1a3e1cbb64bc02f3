"""Which failures of a server go away by themselves, and how long to wait before a unit of work is tried again."""
from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import exc

COLLIDED: Final = frozenset({"40001", "40P01"})
"""Transactions that met another one and were undone: serialization failure, deadlock."""

_LOST: Final = frozenset({"57P01", "57P02", "57P03"})
"""The server is shutting down, has crashed, or is not ready yet."""

_CONNECTION: Final = "08"
"""The class of codes that say that the connection failed."""

_FIRST_DELAY: Final = 0.02
_LONGEST_DELAY: Final = 1.0


def sqlstate_of(error: BaseException) -> str | None:
    """The five characters by which PostgreSQL names what happened, None where it said nothing."""
    cause = error.orig if isinstance(error, exc.DBAPIError) else error
    state = getattr(cause, "sqlstate", None)
    return state if isinstance(state, str) else None


def is_lost(error: BaseException) -> bool:
    """Whether the server, or the way to it, was gone: another try may find it, or the one that took over."""
    if isinstance(error, OSError):
        # asyncpg lets what the operating system says through as it is.
        return True
    if not isinstance(error, exc.DBAPIError):
        return False
    state = sqlstate_of(error) or ""
    if error.connection_invalidated or state in _LOST or state.startswith(_CONNECTION):
        return True
    # A connection that cannot be opened has no code. That none of several hosts takes writes is an internal error to asyncpg.
    return isinstance(error, exc.OperationalError | exc.InternalError) and not state


def passes_by_itself(error: BaseException) -> bool:
    """Whether the same may succeed a moment later: the transaction met another one, or the server was gone."""
    return sqlstate_of(error) in COLLIDED or is_lost(error)


class SearchIndexFailedError(Exception):
    """The search index could not be written to, and the transaction is lost with it; ``__cause__`` is what the driver said."""


class CommitLostError(Exception):
    """The connection was lost while a transaction committed; ``__cause__`` is what the driver said."""


@dataclass
class Attempts:
    """The tries of one unit of work.

    ``patience`` is for how many seconds tries go on. ``repeatable`` says that doing the unit twice is as good as once, so
    that it may be done again also when nobody knows whether the first time was committed.
    """

    patience: float
    repeatable: bool
    _begun: float = field(default_factory=time.monotonic)
    _count: int = 0

    def delay_after(self, error: BaseException, *, reached: bool) -> float | None:
        """Seconds to wait before the next try after this failure, None when there is to be none.

        A server that was never ``reached`` is not waited for: its URL is more likely wrong than it is away.
        """
        if isinstance(error, CommitLostError):
            again = self.repeatable
        else:
            again = passes_by_itself(error) and (reached or not is_lost(error))
        if not again or time.monotonic() - self._begun > self.patience:
            return None
        self._count += 1
        return random.uniform(0.0, min(_FIRST_DELAY * 2**self._count, _LONGEST_DELAY))
