"""The schema: created, upgraded, refused, and the same by every way."""
from __future__ import annotations

import multiprocessing
import sqlite3
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, text

from sessionstore import SchemaError, SessionStore
from sessionstore.storage.engines import Database
from sessionstore.storage.schema import HEAD, current_revision, migration_script, prepare_schema, upgrade
from sessionstore.storage.tables import metadata


def statements_of(path: Path) -> dict[str, str]:
    """The SQL of every object of a SQLite file, without what differs by layout only."""
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    connection.close()
    return {name: "".join(sql.split()).replace('"', "") for name, sql in rows}


def migrated(path: Path) -> Database:
    database = Database(f"sqlite:///{path}")
    database.write(lambda connection: upgrade(connection, "head"))
    return database


def test_the_migrated_schema_equals_the_declared_one(tmp_path: Path) -> None:
    """SCHEMA-1"""

    def differences(connection: Connection) -> list[object]:
        return list(compare_metadata(MigrationContext.configure(connection), metadata))

    database = migrated(tmp_path / "migrated.db")
    assert database.read(differences) == []
    database.close()


def test_a_new_file_gets_the_same_tables_as_a_migrated_one(tmp_path: Path) -> None:
    """SCHEMA-1, also for what Alembic does not compare: checks, partial indexes, tables without rowid."""
    migrated(tmp_path / "migrated.db").close()
    SessionStore.open(f"sqlite:///{tmp_path}/created.db").close()
    created, by_migration = statements_of(tmp_path / "created.db"), statements_of(tmp_path / "migrated.db")
    created.pop("alembic_version")
    by_migration.pop("alembic_version")
    assert {name: sorted(sql) for name, sql in created.items()} == {name: sorted(sql) for name, sql in by_migration.items()}


def test_the_newest_migration_is_the_revision_that_the_code_works_with() -> None:
    assert migration_script().get_current_head() == HEAD


def test_a_database_of_a_newer_version_is_refused_before_the_first_write(tmp_path: Path) -> None:
    """SCHEMA-1"""
    path = tmp_path / "newer.db"
    SessionStore.open(f"sqlite:///{path}").close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    before = statements_of(path)
    with pytest.raises(SchemaError, match="upgrade sessionstore") as caught:
        SessionStore.open(f"sqlite:///{path}")
    assert (caught.value.found, caught.value.expected) == ("9999", HEAD)
    assert statements_of(path) == before


def test_a_database_of_another_program_with_the_same_table_names_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE sessions (cookie TEXT)")
    connection.close()
    with pytest.raises(SchemaError, match="another program"):
        SessionStore.open(f"sqlite:///{path}")
    assert set(statements_of(path)) == {"sessions"}


def test_an_up_to_date_database_is_opened_without_alembic(tmp_path: Path) -> None:
    import subprocess
    import sys

    url = f"sqlite:///{tmp_path}/store.db"
    SessionStore.open(url).close()
    opening = f"from sessionstore import SessionStore; SessionStore.open({url!r}).close()"
    code = f"import sys; {opening}; print('alembic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "False"


def open_and_append(url: str, name: str, start: object, results: object) -> None:
    start.wait()  # type: ignore[attr-defined]  # a multiprocessing barrier has no public type
    try:
        with SessionStore.open(url) as store:
            store.create_session(id=name).append({"role": "user", "content": name})
    except BaseException as error:
        results.put(repr(error))  # type: ignore[attr-defined]  # nor has its queue
        raise
    results.put("ok")  # type: ignore[attr-defined]  # nor has its queue


def test_concurrent_first_opens_of_one_file_all_succeed(tmp_path: Path) -> None:
    """CONC-2"""
    context = multiprocessing.get_context("spawn")
    url = f"sqlite:///{tmp_path}/new.db"
    count = 6
    start, results = context.Barrier(count), context.Queue()
    workers = [context.Process(target=open_and_append, args=(url, f"s{number}", start, results)) for number in range(count)]
    for worker in workers:
        worker.start()
    assert [results.get(timeout=60) for _ in workers] == ["ok"] * count
    for worker in workers:
        worker.join()
    with SessionStore.open(url) as store:
        assert sorted(line.session_id for line in store.list_sessions()) == [f"s{number}" for number in range(count)]


def test_a_file_is_opened_in_wal_mode_with_full_sync_and_foreign_keys(tmp_path: Path) -> None:
    def pragmas(connection: Connection) -> list[object]:
        names = ("journal_mode", "synchronous", "foreign_keys")
        return [connection.execute(text(f"PRAGMA {name}")).scalar() for name in names]

    for durability, expected in (("full", 2), ("normal", 1)):
        database = Database(f"sqlite:///{tmp_path}/x.db", durability=durability)  # type: ignore[arg-type]  # from a table
        prepare_schema(database)
        assert database.read(pragmas) == ["wal", expected, 1]
        assert database.read(current_revision) == HEAD
        database.close()
