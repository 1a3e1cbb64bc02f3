"""A writer of the soak: random operations on a few shared conversations, acknowledged in a journal outside of the database."""
from __future__ import annotations

import asyncio
import os
import random
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

from sessionstore import AsyncSessionStore, CompactionPolicy, SessionStore, SessionStoreError, SummaryAnswer

SESSIONS = ("a", "b", "c", "d")
"""Conversations that all processes write to."""

POLICY = CompactionPolicy(head_messages=2, tail_messages=6)
WINDOW = 6_000
SUMMARY = "Critical Context: modules were looked at and mended, one after the other, and the tests pass."


class WordCounter:
    """Counts words; a soak is about the store, not about tokens."""

    method = "words"

    def count(self, text: str) -> int:
        """Words and a half."""
        return len(text.split()) * 3 // 2 + 1


class Journal:
    """A file outside of the database, one line at a time, that a killed process leaves whole."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def note(self, *words: str) -> None:
        """Write a line."""
        os.write(self._file, (" ".join(words) + "\n").encode())


class Writer:
    """One process: random operations until it is killed or its time is over."""

    def __init__(self, url: str, journal: Journal, seed: int) -> None:
        self._url = url
        self._journal = journal
        self._chance = random.Random(seed)
        self._name = f"{seed}"
        self._count = 0

    async def work(self, until: float) -> None:
        """Do one thing after the other; errors of the family are counted, any other ends the process."""
        counter = WordCounter()
        with SessionStore.open(self._url, counter=counter) as store:
            async with AsyncSessionStore.open(self._url, counter=counter) as other:
                while time.time() < until:
                    act = self._chance.choices(["append", "flush", "cancel", "compact", "undo"], [40, 20, 20, 15, 2])[0]
                    session_id = self._chance.choice(SESSIONS)
                    try:
                        if act == "cancel":
                            await self._cancel(other, session_id)
                        else:
                            getattr(self, f"_{act}")(store, session_id)
                    except SessionStoreError as error:
                        self._journal.note("error", type(error).__name__)
                    else:
                        self._journal.note("done", act)

    def _messages(self) -> Iterator[dict[str, str]]:
        for role in ("user", "assistant"):
            self._count += 1
            yield {"role": role, "content": f"message {self._name}.{self._count} " + "and some more words " * 12}

    def _acknowledge(self, messages: Sequence[dict[str, str]]) -> None:
        for message in messages:
            self._journal.note("ack", message["content"].split()[1])

    def _append(self, store: SessionStore, session_id: str) -> None:
        messages = list(self._messages())
        store.resume(session_id).append(messages)
        self._acknowledge(messages)

    def _flush(self, store: SessionStore, session_id: str) -> None:
        session = store.resume(session_id)
        messages = list(self._messages())
        session.flush([*session.context(), *messages])
        self._acknowledge(messages)

    async def _cancel(self, store: AsyncSessionStore, session_id: str) -> None:
        session = await store.resume(session_id)
        messages = list(self._messages())
        task = asyncio.ensure_future(session.append(messages))
        await asyncio.sleep(self._chance.uniform(0.0, 0.004))
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            return  # there or not there, but whole: nobody was told
        self._acknowledge(messages)

    def _compact(self, store: SessionStore, session_id: str) -> None:
        def summarize(_prompt: str) -> SummaryAnswer:
            time.sleep(self._chance.uniform(0.0, 0.15))
            failed = self._chance.random() < 0.2
            return SummaryAnswer("" if failed else SUMMARY)

        store.resume(session_id).compact(policy=POLICY, summarizer=summarize)

    def _undo(self, store: SessionStore, session_id: str) -> None:
        store.resume(session_id).undo_compaction()


def write_until(folder: Path, number: int, until: float) -> None:
    """Work in this process until a time (seconds since 1970); an exception that is none of the family is noted and raised."""
    journal = Journal(folder / f"journal-{number}")
    try:
        asyncio.run(Writer(f"sqlite:///{folder}/soak.db", journal, number).work(until))
    except BaseException:
        journal.note("crash", " ".join(traceback.format_exc().split())[-1_000:])
        raise
