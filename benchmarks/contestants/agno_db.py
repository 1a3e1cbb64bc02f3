"""``SqliteDb`` of agno: a row a session, and a row with JSON a run."""
from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from benchmarks.contestants.contestant import Contestant
from benchmarks.payloads import Message


class AgnoSqlite(Contestant):
    """A run a turn, as its agents store them: the session's row, then the run's."""

    def open(self, path: str) -> None:
        """Open a database on a new file and begin a session."""
        self._db: Any = import_module("agno.db.sqlite").SqliteDb(db_file=path)
        self._kind: Any = import_module("agno.db.base").SessionType.AGENT
        home = import_module("agno.session.agent")
        self._session_class: Any = home.AgentSession
        self._session: Any = self._session_class(session_id="session", agent_id="agent", runs=[], created_at=1)
        runs = import_module("agno.run.agent")
        self._run_class: Any = runs.RunOutput
        self._message: Any = import_module("agno.models.message").Message
        self._number = 0

    def append(self, turn: Sequence[Message]) -> None:
        """Write the session, then the run."""
        self._number += 1
        messages = [self._message(**message) for message in turn]
        run = self._run_class(run_id=f"run-{self._number}", session_id="session", agent_id="agent", messages=messages)
        self._db.upsert_session(self._session)
        self._db.upsert_run(run=run, session_id="session", run_index=self._number)

    def fill(self, messages: Sequence[Message]) -> None:
        """All in one run."""
        self.append(messages)

    def load(self) -> int:
        """Get the session with its runs."""
        found = self._db.get_session(session_id="session", session_type=self._kind)
        return sum(len(run.messages) for run in found.runs)

    def last(self, count: int) -> int:
        """The whole session: it has no other way."""
        self.load()
        return count

    def make_sessions(self, count: int) -> None:
        """A row each."""
        for number in range(count):
            session = self._session_class(session_id=f"session-{number}", agent_id="agent", runs=[], created_at=number + 1)
            self._db.upsert_session(session)

    def list_sessions(self, count: int) -> int:
        """In one page."""
        return len(self._db.get_sessions(session_type=self._kind, limit=count))
