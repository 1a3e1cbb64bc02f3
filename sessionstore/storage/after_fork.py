"""A forked process gets connections of its own: SQLite's, and a server's, must not be used on both sides of a fork."""
from __future__ import annotations

import os
from typing import Final, Protocol
from weakref import WeakSet


class Forked(Protocol):
    """What holds connections."""

    def begin_anew(self) -> object:
        """Forget every connection without touching it; gives what must never be closed in this process."""
        ...


_HOLDERS: Final[WeakSet[Forked]] = WeakSet()
_LEFT_TO_THE_PARENT: Final[list[object]] = []


def forget_when_forked(holder: Forked) -> None:
    """See to it that a child process begins without connections."""
    _HOLDERS.add(holder)


def _in_child() -> None:
    for holder in list(_HOLDERS):
        # Kept for ever: closing a connection here would end the parent's, or take its locks away.
        _LEFT_TO_THE_PARENT.append(holder.begin_anew())


os.register_at_fork(after_in_child=_in_child)
