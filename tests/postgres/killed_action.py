"""A process that does one operation of the kill matrix on a server, and ends itself, without a chance to clean up, at one
of its points: before the first write of a transaction, before its commit, and after it.

What lies between changes nothing: a server undoes a transaction whose client is gone, whatever it has done by then.
"""
from __future__ import annotations

import os
import signal
from multiprocessing.connection import Connection as Pipe
from typing import Any

import alembic.command
import psycopg
from sqlalchemy import Engine, event
from sqlalchemy.engine.default import DefaultDialect

from tests.kill.actions import ACTIONS

LOADED = (alembic.command, psycopg)
"""What the library imports when it runs; here it is there before a process is forked, and lives for one operation."""

_READS = ("SELECT", "SHOW", "WITH")


def act_and_die(url: str, action: str, at: int | None, answer: Pipe) -> None:
    """Do it; tells the points that it passed when it comes to its end."""
    passed: list[str] = []
    begun = False

    def reach(point: str) -> None:
        if len(passed) == at:
            os.kill(os.getpid(), signal.SIGKILL)
        passed.append(point)

    def statement(_connection: Any, _cursor: Any, text: str, *_: Any) -> None:
        nonlocal begun
        if not begun and not text.lstrip("\n ").startswith(_READS):
            begun = True
            reach(" ".join(text.split())[:80])

    commit = DefaultDialect.do_commit

    def committed(self: DefaultDialect, connection: Any) -> None:
        nonlocal begun
        begun = False
        reach("COMMIT")
        commit(self, connection)  # type: ignore[no-untyped-call]  # SQLAlchemy has no type for it
        reach("(the transaction is over, nobody knows it yet)")

    event.listen(Engine, "before_cursor_execute", statement)
    DefaultDialect.do_commit = committed  # type: ignore[method-assign]  # this process lives for one operation
    ACTIONS[action].act(url)
    answer.send(passed)
