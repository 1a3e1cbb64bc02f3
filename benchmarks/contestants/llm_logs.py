"""The log database of simonw's llm: a logged response is a turn."""
from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from benchmarks.contestants.contestant import Contestant
from benchmarks.payloads import Message


class LlmLogs(Contestant):
    """A response with its call logged, the result in the prompt of the next one."""

    def open(self, path: str) -> None:
        """Open a database, WAL as the others have it, and bring up its tables."""
        self._llm: Any = import_module("llm")
        database = import_module("sqlite_utils").Database(path)
        database.enable_wal()
        import_module("llm.migrations").migrate(database)
        self._database: Any = database
        self._model: Any = _scripted_model(self._llm)()
        self._conversation: Any = self._llm.Conversation(model=self._model)
        self._results: list[Any] = []

    def append(self, turn: Sequence[Message]) -> None:
        """Answer a prompt without any model, and log it."""
        user, assistant, result = turn
        self._model.answer = assistant["content"]
        self._model.calls = [
            self._llm.ToolCall(
                name=call["function"]["name"],
                arguments=json.loads(call["function"]["arguments"]),
                tool_call_id=call["id"],
            )
            for call in assistant["tool_calls"]
        ]
        response = self._conversation.prompt(user["content"], tool_results=self._results)
        response.text()
        self._results = [
            self._llm.ToolResult(name="search_files", output=result["content"], tool_call_id=result["tool_call_id"])
        ]
        response.log_to_db(self._database)
        # A conversation that remembers every response would be measured for that, not for its log.
        self._conversation.responses.clear()

    def close(self) -> None:
        """Close the database."""
        self._database.conn.close()


def _scripted_model(llm: Any) -> Any:
    def execute(self: Any, prompt: Any, stream: bool, response: Any, conversation: Any) -> Any:  # noqa: ARG001 - llm's own signature
        for call in self.calls:
            response.add_tool_call(call)
        yield self.answer

    body = {"model_id": "scripted", "can_stream": False, "supports_tools": True, "execute": execute}
    return type("Scripted", (llm.Model,), body)
