"""Creates a schema, upgrades an older one in place, and refuses what it doesn't know."""
from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import DBAPIError

from sessionstore.errors import SchemaError
from sessionstore.storage.distributing import distribute_tables
from sessionstore.storage.engines import Database
from sessionstore.storage.retrying import sqlstate_of
from sessionstore.storage.tables import metadata

if TYPE_CHECKING:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    from sessionstore.storage.async_door import AsyncDatabase

HEAD: Final = "0002"
"""Revision of the schema that this version works with. A test holds it against the newest migration."""

_THERE_ALREADY: Final = frozenset({"23505", "42P06", "42P07", "42710"})
"""What PostgreSQL says of a table, an index or a type that has been made since it was looked for."""


def prepare_schema(database: Database) -> None:
    """Make the database's schema the current one: create it, or upgrade it in place with its rows intact.

    Any number of processes may do this at once: the first one to get the write lock does the work, the others find it done.
    Raises ``SchemaError`` before the first write when a newer version, or another program, made the database.
    """
    while database.read(current_revision) != HEAD:
        try:
            database.write(_bring_up_to_date, repeatable=True)
        except DBAPIError as error:
            if not _somebody_was_first(error):
                raise


async def prepare_schema_async(database: AsyncDatabase) -> None:
    """``prepare_schema`` through the door of an event loop."""
    while await database.read(current_revision) != HEAD:
        try:
            await database.write(_bring_up_to_date, repeatable=True)
        except DBAPIError as error:
            if not _somebody_was_first(error):
                raise


def _somebody_was_first(error: DBAPIError) -> bool:
    """Whether another process made the same tables meanwhile: a server lets two try, and the second fails at the end of the
    first one's transaction."""
    return sqlstate_of(error) in _THERE_ALREADY


def current_revision(connection: Connection) -> str | None:
    """The revision that the database is at, None when it has none of our tables."""
    tables = set(inspect(connection).get_table_names())
    if "alembic_version" not in tables:
        foreign = sorted(tables & set(metadata.tables))
        if foreign:
            raise SchemaError(
                f"the database has tables of another program that would collide ({', '.join(foreign)}); "
                "give sessionstore a database of its own"
            )
        return None
    row = connection.execute(text("SELECT version_num FROM alembic_version")).first()
    return None if row is None else str(row[0])


def migrations_folder() -> Path:
    """The folder of migrations: beside the package in a checkout, inside it when installed from a wheel."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "migrations"
    return inside if inside.is_dir() else package.parent / "migrations"


def migration_script() -> ScriptDirectory:
    """The migrations as Alembic sees them."""
    from alembic.script import ScriptDirectory

    return ScriptDirectory.from_config(_configuration())


def _bring_up_to_date(connection: Connection) -> None:
    # Asked again under the write lock: another process may have been first.
    found = current_revision(connection)
    if found is not None and connection.dialect.name != "sqlite":
        connection.execute(text("SELECT version_num FROM alembic_version FOR UPDATE"))
        found = current_revision(connection)
    if found == HEAD:
        return
    if found is None:
        metadata.create_all(connection, checkfirst=False)
        distribute_tables(connection)
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
        connection.execute(text("INSERT INTO alembic_version (version_num) VALUES (:head)"), {"head": HEAD})
        return
    known = {script.revision for script in migration_script().walk_revisions()}
    if found not in known:
        raise SchemaError(
            f"the database is at schema revision {found!r}, which this version of sessionstore (up to {HEAD!r}) doesn't know; "
            "a newer version made it: upgrade sessionstore",
            found=found,
            expected=HEAD,
        )
    upgrade(connection, HEAD)


def upgrade(connection: Connection, revision: str) -> None:
    """Run the migrations up to a revision on this connection, inside the transaction it is in.

    Tables that they made are distributed where the Citus extension is.
    """
    from alembic import command

    configuration = _configuration()
    configuration.attributes["connection"] = connection
    command.upgrade(configuration, revision)
    distribute_tables(connection)


def _configuration() -> Config:
    from alembic.config import Config

    configuration = Config()
    configuration.set_main_option("script_location", str(migrations_folder()).replace("%", "%%"))
    return configuration
