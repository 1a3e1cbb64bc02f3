"""Writing many rows at once: through psycopg by COPY, else as inserts of many rows."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from sqlalchemy import Connection, Table, bindparam, insert
from sqlalchemy.exc import DBAPIError

from sessionstore.storage.hot_statements import HotStatement

COPY_ROWS: Final = 100
"""Rows from which COPY is worth its extra round trips."""


def insert_rows_of(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows, each with a value for every column, in a transaction that was begun by a statement before.

    An ``IntegrityError`` means that a key is taken, or a row that they refer to is missing.
    """
    if not rows:
        return
    if connection.dialect.driver == "psycopg" and len(rows) >= COPY_ROWS:
        _copy(connection, table, rows)
    else:
        _inserting(table).run_many(connection, rows)


@cache
def _inserting(table: Table) -> HotStatement:
    return HotStatement(insert(table).values({column.name: bindparam(column.name) for column in table.c}))


def _copy(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    names = [column.name for column in table.c]
    values = [tuple(row[name] for name in names) for row in rows]
    statement = f"COPY {table.name} ({', '.join(names)}) FROM STDIN"
    driver: Any = connection.connection.dbapi_connection
    errors: Any = connection.dialect.loaded_dbapi
    try:
        if connection.dialect.is_async:
            driver.run_async(lambda own: _copy_on_a_loop(own, statement, values))
        else:
            with driver.cursor() as cursor, cursor.copy(statement) as copying:
                for row in values:
                    copying.write_row(row)
    except errors.Error as error:
        wrapped = DBAPIError.instance(
            statement, None, error, errors.Error, hide_parameters=True, connection_invalidated=bool(driver.closed)
        )
        if driver.closed:
            connection.invalidate(error)
        raise wrapped from error


async def _copy_on_a_loop(connection: Any, statement: str, values: Sequence[tuple[Any, ...]]) -> None:
    async with connection.cursor() as cursor, cursor.copy(statement) as copying:
        for row in values:
            await copying.write_row(row)
