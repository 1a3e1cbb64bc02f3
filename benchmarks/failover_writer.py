"""A writer that outlives the loss of a server: turns with client ids, noted outside of the database once acknowledged."""
from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from multiprocessing.synchronize import Event
from pathlib import Path

from benchmarks.soak_writer import Journal, WordCounter
from sessionstore import AsyncSessionStore, SessionStore, SessionStoreError

SHARED = "shared"
"""A conversation that all writers append to, beside one of their own."""

WAYS = ("psycopg", "psycopg", "psycopg, async", "asyncpg")
"""Driver and front of each writer."""


class _Turns:
    """The turns of one writer, and what becomes of them."""

    def __init__(self, folder: Path, number: int) -> None:
        self._journal = Journal(folder / f"journal-{number}")
        self._number = number
        self._count = 0
        self._begun = 0.0

    @property
    def sessions(self) -> tuple[str, str]:
        """Where they go, in turn."""
        return f"writer-{self._number}", SHARED

    def next(self) -> tuple[list[dict[str, str]], list[str]]:
        """A question and an answer, and their client ids."""
        names = [f"{self._number}.{self._count}.{place}" for place in range(2)]
        self._count += 1
        self._begun = time.time()
        roles = ("user", "assistant")
        text = " and some more words" * 12
        return [{"role": role, "content": name + text} for role, name in zip(roles, names, strict=True)], names

    def acknowledged(self, names: Sequence[str]) -> None:
        """The store says that they are kept; noted with the times of the call and of its return."""
        self._journal.note("ack", f"{self._begun:.6f}", f"{time.time():.6f}", *names)

    def refused(self, error: SessionStoreError) -> None:
        """The store reported an error; the same turn is tried again, as its client ids allow."""
        self._journal.note("error", type(error).__name__)


def write_until(folder: Path, number: int, url: str, stop: Event) -> None:
    """Append turns in this process until it is told to stop."""
    turns = _Turns(folder, number)
    way = WAYS[number % len(WAYS)]
    if way == "psycopg":
        _write(turns, url, stop)
    else:
        asyncio.run(_write_on_a_loop(turns, url.replace("psycopg", "asyncpg") if way == "asyncpg" else url, stop))


def _write(turns: _Turns, url: str, stop: Event) -> None:
    with SessionStore.open(url, counter=WordCounter()) as store:
        sessions = [store.session(name) for name in turns.sessions]
        while not stop.is_set():
            for session in sessions:
                messages, names = turns.next()
                while True:
                    try:
                        session.append(messages, client_id=names)
                    except SessionStoreError as error:
                        turns.refused(error)
                    else:
                        break
                turns.acknowledged(names)


async def _write_on_a_loop(turns: _Turns, url: str, stop: Event) -> None:
    async with AsyncSessionStore.open(url, counter=WordCounter()) as store:
        sessions = [await store.session(name) for name in turns.sessions]
        while not stop.is_set():
            for session in sessions:
                messages, names = turns.next()
                while True:
                    try:
                        await session.append(messages, client_id=names)
                    except SessionStoreError as error:
                        turns.refused(error)
                    else:
                        break
                turns.acknowledged(names)
