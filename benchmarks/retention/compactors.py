"""Who compacts in the retention benchmark: this library, plain truncation, and other people's compactors in their processes."""
from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import Protocol

from benchmarks.participants import Seat
from benchmarks.payloads import Message
from benchmarks.retention.facts import Fact
from benchmarks.retention.scripted import answer
from benchmarks.retention.work import tokens_of
from benchmarks.settings import new_folder
from sessionstore import CompactionResult, Session, SessionStore
from sessionstore.domain.token_counter import TokenCounter

WINDOW = 128_000
TAIL_TOKENS = 12_800
"""The library's tail at this window, which truncation and LangChain are given too."""


class Compactor(Protocol):
    """One conversation that is compacted again and again."""

    def compact(self, messages: list[Message], facts: Sequence[Fact]) -> list[Message]:
        """A shorter list to go on with; ``facts`` is all that a perfect model could see. Raises ``RuntimeError``."""
        ...

    def close(self) -> None:
        """End the conversation."""
        ...


class Truncation:
    """The first three messages and the end, cut before a user's message so that no result loses its call."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter

    def compact(self, messages: list[Message], facts: Sequence[Fact]) -> list[Message]:  # noqa: ARG002 - it has no model
        """Leave out what is between."""
        begin, left = len(messages), TAIL_TOKENS
        while begin > 3 and left > 0:
            begin -= 1
            left -= tokens_of([messages[begin]], self._counter)
        while begin < len(messages) and messages[begin]["role"] != "user":
            begin += 1
        return messages[:3] + messages[begin:]

    def close(self) -> None:
        """Nothing is held."""


class LibraryCompactor:
    """A session that is flushed and compacted; ``script`` None is the extractive summariser."""

    def __init__(self, script: str | None) -> None:
        self._script = script
        self._folder = new_folder()
        self.store = SessionStore.open(f"sqlite:///{self._folder}/retention.db")
        self.session: Session = self.store.create_session(context_window=WINDOW)
        self.result: CompactionResult[Session] | None = None

    def compact(self, messages: list[Message], facts: Sequence[Fact]) -> list[Message]:
        """Flush, compact, and go on in the continuation."""
        told = [fact.as_json() for fact in facts]
        script = self._script
        summarizer = None if script is None else (lambda prompt: answer(script, prompt, told))
        self.session.flush(messages)
        self.result = self.session.compact(summarizer=summarizer)
        if self.result.status != "committed":
            raise RuntimeError(f"{self.result.status}: {self.result.reason}")
        self.session = self.result.session
        return self.result.messages

    def close(self) -> None:
        """Close the store and delete it."""
        self.store.close()
        shutil.rmtree(self._folder, ignore_errors=True)


class SeatedCompactor:
    """A compactor of another package, in its own process."""

    def __init__(self, seat: Seat, script: str) -> None:
        self._seat = seat
        self._ask("begin", script)

    def compact(self, messages: list[Message], facts: Sequence[Fact]) -> list[Message]:
        """Send the list, get a shorter one."""
        return list(self._ask("condense", messages, [fact.as_json() for fact in facts]))

    def close(self) -> None:
        """The process goes on with the next conversation."""

    def _ask(self, operation: str, *arguments: object) -> list[Message]:
        answered = self._seat.call(operation, *arguments)
        if answered.problem:
            raise RuntimeError(answered.problem)
        return answered.value or []
