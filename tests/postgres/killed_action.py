"""A process that does one operation of the kill matrix on a server, and ends itself, without a chance to clean up, at one of its
points: before a statement that writes, or before or after a commit."""
from __future__ import annotations

import os
import signal
from multiprocessing.connection import Connection as Pipe
from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.engine.default import DefaultDialect

from tests.kill.actions import ACTIONS

_READS = ("SELECT", "SHOW", "WITH")


def act_and_die(url: str, action: str, at: int | None, answer: Pipe) -> None:
    """Do it; tells the points that it passed when it comes to its end."""
    passed: list[str] = []

    def reach(point: str) -> None:
        if len(passed) == at:
            os.kill(os.getpid(), signal.SIGKILL)
        passed.append(point)

    def statement(_connection: Any, _cursor: Any, text: str, *_: Any) -> None:
        # Before a query everything is as it was before the statement in front of it.
        if not text.lstrip("\n ").startswith(_READS) or "FOR NO KEY UPDATE" in text:
            reach(" ".join(text.split())[:80])

    commit = DefaultDialect.do_commit

    def committed(self: DefaultDialect, connection: Any) -> None:
        reach("COMMIT")
        commit(self, connection)
        reach("(the transaction is over, nobody knows it yet)")

    event.listen(Engine, "before_cursor_execute", statement)
    DefaultDialect.do_commit = committed  # type: ignore[method-assign]  # this process lives for one operation
    ACTIONS[action].act(url)
    answer.send(passed)
