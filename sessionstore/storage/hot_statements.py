"""Statements that run so often that building them each time would cost more than running them.

They are written in Core like all others, once, with named parameters. On first use they are compiled for the dialect, and
from then on their text goes straight to the driver: on a turn of three messages that takes, on SQLite, a fifth of the time of
Core's own way.
"""
from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError
from sqlalchemy.sql.expression import ClauseElement

_SQLITE: Final = "pysqlite"
"""The driver whose own connection is spoken to; on a server a round trip costs more than SQLAlchemy's care for it."""

_MOST_VALUES: Final = 16_000
"""Values in one statement, well below the 32,767 that asyncpg can number."""

_VALUES: Final = " VALUES "
_CONFLICT: Final = " ON CONFLICT"
_NAMED: Final = re.compile(r"%\((\w+)\)s")
_NUMBERED: Final = re.compile(r"\$\d+")


class HotStatement:
    """A Core statement with named parameters, compiled once a dialect."""

    def __init__(self, statement: ClauseElement) -> None:
        self._statement = statement
        self._compiled: dict[str, _DriverText] = {}

    def rows(self, connection: Connection, **parameters: Any) -> list[Any]:
        """Run it and fetch every row, each a sequence of its columns."""
        compiled = self._for(connection)
        if connection.dialect.driver != _SQLITE:
            return list(connection.exec_driver_sql(compiled.text, compiled.values(parameters)).fetchall())
        driver: Any = connection.connection.dbapi_connection
        try:
            rows: list[Any] = driver.execute(compiled.text, compiled.values(parameters)).fetchall()
        except sqlite3.IntegrityError as error:
            raise IntegrityError(None, None, error) from error
        return rows

    def run_many(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> int:
        """Run an insert for so many rows, in as few round trips as may be; gives how many rows were written.

        A server gets one statement with a row of values each, several when there are more values than a statement may have.
        """
        compiled = self._for(connection)
        if connection.dialect.driver == _SQLITE:
            driver: Any = connection.connection.dbapi_connection
            try:
                return int(driver.executemany(compiled.text, map(compiled.in_order, rows)).rowcount)
            except sqlite3.IntegrityError as error:
                raise IntegrityError(None, None, error) from error
        written = 0
        step = max(1, _MOST_VALUES // len(compiled.names))
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            values = tuple(chain.from_iterable(map(compiled.in_order, part)))
            written += connection.exec_driver_sql(compiled.with_rows(len(part)), values).rowcount
        return written

    def _for(self, connection: Connection) -> _DriverText:
        found = self._compiled.get(connection.dialect.driver)
        if found is None:
            compiled = self._statement.compile(dialect=connection.dialect)
            order = getattr(compiled, "positiontup", None)
            found = self._compiled[connection.dialect.driver] = _DriverText(
                str(compiled), None if order is None else tuple(order), dict(compiled.params)
            )
        return found


@dataclass(frozen=True)
class _DriverText:
    """A statement in the words of a driver: its text, the names of its parameters by place, and the values it came with."""

    text: str
    order: tuple[str, ...] | None
    fixed: Mapping[str, Any]

    def values(self, given: Mapping[str, Any]) -> Any:
        """The parameters as the driver wants them: by place, or by name."""
        merged = {**self.fixed, **given}
        return merged if self.order is None else self.in_order(merged)

    @cached_property
    def in_order(self) -> Callable[[Mapping[str, Any]], Any]:
        """The values of a row that has one for every name, as the driver wants them by place."""
        return itemgetter(*self.names) if len(self.names) > 1 else lambda row: tuple(row[name] for name in self.names)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of an insert's values in the order in which they stand in its text."""
        return tuple(_NAMED.findall(self._parts[1])) if self.order is None else self.order

    @cached_property
    def _parts(self) -> tuple[str, str, str]:
        """An insert's text up to its values, the values of one row in parentheses, and what comes behind them."""
        before, _, row = self.text.partition(_VALUES)
        row, conflict, behind = row.partition(_CONFLICT)
        return before + _VALUES, row, conflict + behind

    def with_rows(self, rows: int) -> str:
        """The text of an insert with so many rows of values, whose parameters are given by place."""
        before, row, behind = self._parts
        if self.order is None:
            return before + ", ".join([_NAMED.sub("%s", row)] * rows) + behind
        numbers = count(1)
        return before + ", ".join(_NUMBERED.sub(lambda _: f"${next(numbers)}", row) for _ in range(rows)) + behind
