"""The task of a lineage, a goal and a list of todos: what may be written, and the text that a prompt shows of it."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Final, cast

from sessionstore.domain.closed_sets import TODO_STATUSES, TodoStatus
from sessionstore.domain.messages import clean_text
from sessionstore.errors import InvalidTaskError

LONGEST_GOAL: Final = 10_000
"""Characters of a goal; it is in the prompt of every turn."""

LONGEST_TODO: Final = 2_000
"""Characters of a todo's content."""

MOST_TODOS: Final = 200
"""Entries of a list of todos."""

OPEN_STATUSES: Final[frozenset[TodoStatus]] = frozenset({"pending", "in_progress"})
"""Statuses of what is still to be done."""

_MARKS: Final = {"pending": "[ ]", "in_progress": "[~]", "completed": "[x]", "cancelled": "[-]"}
_KEYS: Final = frozenset({"id", "content", "status"})


@dataclass(frozen=True, slots=True)
class Todo:
    """One entry of the list: an id that is unique in it, what is to be done, and where that stands."""

    id: str
    content: str
    status: TodoStatus

    def as_dict(self) -> dict[str, str]:
        """The entry as ``{"id", "content", "status"}``."""
        return {"id": self.id, "content": self.content, "status": self.status}


@dataclass(frozen=True, slots=True)
class TaskState:
    """A version of the task: the goal (None: none was set) and all todos in order. Version 0 is before the first change."""

    version: int
    goal: str | None
    todos: tuple[Todo, ...]

    def with_goal(self, goal: str | None) -> TaskState:
        """The next version with another goal; None or blank text takes it away. Raises ``InvalidTaskError``."""
        return replace(self, version=self.version + 1, goal=_goal(goal))

    def with_todos(self, todos: Iterable[Any]) -> TaskState:
        """The next version with another list of todos. Raises ``InvalidTaskError``."""
        return replace(self, version=self.version + 1, todos=todos_of(todos))

    def with_todo(self, todo_id: str | int, status: str, content: str | None) -> TaskState:
        """The next version with one todo in another status, and with new content if given. Raises ``InvalidTaskError``."""
        wanted = _id(todo_id)
        if all(todo.id != wanted for todo in self.todos):
            listed = ", ".join(todo.id for todo in self.todos) or "none"
            raise InvalidTaskError(f"there is no todo {wanted!r}; the ids are: {listed}")
        changed = tuple(
            todo if todo.id != wanted else Todo(wanted, _content(todo.content if content is None else content), _status(status))
            for todo in self.todos
        )
        return replace(self, version=self.version + 1, todos=changed)


NO_TASK: Final = TaskState(0, None, ())
"""What a lineage has before anybody sets a task."""


def todos_of(todos: Iterable[Any]) -> tuple[Todo, ...]:
    """A list of todos from mappings with ``id`` (text or a whole number), ``content`` and ``status``.

    One without an id gets the first number that is free, one without a status is ``pending``. Raises ``InvalidTaskError`` for
    anything else: other keys, an id twice, empty content, an unknown status.
    """
    if isinstance(todos, (str, bytes, Mapping)) or not isinstance(todos, Iterable):
        raise InvalidTaskError("todos are a list of objects with id, content and status")
    given = [_known_keys(todo) for todo in todos]
    if len(given) > MOST_TODOS:
        raise InvalidTaskError(f"a list has at most {MOST_TODOS} todos, this one has {len(given)}")
    taken: set[str] = set()
    for todo in given:
        if "id" in todo:
            identity = _id(todo["id"])
            if identity in taken:
                raise InvalidTaskError(f"the todo id {identity!r} is there twice")
            taken.add(identity)
    free = (str(number) for number in count(1) if str(number) not in taken)
    return tuple(
        Todo(
            id=_id(todo["id"]) if "id" in todo else next(free),
            content=_content(todo.get("content")),
            status=_status(todo.get("status", "pending")),
        )
        for todo in given
    )


def task_text(goal: str | None, todos: Sequence[Mapping[str, Any]]) -> str | None:
    """The goal and every todo with its status, as the rendered system prompt shows them; None when there is neither."""
    lines = []
    if goal:
        lines += ["# Goal", goal]
    if todos:
        lines.append("# Todos")
        lines += [_line(todo) for todo in todos]
    return "\n".join(lines) or None


def open_todos_text(todos: Sequence[Mapping[str, Any]]) -> str | None:
    """The todos that are still to be done, as a message at the end of a rendering shows them; None when there are none."""
    lines = [_line(todo) for todo in todos if todo["status"] in OPEN_STATUSES]
    return "\n".join(["[Open todos of this task, for reference]", *lines]) if lines else None


def _line(todo: Mapping[str, Any]) -> str:
    return f"{_MARKS[todo['status']]} {todo['id']}. {todo['content']} ({todo['status']})"


def _goal(goal: str | None) -> str | None:
    if goal is None:
        return None
    if not isinstance(goal, str):
        raise InvalidTaskError(f"a goal is text, not {type(goal).__name__}")
    return _storable(goal, "a goal", LONGEST_GOAL) or None


def _known_keys(todo: Any) -> Mapping[str, Any]:
    if not isinstance(todo, Mapping):
        raise InvalidTaskError(f"a todo is an object with id, content and status, not {type(todo).__name__}")
    unknown = sorted(str(key) for key in todo if key not in _KEYS)
    if unknown:
        raise InvalidTaskError(f"a todo has id, content and status, not {', '.join(unknown)}")
    return todo


def _id(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise InvalidTaskError(f"the id of a todo is text or a whole number, not {type(value).__name__}")
    text = _storable(str(value), "the id of a todo", 100)
    if not text:
        raise InvalidTaskError("the id of a todo is empty")
    return text


def _content(value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidTaskError("every todo needs a content, which is text")
    text = _storable(value, "the content of a todo", LONGEST_TODO)
    if not text:
        raise InvalidTaskError("the content of a todo is empty")
    return text


def _status(value: Any) -> TodoStatus:
    if value not in TODO_STATUSES:
        raise InvalidTaskError(f"the status of a todo is one of {', '.join(TODO_STATUSES)}, not {value!r}")
    return cast("TodoStatus", value)


def _storable(text: str, what: str, longest: int) -> str:
    cleaned = clean_text(text).replace("\x00", "\ufffd").strip()
    if len(cleaned) > longest:
        raise InvalidTaskError(f"{what} has at most {longest:,} characters, this one has {len(cleaned):,}")
    return cleaned
