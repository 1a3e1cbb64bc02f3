"""This library, sync and async, through its public API."""
from __future__ import annotations

import time
from collections.abc import Sequence

from benchmarks import payloads
from benchmarks.contestants.contestant import AsyncContestant, Contestant
from benchmarks.payloads import Message
from sessionstore import AsyncSession, AsyncSessionStore, Session, SessionStore
from sessionstore.domain.records import SessionSummary

BATCH = 5_000
"""Messages in one append while a database is filled."""


class Library(Contestant):
    """The sync front: a turn is one ``append``."""

    def open(self, path: str) -> None:
        """Open a store and begin a session."""
        self._store = SessionStore.open(f"sqlite:///{path}")
        self._session: Session = self._store.create_session(id="session", context_window=128_000)

    def append(self, turn: Sequence[Message]) -> None:
        """Append the messages of a turn together."""
        self._session.append(turn)

    def fill(self, messages: Sequence[Message]) -> None:
        """Append in large batches."""
        for begin in range(0, len(messages), BATCH):
            self._session.append(messages[begin : begin + BATCH])

    def load(self) -> int:
        """Read the context."""
        return len(self._session.context())

    def last(self, count: int) -> int:
        """Read the end of the context."""
        return len(self._session.last(count))

    def make_sessions(self, count: int) -> None:
        """A lineage each, with a title and a message."""
        for number in range(count):
            session = self._store.create_session(id=f"session-{number}", title=f"Title {number}")
            session.append({"role": "user", "content": "hello"})

    def list_sessions(self, count: int) -> int:
        """All of them, in pages of a thousand."""
        found: list[SessionSummary] = []
        while len(found) < count:
            page = self._store.list_sessions(limit=min(1000, count - len(found)), before=found[-1] if found else None)
            if not page:
                break
            found += page
        return len(found)

    def compact(self, count: int) -> float:
        """Compact with the extractive summariser."""
        session = self._store.create_session(context_window=128_000)
        session.append(payloads.messages(count, 1000))
        begun = time.perf_counter()
        result = session.compact()
        seconds = time.perf_counter() - begun
        if result.status != "committed":
            raise RuntimeError(f"the compaction ended {result.status}: {result.reason}")
        return seconds

    def close(self) -> None:
        """Close the store."""
        self._store.close()


class AsyncLibrary(AsyncContestant):
    """The async front."""

    def open(self, path: str) -> None:
        """Open a store and begin a session."""

        async def opened() -> tuple[AsyncSessionStore, AsyncSession]:
            store = await AsyncSessionStore.open(f"sqlite:///{path}")
            return store, await store.create_session(id="session", context_window=128_000)

        self._store, self._session = self.run(opened())

    async def append_async(self, turn: Sequence[Message]) -> None:
        """Append the messages of a turn together."""
        await self._session.append(turn)

    def fill(self, messages: Sequence[Message]) -> None:
        """Append in one batch."""
        self.run(self._session.append(messages))

    def load(self) -> int:
        """Read the context."""
        return len(self.run(self._session.context()))

    def last(self, count: int) -> int:
        """Read the end of the context."""
        return len(self.run(self._session.last(count)))

    def close(self) -> None:
        """Close the store."""
        self.run(self._store.close())
