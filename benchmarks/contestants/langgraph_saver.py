"""``SqliteSaver`` of langgraph-checkpoint-sqlite: every checkpoint holds the whole list, as a graph of messages has it."""
from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from benchmarks.contestants.contestant import Contestant
from benchmarks.payloads import Message


class LanggraphSaver(Contestant):
    """One checkpoint a turn, the fewest that a durable graph could do with."""

    def open(self, path: str) -> None:
        """Open a saver on a new file."""
        self._connection = sqlite3.connect(path, check_same_thread=False)
        self._saver: Any = import_module("langgraph.checkpoint.sqlite").SqliteSaver(self._connection)
        self._saver.setup()
        self._empty: Any = import_module("langgraph.checkpoint.base").empty_checkpoint
        self._config: dict[str, Any] = {"configurable": {"thread_id": "session", "checkpoint_ns": ""}}
        self._messages: list[Message] = []
        self._step = 0

    def append(self, turn: Sequence[Message]) -> None:
        """Put a checkpoint with all messages so far."""
        self._messages += turn
        self._step += 1
        checkpoint = self._empty()
        checkpoint["channel_values"] = {"messages": list(self._messages)}
        checkpoint["channel_versions"] = {"messages": self._step}
        metadata = {"source": "loop", "step": self._step, "parents": {}}
        self._config = self._saver.put(self._config, checkpoint, metadata, {"messages": self._step})

    def fill(self, messages: Sequence[Message]) -> None:
        """All in one checkpoint."""
        self.append(messages)

    def load(self) -> int:
        """Get the last checkpoint."""
        found = self._saver.get_tuple({"configurable": {"thread_id": "session", "checkpoint_ns": ""}})
        return len(found.checkpoint["channel_values"]["messages"])

    def last(self, count: int) -> int:
        """The whole checkpoint: it has no other way."""
        self.load()
        return count

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
