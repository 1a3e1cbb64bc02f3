"""Arguments and options that several commands have, each declared once."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from sessionstore.domain.session_ids import lineage_id_problem

Function = TypeVar("Function", bound=Callable[..., Any])


def names_a_session(function: Function) -> Function:
    """Give a command the argument ``reference`` (an id, a title, part of an id) and ``namespace``, where to look for it."""
    with_namespace = click.option("--namespace", metavar="NAME", help="Look in this namespace only.")
    return click.argument("reference", metavar="ID")(with_namespace(function))


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
"""Gives a command ``as_json``."""


class SeqType(click.ParamType):
    """The number of a message in the log, with or without the ``#`` in front that people write."""

    name = "seq"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read ``137`` or ``#137``."""
        if isinstance(value, int):
            return value
        digits = str(value).removeprefix("#")
        if not (digits.isascii() and digits.isdigit()) or len(digits) > len(str(2**63)):
            self.fail(f"{value!r} is no number of a message, such as 137 or #137", param, ctx)
        return int(digits)


class RangeType(click.ParamType):
    """A range of the log, both ends included: ``12-57``, ``#12-#57``, ``12-`` (to the end) or ``12`` (one message)."""

    name = "range"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int | None]:
        """Read it as its first and last seq; the last is None where the range has no end."""
        if isinstance(value, tuple):
            return value
        first_text, dash, last_text = str(value).replace("–", "-").partition("-")
        first = SEQ.convert(first_text, param, ctx)
        if not dash:
            return first, first
        if not last_text:
            return first, None
        last = SEQ.convert(last_text, param, ctx)
        if last < first:
            self.fail(f"{value!r} ends before it begins", param, ctx)
        return first, last


class NewIdType(click.ParamType):
    """An id for a new session."""

    name = "id"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Give the id back, or say why it cannot be one."""
        problem = lineage_id_problem(str(value))
        if problem is not None:
            self.fail(f"{value!r} cannot be a session id: {problem}", param, ctx)
        return str(value)


SEQ = SeqType()
RANGE = RangeType()
NEW_ID = NewIdType()
