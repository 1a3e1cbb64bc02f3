"""Inserts that say what is to happen when the key is there already, in the dialect at hand."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Table, bindparam

from sessionstore.storage.hot_statements import HotStatement

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite


def insert_missing(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> int:
    """Write the rows whose primary key is not there yet, each with a value for every column; gives how many were written.

    Waits for another transaction that is writing the same key, and never fails because of it.
    """
    return _missing(table, connection.dialect.name).run_many(connection, rows) if rows else 0


def insert_or_replace(connection: Connection, table: Table, row: Mapping[str, Any]) -> None:
    """Write a row, with a value for every column, in the place of the one with its primary key, if there is one."""
    _replacing(table, connection.dialect.name).run_many(connection, [row])


@cache
def _missing(table: Table, dialect: str) -> HotStatement:
    return HotStatement(_insert(table, dialect).on_conflict_do_nothing(index_elements=table.primary_key.columns))


@cache
def _replacing(table: Table, dialect: str) -> HotStatement:
    statement = _insert(table, dialect)
    keys = table.primary_key.columns
    changed = {column.name: statement.excluded[column.name] for column in table.c if column.name not in keys}
    return HotStatement(statement.on_conflict_do_update(index_elements=keys, set_=changed))


def _insert(table: Table, dialect: str) -> postgresql.Insert | sqlite.Insert:
    statement: postgresql.Insert | sqlite.Insert
    if dialect == "sqlite":
        from sqlalchemy.dialects.sqlite import insert

        statement = insert(table)
    else:
        from sqlalchemy.dialects.postgresql import insert as insert_on_server

        statement = insert_on_server(table)
    return statement.values({column.name: bindparam(column.name) for column in table.c})
