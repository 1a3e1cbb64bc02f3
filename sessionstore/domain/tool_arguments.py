"""The arguments of a tool as a model wrote them, read with a message for the model where they are wrong."""
from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

_RANGE: Final = re.compile(r"#?(\d{1,18})(?:\s*(?:-|–|\.\.|to)\s*#?(\d{1,18}))?")


class ToolArgumentError(Exception):
    """An argument is missing or wrong; the message is for the model. It never leaves ``run_tool``."""


def read_arguments(name: str, arguments: str | Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments as a mapping that has what the schema requires and nothing it doesn't know; None counts as absent."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError) as error:
            raise ToolArgumentError(f"the arguments of {name} are not valid JSON: {error}") from error
    if not isinstance(arguments, Mapping):
        raise ToolArgumentError(f"the arguments of {name} are a JSON object")
    given = {key: value for key, value in arguments.items() if value is not None}
    known: Sequence[str] = list(schema["properties"])
    unknown = [str(key) for key in given if key not in known]
    if unknown:
        raise ToolArgumentError(f"{name} has no argument {', '.join(unknown)}; it has {', '.join(known)}")
    missing = [key for key in schema["required"] if key not in given]
    if missing:
        raise ToolArgumentError(f"{name} needs {', '.join(missing)}")
    return given


def text_argument(given: Mapping[str, Any], key: str) -> str:
    """A text, empty where there is none."""
    value = given.get(key, "")
    if not isinstance(value, str):
        raise ToolArgumentError(f"{key} is text")
    return value


def number_argument(given: Mapping[str, Any], key: str, default: int, *, least: int = 0, most: int = 2**62) -> int:
    """A whole number, also one written as text; one beyond a limit is that limit."""
    value = given.get(key, default)
    if isinstance(value, str) and value.strip().lstrip("#").isdecimal() and len(value) < 20:
        value = int(value.strip().lstrip("#"))
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ToolArgumentError(f"{key} is a whole number")
    return min(max(value, least), most)


def range_argument(given: Mapping[str, Any], key: str) -> tuple[int, int]:
    """One message or several: ``137``, ``#137``, ``120-131``, ``#120–#131``; a number counts as its text."""
    value = given.get(key)
    match = None if isinstance(value, bool) else _RANGE.fullmatch(str(value).strip())
    if match is None:
        raise ToolArgumentError(f"{key} is the number of a message such as 137, or a range such as 120-131")
    first = int(match.group(1))
    last = first if match.group(2) is None else int(match.group(2))
    if last < first:
        raise ToolArgumentError(f"the range {value} ends before it begins")
    return first, last
