"""The two SQLite sessions of openai-agents."""
from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from benchmarks.contestants.contestant import AsyncContestant
from benchmarks.payloads import Message


class AgentsSession(AsyncContestant):
    """What both have in common: items in, items out."""

    _session: Any

    async def append_async(self, turn: Sequence[Message]) -> None:
        """Add the items of a turn together."""
        await self._session.add_items(list(turn))

    def fill(self, messages: Sequence[Message]) -> None:
        """Add them all together."""
        self.run(self._session.add_items(list(messages)))

    def load(self) -> int:
        """Get all items."""
        return len(self.run(self._session.get_items()))

    def last(self, count: int) -> int:
        """Get the last items."""
        return len(self.run(self._session.get_items(limit=count)))


class AgentsSqlite(AgentsSession):
    """``SQLiteSession``."""

    def open(self, path: str) -> None:
        """Open a session on a new file."""
        self._session = import_module("agents").SQLiteSession("session", path)

    def close(self) -> None:
        """Close the session."""
        self._session.close()


class AgentsSqlalchemy(AgentsSession):
    """``SQLAlchemySession`` on aiosqlite."""

    def open(self, path: str) -> None:
        """Open a session on a new file, tables included."""
        home = import_module("agents.extensions.memory.sqlalchemy_session").SQLAlchemySession
        self._session = home.from_url("session", url=f"sqlite+aiosqlite:///{path}", create_tables=True)

    def close(self) -> None:
        """Dispose of its engine."""
        self.run(self._session.engine.dispose())
