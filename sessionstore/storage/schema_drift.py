"""How the tables of a database differ from the declared ones (SCHEMA-1), and making again what can be derived."""
from __future__ import annotations

import re
from functools import cache
from typing import Any

from sqlalchemy import Connection, create_engine, inspect, text
from sqlalchemy.schema import CreateIndex

from sessionstore.storage.search_schema import is_declared, is_search_table
from sessionstore.storage.tables import metadata


def schema_differences(connection: Connection) -> list[str]:
    """Sentences that say what is missing, added or declared otherwise; nothing when the schema is the declared one."""
    if connection.dialect.name == "sqlite":
        return _on_sqlite(connection)
    # Not at the top: Alembic takes longer to import than everything else here together.
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    context = MigrationContext.configure(connection, opts={"include_object": is_declared})
    return [_in_words(difference) for difference in compare_metadata(context, metadata)]


def has_every_column(connection: Connection) -> bool:
    """Whether every declared table is there with every declared column, so that its rows can be read."""
    inspector = inspect(connection)
    there = {name: {column["name"] for column in inspector.get_columns(name)} for name in inspector.get_table_names()}
    return all({column.name for column in table.c} <= there.get(table.name, set()) for table in metadata.sorted_tables)


def make_missing_indexes(connection: Connection) -> None:
    """Make the declared indexes that are not there; an index holds nothing that its table doesn't."""
    for table in metadata.sorted_tables:
        for index in table.indexes:
            connection.execute(CreateIndex(index, if_not_exists=True))


def _on_sqlite(connection: Connection) -> list[str]:
    found, declared = _objects(connection), _declared_objects()
    missing = [f"{kind} {name} is missing" for (kind, name) in sorted(set(declared) - set(found))]
    added = [f"{kind} {name} is not of this schema" for (kind, name) in sorted(set(found) - set(declared))]
    changed = [
        f"{kind} {name} is declared otherwise"
        for (kind, name), sql in sorted(declared.items())
        if (kind, name) in found and found[kind, name] != sql
    ]
    return [*missing, *changed, *added]


@cache
def _declared_objects() -> dict[tuple[str, str], list[str]]:
    engine = create_engine("sqlite://")
    try:
        with engine.begin() as connection:
            metadata.create_all(connection)
            return _objects(connection)
    finally:
        engine.dispose()


def _objects(connection: Connection) -> dict[tuple[str, str], list[str]]:
    """The words of each object's declaration in an order of their own: a migration may put a column or a check elsewhere."""
    rows = connection.execute(text("SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL"))
    return {
        (kind, name): sorted(re.findall(r"[^\s,()\"`\[\]]+", sql))
        for kind, name, table, sql in rows
        if not is_search_table(table) and not name.startswith("sqlite_") and name != "alembic_version"
    }


def _in_words(difference: Any) -> str:
    if isinstance(difference, list):
        return "; ".join(_in_words(one) for one in difference)
    action, *rest = difference
    named = [getattr(one, "name", None) or (one if isinstance(one, str) else None) for one in rest]
    return f"{action.replace('_', ' ')} {' '.join(str(name) for name in named if name)}"
