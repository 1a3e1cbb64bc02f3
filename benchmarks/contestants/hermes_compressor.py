"""Hermes' compressor as a compactor of message lists, its model played by a script."""
from __future__ import annotations

import os
import tempfile
from types import SimpleNamespace
from typing import Any

from benchmarks.contestants.hermes import made_compressor
from benchmarks.payloads import Message
from benchmarks.retention.scripted import answer


class HermesCompressor:
    """One conversation: the compressor remembers its own last summary."""

    def begin(self, script: str) -> None:
        """Start a conversation whose summaries a script writes."""
        os.environ.setdefault("HERMES_HOME", tempfile.mkdtemp(prefix="hermes-"))
        self._facts: list[dict[str, Any]] = []

        def call_llm(**keywords: Any) -> SimpleNamespace:
            prompt = "\n".join(str(message["content"]) for message in keywords["messages"])
            text = answer(script, prompt, self._facts)
            return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=text))])

        self._compressor = made_compressor(call_llm)

    def condense(self, messages: list[Message], facts: list[dict[str, Any]]) -> list[Message]:
        """Compress the list."""
        self._facts = facts
        shorter: list[Message] = self._compressor.compress(messages, force=True)
        return [{key: value for key, value in message.items() if not key.startswith("_")} for message in shorter]
