"""``SessionDB`` of hermes-agent, and its ``ContextCompressor`` with a model that is a function."""
from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from benchmarks import payloads
from benchmarks.contestants.contestant import Contestant
from benchmarks.payloads import Message

WINDOW = 128_000
"""Tokens of the window that its compressor is told."""
SUMMARY = "## Goal\nContinue the work that was asked for.\n\n## Progress\nThe files were read and searched."
"""What the stubbed model answers."""


class Hermes(Contestant):
    """A message is one write of its own: it has no public call for a turn."""

    def open(self, path: str) -> None:
        """Open a database on a new file and begin a session; its home is a scratch folder."""
        os.environ.setdefault("HERMES_HOME", tempfile.mkdtemp(prefix="hermes-", dir=Path(path).parent))
        self._db: Any = import_module("hermes_state").SessionDB(Path(path))
        self._db.create_session("session", "benchmark")

    def append(self, turn: Sequence[Message]) -> None:
        """Append the messages of a turn, one after another."""
        for message in turn:
            self._append("session", message)

    def load(self) -> int:
        """Get the conversation in OpenAI's form."""
        return len(self._db.get_messages_as_conversation("session"))

    def last(self, count: int) -> int:
        """Get the rows at the end."""
        total = self._db.message_count("session")
        return len(self._db.get_messages("session", limit=count, offset=total - count))

    def make_sessions(self, count: int) -> None:
        """A session of one message each."""
        for number in range(count):
            self._db.create_session(f"session-{number}", "benchmark")
            self._append(f"session-{number}", {"role": "user", "content": "hello"})

    def list_sessions(self, count: int) -> int:
        """In one page, its lightest form."""
        return len(self._db.list_sessions_rich(limit=count, compact_rows=True, order_by_last_active=True))

    def compact(self, count: int) -> float:
        """Compress a list of so many messages, then archive and store it."""
        answer = SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=SUMMARY))])
        compressor = made_compressor(lambda **_: answer)
        listed = payloads.messages(count, 1000)
        for message in listed:
            self._append("session", message)
        begun = time.perf_counter()
        shorter = compressor.compress(listed, force=True)
        self._db.archive_and_compact("session", shorter)
        return time.perf_counter() - begun

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def _append(self, session: str, message: Message) -> None:
        self._db.append_message(
            session,
            message["role"],
            content=message.get("content"),
            tool_calls=message.get("tool_calls"),
            tool_call_id=message.get("tool_call_id"),
        )


def made_compressor(call_llm: Any) -> Any:
    """A compressor whose model is a function from the keywords of a call to a response."""
    home = import_module("agent.context_compressor")
    home.call_llm = call_llm  # type: ignore[attr-defined]  # its own name for the call to a model, replaced here
    return home.ContextCompressor("scripted", quiet_mode=True, config_context_length=WINDOW)
