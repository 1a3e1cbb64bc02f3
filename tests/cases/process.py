"""A process of a case: ``python -m tests.cases.process append|compact|crash`` with its order as JSON on standard input.

It answers with the typed errors it met, as JSON. ``crash`` compacts and kills itself at a point; the points inside the commit
are found by the statements that pass, so the library has no part in it.
"""
from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.pool import Pool

from sessionstore import SessionStoreError, SummaryAnswer, SummaryRequest
from tests.cases.kept import Thread
from tests.cases.loading import Case
from tests.cases.running import CaseRun, StepClock
from tests.cases.scripted import ScriptedSummarizer


class Killer:
    """Ends the process without a chance to clean up when its point comes."""

    def __init__(self, point: str) -> None:
        self.point = point
        self.answered = False
        self.opening = False
        self.committed = False
        self.running = ""

    def reach(self, *points: str) -> None:
        """End the process if one of these is its point."""
        if self.point in points:
            os.kill(os.getpid(), signal.SIGKILL)

    def listen(self) -> None:
        """Watch every statement and commit of the process: SQLite's by its own trace, a server's by SQLAlchemy's events."""
        event.listen(Engine, "connect", self._connected)
        event.listen(Engine, "before_cursor_execute", self._before)
        event.listen(Engine, "after_cursor_execute", self._after)
        event.listen(Engine, "commit", self._committing)
        event.listen(Pool, "checkin", self._returned)

    def _connected(self, connection: Any, _record: Any) -> None:
        if isinstance(connection, sqlite3.Connection):
            connection.set_trace_callback(self._traced)

    def _traced(self, statement: str) -> None:
        """Called before a statement of SQLite runs, when the one before it is over."""
        if statement.startswith("--"):
            return
        running, self.running = self.running, statement
        self._done(running)
        if running == "COMMIT":
            self._returned()
        self._begun(statement)
        if statement == "COMMIT":
            self._committing()

    def _before(self, _c: Any, _cursor: Any, statement: str, _p: Any, _context: Any, _many: bool) -> None:
        self._begun(statement)

    def _after(self, _c: Any, _cursor: Any, statement: str, _p: Any, _context: Any, _many: bool) -> None:
        self._done(statement)

    def _begun(self, statement: str) -> None:
        if self.answered:
            self.reach("after_summary")
        if statement.startswith("UPDATE sessions SET") and "end_reason" in statement.partition("WHERE")[0]:
            self.reach("before_parent_end")

    def _done(self, statement: str) -> None:
        if statement.startswith("INSERT INTO sessions "):
            self.opening = True
            self.reach("after_child_insert")
        if statement.startswith("INSERT INTO context_spans "):
            self.reach("after_tail_copy")

    def _committing(self, *_: Any) -> None:
        if self.opening:
            self.reach("before_commit")
            self.committed = True

    def _returned(self, *_: Any) -> None:
        if self.committed:
            self.reach("after_commit")


class KillingSummarizer:
    """A scripted summariser with a killer that knows where it is."""

    name = ScriptedSummarizer.name

    def __init__(self, scripted: ScriptedSummarizer, killer: Killer) -> None:
        self._scripted = scripted
        self._killer = killer
        self.window = scripted.window
        self.input_tokens = scripted.input_tokens
        scripted.before_answer = lambda: killer.reach("during_summary")

    def summarize(self, request: SummaryRequest) -> str | SummaryAnswer:
        """Answer, unless the process ends before or while it does."""
        self._killer.reach("before_summary")
        answer = self._scripted.summarize(request)
        self._killer.answered = True
        return answer


class _NoDatabases:
    """A process works on the database that it is given, and needs no other."""

    def new(self) -> str:
        """Nothing here makes one."""
        raise NotImplementedError

    def copy(self, url: str) -> str:
        """Nothing here copies one."""
        raise NotImplementedError


def main(arguments: Sequence[str]) -> None:
    """Carry out one order."""
    order = json.load(sys.stdin)
    case = Case(**{**order["case"], "problems": ()})
    run = CaseRun(case, _NoDatabases(), order["url"], StepClock(order["at"]))
    run.root_id = order["root"]
    session = run.store.resume(run.root_id)
    run.threads[None] = Thread(session, session.context())
    errors: list[tuple[str, str]] = []
    for action in _actions(arguments[0], order, run):
        try:
            action()
        except SessionStoreError as error:
            errors.append((type(error).__name__, str(error)))
    run.store.close()
    sys.stdout.write(json.dumps({"errors": errors}))


def _actions(what: str, order: Mapping[str, Any], run: CaseRun) -> list[Any]:
    if what == "append":
        texts = [f"w{order['writer']}-{number}" for number in range(order["each"])]
        return [lambda text=text: run.session.append({"role": "user", "content": text}) for text in texts]
    summarizer: ScriptedSummarizer | KillingSummarizer = run.summarizer
    if what == "crash":
        killer = Killer(order["point"])
        killer.listen()
        run.store.close()  # so that every connection is one that is watched
        summarizer = KillingSummarizer(run.summarizer, killer)
    force = bool(run.case.options.get("force", False))
    return [lambda: run.session.compact(summarizer=summarizer, policy=run.policy, force=force)]


if __name__ == "__main__":
    main(sys.argv[1:])
