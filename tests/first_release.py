"""Databases of the first release: made by its own migration, with the rows of a store of now in them."""
from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Connection, text

from sessionstore.storage.engines import Database
from sessionstore.storage.schema import upgrade
from sessionstore.storage.tables import metadata

FIRST: Final = "0001"
"""What the first release wrote into its databases as their revision."""

Row = dict[str, Any]


def make_first_release(url: str) -> None:
    """Turn a database of now into one that the first release left: its tables, and in them the same rows."""
    database = Database(url)
    try:
        database.write(_remake)
    finally:
        database.close()


def insert_plainly(connection: Connection, table: str, row: Row) -> None:
    """Write a row past the library, into whatever columns the table has."""
    names = ", ".join(row)
    values = ", ".join(f":{name}" for name in row)
    connection.execute(text(f"INSERT INTO {table} ({names}) VALUES ({values})"), row)


def rows_plainly(connection: Connection, table: str) -> list[Row]:
    """Every row of a table by the names of its columns, past the library."""
    keys = ", ".join(column.name for column in metadata.tables[table].primary_key.columns)
    return [dict(row) for row in connection.execute(text(f"SELECT * FROM {table} ORDER BY {keys}")).mappings()]


def _remake(connection: Connection) -> None:
    rows = {table.name: rows_plainly(connection, table.name) for table in metadata.sorted_tables}
    ledgers = {(row["lineage_id"], row["job_id"]): row["ledger"] for row in rows.pop("ledgers")}
    for job in rows["compactions"]:
        job["ledger"] = ledgers.get((job["lineage_id"], job["job_id"]))
    metadata.drop_all(connection)
    connection.execute(text("DROP TABLE alembic_version"))
    upgrade(connection, FIRST)
    for name, found in rows.items():
        for row in found:
            insert_plainly(connection, name, row)
