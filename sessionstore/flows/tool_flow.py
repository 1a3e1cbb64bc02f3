"""What the agent tools do, as a flow: whatever a model asks for ends in a result that it can read."""
from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import Connection

from sessionstore.domain.agent_tool_schemas import AGENT_TOOLS, MOST_HITS, MOST_READ
from sessionstore.domain.readable_text import readable_text
from sessionstore.domain.records import LogRow
from sessionstore.domain.search_words import SearchQuery
from sessionstore.domain.task_state import TaskState
from sessionstore.domain.tool_arguments import (
    ToolArgumentError,
    number_argument,
    range_argument,
    read_arguments,
    text_argument,
)
from sessionstore.errors import InvalidTaskError, SessionEndedError
from sessionstore.flows.task_flow import TaskFlow
from sessionstore.operations.environment import Environment
from sessionstore.operations.reading import history
from sessionstore.operations.searching import Search, search
from sessionstore.operations.steps import Steps, read
from sessionstore.storage.search_rows import last_seq

MOST_CHARACTERS: Final = 40_000
"""Characters of message text that one ``history_read`` gives: some 10,000 tokens. Longer messages are shortened evenly."""

DEFAULT_HITS: Final = 10
"""Messages that ``history_search`` gives when the model doesn't say how many."""

Arguments = Mapping[str, Any]
Result = dict[str, Any]


def run_agent_tool(
    environment: Environment, lineage_id: str, name: str, arguments: str | Mapping[str, Any]
) -> Steps[str]:
    """Do what a model asked for; what is wrong with it is the result's ``error``."""
    try:
        tool = next((tool for tool in AGENT_TOOLS if tool.name == name), None)
        if tool is None:
            names = ", ".join(tool.name for tool in AGENT_TOOLS)
            raise ToolArgumentError(f"there is no tool {name!r}; there are {names}")
        given = read_arguments(name, arguments, tool.parameters)
        result = yield from _TOOLS[name](environment, lineage_id, given)
    except (ToolArgumentError, InvalidTaskError, SessionEndedError) as error:
        result = {"error": str(error)}
    return json.dumps(result, ensure_ascii=False)


def _set_goal(environment: Environment, lineage_id: str, given: Arguments) -> Steps[Result]:
    goal = text_argument(given, "goal")
    return _task((yield from TaskFlow(environment, lineage_id).set_goal(goal)))


def _write_todos(environment: Environment, lineage_id: str, given: Arguments) -> Steps[Result]:
    return _task((yield from TaskFlow(environment, lineage_id).write_todos(given["todos"])))


def _update_todo(environment: Environment, lineage_id: str, given: Arguments) -> Steps[Result]:
    content = text_argument(given, "content") if "content" in given else None
    return _task((yield from TaskFlow(environment, lineage_id).update_todo(given["id"], given["status"], content)))


def _search(_environment: Environment, lineage_id: str, given: Arguments) -> Steps[Result]:
    query = SearchQuery.of(text_argument(given, "query"))
    limit = number_argument(given, "limit", DEFAULT_HITS, least=1, most=MOST_HITS)
    end = number_argument(given, "before", 2**62)
    # One more than asked for says whether there are more.
    hits = yield from read(lambda c: search(c, Search(query, limit + 1, lineage_id=lineage_id, below=end)))
    result: Result = {
        "hits": [
            {"message": hit.seq, "role": hit.role, "at": _time(hit.created_at), "text": hit.snippet} for hit in hits[:limit]
        ]
    }
    if len(hits) > limit:
        result["more"] = f"there are older ones: search again with before={hits[limit - 1].seq}"
    if not hits:
        result["note"] = "no message holds all of these words; try fewer or other ones"
    return result


def _read(_environment: Environment, lineage_id: str, given: Arguments) -> Steps[Result]:
    first, last = range_argument(given, "messages")
    offset = number_argument(given, "offset", 0)
    if offset and first != last:
        raise ToolArgumentError("offset goes with the number of one message")
    stop = min(last, first + MOST_READ - 1)

    def work(connection: Connection) -> tuple[list[LogRow], int]:
        return history(connection, lineage_id, first, stop), last_seq(connection, lineage_id)

    rows, end = yield from read(work)
    if not rows:
        raise ToolArgumentError(f"there is no message {first}; the last one is {end}")
    texts = [readable_text(row.message)[offset:] for row in rows]
    room = _room([len(text) for text in texts])
    result: Result = {"messages": [_message(row, text, offset, room) for row, text in zip(rows, texts, strict=True)]}
    if stop < min(last, end):
        result["more"] = f"{stop + 1}-{min(last, end)}"
    return result


_TOOLS: Final[Mapping[str, Callable[[Environment, str, Arguments], Steps[Result]]]] = {
    "task_set_goal": _set_goal,
    "todo_write": _write_todos,
    "todo_update": _update_todo,
    "history_search": _search,
    "history_read": _read,
}


def _task(state: TaskState) -> Result:
    return {"goal": state.goal, "todos": [todo.as_dict() for todo in state.todos]}


def _message(row: LogRow, text: str, offset: int, room: int) -> Result:
    shown: Result = {"message": row.seq, "role": row.role, "at": _time(row.created_at), "text": text[:room]}
    if row.kind != "message":
        shown["kind"] = row.kind
    if len(text) > room:
        shown["shortened"] = (
            f"{len(text) - room:,} more characters: history_read with messages={row.seq} and offset={offset + room}"
        )
    return shown


def _room(lengths: list[int]) -> int:
    """The characters that each message may have so that all of them fit: short ones leave their share to the long ones."""
    room, left = MOST_CHARACTERS, len(lengths)
    for length in sorted(lengths):
        if length * left > room:
            return room // left
        room -= length
        left -= 1
    return MOST_CHARACTERS


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
