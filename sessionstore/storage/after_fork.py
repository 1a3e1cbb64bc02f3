"""A forked process gets connections of its own: SQLite's, and a server's, must not be used on both sides of a fork.

SQLite keeps account of its locks on a file once a process, and a fork copies the account and not the locks: a connection that
the child opens would go by it, hold nothing, and have its writes lost when the parent closes the file. So SQLite's connections
are closed before a fork, while those that are at work come to their end and new units wait.
"""
from __future__ import annotations

import os
from typing import Final, Protocol
from weakref import WeakSet


class Forked(Protocol):
    """What holds connections."""

    def before_fork(self) -> None:
        """Close what a child must not inherit."""
        ...

    def in_parent(self) -> None:
        """Go on."""
        ...

    def begin_anew(self) -> object:
        """Forget every connection without touching it; gives what must never be closed in this process."""
        ...


_HOLDERS: Final[WeakSet[Forked]] = WeakSet()
_LEFT_TO_THE_PARENT: Final[list[object]] = []


def forget_when_forked(holder: Forked) -> None:
    """See to it that a child process begins without connections."""
    _HOLDERS.add(holder)


def _before() -> None:
    for holder in list(_HOLDERS):
        holder.before_fork()


def _in_parent() -> None:
    for holder in list(_HOLDERS):
        holder.in_parent()


def _in_child() -> None:
    for holder in list(_HOLDERS):
        # Kept for ever: closing a connection here would end the parent's, or take its locks away.
        _LEFT_TO_THE_PARENT.append(holder.begin_anew())


os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
