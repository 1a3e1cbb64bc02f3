"""Five tools for a model, about its own session: its goal, its todos, and everything that was ever said.

    tools = tool_schemas("openai")                       # into the request
    text = run_tool(session, call.name, call.arguments)  # the content of the tool message

They go through the session's own methods, so a compaction in between changes nothing.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from sessionstore.domain.agent_tool_schemas import AGENT_TOOLS, ToolDialect, tool_schemas

__all__ = ["TOOL_NAMES", "ToolDialect", "run_tool", "run_tool_async", "tool_schemas"]

TOOL_NAMES: Final = tuple(tool.name for tool in AGENT_TOOLS)
"""``task_set_goal``, ``todo_write``, ``todo_update``, ``history_search``, ``history_read``."""


class RunsTools(Protocol):
    """A session of the sync front."""

    def run_tool(self, name: str, arguments: str | Mapping[str, Any]) -> str:
        """See ``Session.run_tool``."""
        ...


class RunsToolsAsync(Protocol):
    """A session of the async front."""

    async def run_tool(self, name: str, arguments: str | Mapping[str, Any]) -> str:
        """See ``Session.run_tool``."""
        ...


def run_tool(session: RunsTools, name: str, arguments: str | Mapping[str, Any]) -> str:
    """Do what a model asked for, and give the result as JSON text.

    ``arguments`` are as the model wrote them: JSON text or an object. Whatever is wrong with them, an unknown tool included,
    is told under ``error`` in the result; only a database that cannot be used raises.
    """
    return session.run_tool(name, arguments)


async def run_tool_async(session: RunsToolsAsync, name: str, arguments: str | Mapping[str, Any]) -> str:
    """``run_tool`` for a session of the async front."""
    return await session.run_tool(name, arguments)
