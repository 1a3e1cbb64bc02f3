"""Goal and todo list as text for the system prompt: all of it, every turn."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

_MARKS: Final = {"pending": "[ ]", "in_progress": "[~]", "completed": "[x]", "cancelled": "[-]"}


def task_text(goal: str | None, todos: Sequence[Mapping[str, Any]]) -> str | None:
    """The goal and every todo with its status, as the rendered system prompt shows them; None when there is neither."""
    lines = []
    if goal:
        lines += ["# Goal", goal]
    if todos:
        lines.append("# Todos")
        lines += [f"{_MARKS[todo['status']]} {todo['id']}. {todo['content']} ({todo['status']})" for todo in todos]
    return "\n".join(lines) or None
