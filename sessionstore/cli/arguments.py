"""Arguments and options that several commands have, each declared once."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from sessionstore.domain.session_ids import lineage_id_problem

Function = TypeVar("Function", bound=Callable[..., Any])

_LONGEST_SEQ: Final = 18
"""Digits of a seq that every database holds as an integer."""


def names_a_session(function: Function) -> Function:
    """Give a command the argument ``reference`` (an id, a title, part of an id) and ``namespace``, where to look for it."""
    with_namespace = click.option("--namespace", metavar="NAME", help="Look in this namespace only.")
    return click.argument("reference", metavar="ID")(with_namespace(function))


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
"""Gives a command ``as_json``."""


def seq_of(text: str) -> int:
    """The number of a message, read from ``137`` or, as people write it, ``#137``."""
    digits = text.removeprefix("#")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > _LONGEST_SEQ:
        raise click.BadParameter(f"{text!r} is no number of a message, such as 137 or #137")
    return int(digits)


def range_of(text: str) -> tuple[int, int | None]:
    """A range of the log, both ends included, from ``12-57``, ``#12-#57``, ``12-`` (no end: None) or ``12`` (one message)."""
    first_text, dash, last_text = text.replace("–", "-").partition("-")
    first = seq_of(first_text)
    if not dash:
        return first, first
    if not last_text:
        return first, None
    last = seq_of(last_text)
    if last < first:
        raise click.BadParameter(f"{text!r} ends before it begins")
    return first, last


def new_id(text: str) -> str:
    """An id for a new session."""
    problem = lineage_id_problem(text)
    if problem is not None:
        raise click.BadParameter(f"{text!r} cannot be a session id: {problem}")
    return text
