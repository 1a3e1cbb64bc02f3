"""Keeps the messages of a recording: their order, ids, times, and the results of the tools they call."""
import json
from datetime import datetime, timedelta
from typing import Any

from .tools import ToolCall, run_tool
from .workspace import Workspace

START = datetime.fromisoformat("2025-07-08T09:12:04+00:00")
_TOOL_SECONDS = {"terminal": 3, "read_file": 1, "write_file": 1, "patch": 1, "search_files": 1, "todo": 1}


class Conversation:
    """A chat in OpenAI form that grows as the script plays; calls are run at once, in the order they are given."""

    def __init__(self, workspace: Workspace, system_prompt: str) -> None:
        """Begin with the system prompt, which is the first record and has no id."""
        self._workspace = workspace
        self._now = START
        self._calls = 0
        self._messages = 0
        self.records: list[dict[str, Any]] = [{"role": "system", "content": system_prompt}]

    def user(self, text: str, after_minutes: int = 3) -> None:
        """The user writes, so many minutes after the last message."""
        self._now += timedelta(minutes=after_minutes, seconds=len(text) % 47)
        self._add({"role": "user", "content": text})

    def agent(self, text: str, *calls: ToolCall) -> list[str]:
        """The agent writes, calls tools, gets their results; returns those, in the order of the calls."""
        argument_texts = [json.dumps(call.arguments, ensure_ascii=False) for call in calls]
        written = len(text) + sum(len(argument_text) for argument_text in argument_texts)
        self._now += timedelta(seconds=4 + written // 45)
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        ids = [f"call_{self._calls + offset:03d}" for offset in range(1, len(calls) + 1)]
        self._calls += len(calls)
        if calls:
            message["tool_calls"] = [
                {"id": id_, "type": "function", "function": {"name": call.name, "arguments": argument_text}}
                for id_, call, argument_text in zip(ids, calls, argument_texts, strict=True)
            ]
        self._add(message)
        return [self._result(id_, call) for id_, call in zip(ids, calls, strict=True)]

    def _result(self, call_id: str, call: ToolCall) -> str:
        content = run_tool(self._workspace, call, self._now.isoformat())
        self._now += timedelta(seconds=_TOOL_SECONDS[call.name])
        self._add({"role": "tool", "tool_call_id": call_id, "name": call.name, "content": content})
        return content

    def _add(self, message: dict[str, Any]) -> None:
        parent = f"m{self._messages:03d}" if self._messages else None
        self._messages += 1
        created_at = self._now.isoformat().replace("+00:00", "Z")
        self.records.append({"id": f"m{self._messages:03d}", "parent": parent, "created_at": created_at, **message})
