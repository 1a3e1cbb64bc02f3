"""The five tools that an agent gets for its own session: names, descriptions and arguments, in the form of each provider."""
from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from sessionstore.domain.closed_sets import TODO_STATUSES

ToolDialect = Literal["openai", "anthropic", "responses"]
"""Whose form of a tool: OpenAI chat, Anthropic messages, OpenAI Responses."""

MOST_READ: Final = 20
"""Messages that one ``history_read`` gives at most."""

MOST_HITS: Final = 20
"""Messages that one ``history_search`` gives at most."""


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A tool: its name, what the model is told of it, and the JSON schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


def _object(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(required), "additionalProperties": False}


_STATUS: Final = {"type": "string", "enum": list(TODO_STATUSES)}

AGENT_TOOLS: Final = (
    AgentTool(
        "task_set_goal",
        "Set the goal of this conversation. You see it every turn, whatever happens to older messages. Set it again when the "
        "user changes what they want.",
        _object({"goal": {"type": "string", "description": "The goal in the user's terms; an empty text clears it."}}, "goal"),
    ),
    AgentTool(
        "todo_write",
        "Replace your whole list of todos. You see it every turn. Use it for work of three steps or more, and keep at most one "
        "entry in_progress.",
        _object(
            {
                "todos": {
                    "type": "array",
                    "items": _object(
                        {
                            "id": {"type": "string", "description": "Short and unique in the list, such as 1 or 2a."},
                            "content": {"type": "string", "description": "What is to be done."},
                            "status": _STATUS,
                        },
                        "id",
                        "content",
                        "status",
                    ),
                }
            },
            "todos",
        ),
    ),
    AgentTool(
        "todo_update",
        "Change the status of one todo, as soon as it changes; optionally its content too.",
        _object({"id": {"type": "string"}, "status": _STATUS, "content": {"type": "string"}}, "id", "status"),
    ),
    AgentTool(
        "history_search",
        "Search everything ever said in this conversation, also what was summarised away. Gives the newest messages that hold "
        "all of the words, with their numbers; words are matched from their beginning, case doesn't matter, and there are no "
        "operators. Use few, rare words: a file name, an error, an id.",
        _object(
            {
                "query": {"type": "string", "description": "One to three words that stand in the message."},
                "limit": {"type": "integer", "minimum": 1, "maximum": MOST_HITS},
                "before": {"type": "integer", "description": "Only messages with a number below this one."},
            },
            "query",
        ),
    ),
    AgentTool(
        "history_read",
        "Read messages of this conversation by number, word for word, also those that were summarised away: at most "
        f"{MOST_READ} at a time. References such as #137 or #120-#131 in a summary are such numbers.",
        _object(
            {
                "messages": {"type": "string", "description": "A number such as 137, or a range such as 120-131."},
                "offset": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "For one long message: the character from which to read on.",
                },
            },
            "messages",
        ),
    ),
)
"""All five, in the order in which they are offered."""


def tool_schemas(dialect: ToolDialect) -> list[dict[str, Any]]:
    """The five tools as the value of a request's ``tools``; a fresh copy at every call. ``ValueError`` for another dialect."""
    return [_schema(tool, dialect) for tool in AGENT_TOOLS]


def _schema(tool: AgentTool, dialect: ToolDialect) -> dict[str, Any]:
    parameters = copy.deepcopy(dict(tool.parameters))
    match dialect:
        case "openai":
            function = {"name": tool.name, "description": tool.description, "parameters": parameters}
            return {"type": "function", "function": function}
        case "anthropic":
            return {"name": tool.name, "description": tool.description, "input_schema": parameters}
        case "responses":
            return {"type": "function", "name": tool.name, "description": tool.description, "parameters": parameters}
    raise ValueError(f"tools are written for openai, anthropic or responses, not {dialect!r}")
