"""Todos as calls name them: a whole list at once, or one todo that is made, changed or taken off."""
from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

_LIST_KEYS: Final = ("todos", "plan", "items", "task_list", "tasks")
_CONTENT_KEYS: Final = ("content", "step", "title", "subject", "task", "description", "text")
_ID_KEYS: Final = ("taskId", "task_id", "todoId", "todo_id", "id")
_STATUSES: Final = {
    "done": "completed", "complete": "completed", "closed": "completed", "finished": "completed", "doing": "in_progress",
    "in-progress": "in_progress", "in progress": "in_progress", "started": "in_progress", "active": "in_progress",
    "todo": "pending", "not_started": "pending", "not-started": "pending", "open": "pending", "canceled": "cancelled",
}
_STATUS_OF_VERB: Final = {
    **dict.fromkeys(("create", "add", "new", "append", "insert"), "pending"),
    **dict.fromkeys(("start", "begin", "claim"), "in_progress"),
    **dict.fromkeys(("complete", "done", "finish", "check"), "completed"),
    **dict.fromkeys(("delete", "remove", "cancel", "drop"), "cancelled"),
}
_LOOKING: Final = frozenset({"list", "get", "read", "show", "view"})
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_MADE_ID: Final = re.compile(
    r"#(\d{1,9})\b|\"(?:id|task_?id|todo_?id)\"\s*:\s*\"?([\w-]{1,64})|\b(?:id|ID)\s?[:=]\s?([\w-]{1,64})", re.IGNORECASE
)
_LISTED: Final = re.compile(
    r"^\s{0,4}#([\w-]{1,64}) \[(\w{1,20})\] (.{1,300}?)(?: \([\w@ -]{1,40}\))?(?: \[blocked by [^\]\n]{1,200}\])?\s*$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class TodoItem:
    """A todo as a call names it: the id its tool gave it, what is to be done, its status; empty what the call doesn't say."""

    identity: str
    content: str
    status: str


def read_todos(name: str, arguments: Mapping[str, Any]) -> tuple[tuple[TodoItem, ...], bool]:
    """The todos of a call, and whether they are changes to the list rather than all of it.

    A call that only looks at the list is one of changes without a todo: its result may say how the list stands.
    """
    action = first_string(arguments, ("action", "operation", "command"))
    verbs = [word.lower() for word in (*_WORD.findall(name), *_WORD.findall(action))]
    listed = tuple(_listed(arguments))
    if listed:
        partial = arguments.get("merge") is True or "add" in verbs or not all(item.content for item in listed)
        return (listed if partial else tuple(_with_status(item) for item in listed)), partial
    told = next((_STATUS_OF_VERB[verb] for verb in verbs if verb in _STATUS_OF_VERB), "")
    item = _item(arguments, _ID_KEYS)
    if not item.status:
        item = TodoItem(item.identity, item.content, told)
    if item.identity or (item.content and told == "pending"):
        return (item,), True
    return (), not item.content and bool(_LOOKING & set(verbs)) and "write" not in verbs


def empties_list(arguments: Mapping[str, Any]) -> bool:
    """Whether a call gives a whole list with nothing on it."""
    return arguments.get("merge") is not True and any(arguments.get(key) == [] for key in _LIST_KEYS)


def made_identity(text: str) -> str:
    """The id that a result gives a todo that was made; empty when it says none."""
    found = _MADE_ID.search(text[:2_000])
    return next((group for group in found.groups() if group), "") if found else ""


def listed_in(text: str) -> tuple[TodoItem, ...]:
    """The todos that a result lists, each on a line with its id and status."""
    return tuple(TodoItem(match[1], match[3], _plain_status(match[2])) for match in _LISTED.finditer(text))


def first_string(values: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    """The first of these values that is a text with something in it."""
    for key in keys:
        value = values.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


def _listed(arguments: Mapping[str, Any]) -> Iterator[TodoItem]:
    for key in _LIST_KEYS:
        items = arguments.get(key)
        for item in items if isinstance(items, list) else ():
            if isinstance(item, Mapping):
                found = _item(item, ("id", *_ID_KEYS))
                if found.content or found.identity:
                    yield found
            elif isinstance(item, str) and item.strip():
                yield TodoItem("", item, "")


def _item(values: Mapping[str, Any], id_keys: tuple[str, ...]) -> TodoItem:
    ids = (values.get(key) for key in id_keys)
    identity = next((str(one) for one in ids if isinstance(one, str | int) and not isinstance(one, bool) and str(one)), "")
    return TodoItem(identity, first_string(values, _CONTENT_KEYS), _plain_status(first_string(values, ("status", "state"))))


def _with_status(item: TodoItem) -> TodoItem:
    return item if item.status else TodoItem(item.identity, item.content, "pending")


def _plain_status(status: str) -> str:
    return _STATUSES.get(status.lower(), status.lower())
