"""LangChain's SummarizationMiddleware as a compactor of message lists, its model played by a script."""
from __future__ import annotations

from importlib import import_module
from typing import Any

from benchmarks.payloads import Message
from benchmarks.retention.scripted import answer

KEPT_TOKENS = 12_800
"""Tokens at the end that it is told to keep: as many as the library's tail has at this window."""


class LangchainSummary:
    """It keeps no state: what it summarised last time is a message like any other."""

    def begin(self, script: str) -> None:
        """Start a conversation whose summaries a script writes."""
        middleware = import_module("langchain.agents.middleware").SummarizationMiddleware
        self._core: Any = import_module("langchain_core.messages")
        model = import_module("langchain_core.language_models.fake_chat_models").FakeListChatModel(responses=["unused"])
        self._facts: list[dict[str, Any]] = []

        def write(messages: Any) -> str:
            return answer(script, self._core.get_buffer_string(messages), self._facts)

        self._middleware: Any = middleware(
            model,
            trigger=("messages", 1),
            keep=("tokens", KEPT_TOKENS),
            trim_tokens_to_summarize=None,  # its default shows the model 4,000 tokens and no more
            summarizer=write,
        )

    def condense(self, messages: list[Message], facts: list[dict[str, Any]]) -> list[Message]:
        """Hand it the list as the state of an agent, and read the list that it puts in its place."""
        self._facts = facts
        update = self._middleware.before_model({"messages": self._core.convert_to_messages(messages)}, None)
        if update is None:
            return messages
        kept = [message for message in update["messages"] if not isinstance(message, self._core.RemoveMessage)]
        listed: list[Message] = self._core.convert_to_openai_messages(kept)
        return listed
