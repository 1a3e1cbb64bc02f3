"""The schema on a server: the same by every way, made once by many, and closed to what text cannot hold."""
from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection

from sessionstore import SessionStore
from sessionstore.storage.engines import Database
from sessionstore.storage.schema import upgrade
from sessionstore.storage.search_schema import is_declared
from sessionstore.storage.tables import metadata
from tests.databases import PostgresDatabases
from tests.postgres_server import PostgresServer

CATALOGUE = """
SELECT 'column', table_name, column_name, data_type, collation_name, is_nullable, column_default, ''
FROM information_schema.columns WHERE table_schema = 'public'
UNION ALL SELECT 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid), '', '', '', ''
FROM pg_constraint WHERE connamespace = 'public'::regnamespace
UNION ALL SELECT 'index', tablename, indexname, indexdef, '', '', '', '' FROM pg_indexes WHERE schemaname = 'public'
"""


def catalogue(connection: Connection) -> list[tuple[object, ...]]:
    """Everything that the server says of the tables but the table of the migrations themselves."""
    return sorted((tuple(row) for row in connection.exec_driver_sql(CATALOGUE) if row[1] != "alembic_version"), key=repr)


def test_a_migrated_schema_equals_a_created_one(postgres_server: PostgresServer, postgres_url: str) -> None:
    """SCHEMA-1, with every check, collation and partial index."""
    databases = PostgresDatabases(postgres_server)
    migrated = Database(databases.new())
    migrated.write(lambda connection: upgrade(connection, "head"))
    SessionStore.open(postgres_url).close()
    created = Database(postgres_url)
    try:
        assert created.read(catalogue) == migrated.read(catalogue)

        def differences(connection: Connection) -> list[object]:
            context = MigrationContext.configure(connection, opts={"include_object": is_declared})
            return list(compare_metadata(context, metadata))

        assert migrated.read(differences) == []
    finally:
        migrated.close()
        created.close()
        databases.drop()


def test_concurrent_first_opens_all_succeed(postgres_url: str) -> None:
    """CONC-2"""

    def begin(number: int) -> None:
        with SessionStore.open(postgres_url) as store:
            store.create_session(f"s{number}").append({"role": "user", "content": "Hello."})

    with ThreadPoolExecutor(12) as threads:
        list(threads.map(begin, range(12)))
    with SessionStore.open(postgres_url) as store:
        assert len(store.list_sessions(limit=50)) == 12


def test_one_of_many_creators_gets_a_title_and_the_others_are_told_who_has_it(postgres_url: str) -> None:
    """LIN-6: a race is an answer, not an accident of the database."""
    from sessionstore import TitleTakenError

    with SessionStore.open(postgres_url) as store:

        def begin(number: int) -> str:
            try:
                return store.create_session(f"s{number}", title="The same").id
            except TitleTakenError as error:
                return f"taken by {error.holder}"

        with ThreadPoolExecutor(8) as threads:
            said = list(threads.map(begin, range(8)))
        (winner,) = [name for name in said if not name.startswith("taken")]
        assert sorted({*said} - {winner}) == [f"taken by {winner}"]
        assert len(store.list_sessions()) == 1


def test_what_stands_in_columns_may_hold_anything_that_text_can(postgres_url: str) -> None:
    """LOG-3: a server's text has no NUL and no lone surrogate, so what a message has of them reaches no column as it is."""
    plain = "中文 🎉 %s %(x)s :y $1 ' \\"
    odd = f"a\x00b\ud800 {plain}"
    with SessionStore.open(postgres_url) as store:
        session = store.create_session(
            "a", title=plain, owner=plain, source=plain, model=plain, namespace=plain, metadata={odd: [odd]}
        )
        tool = {"role": odd, "content": odd, "tool_calls": [{"id": odd, "function": {"name": odd, "arguments": odd}}]}
        assert session.append(tool, client_id=plain) == [0]
        assert session.append(tool, client_id=plain) == [0]
        session.set_system_prompt(odd)
        assert session.context() == [tool]
        assert store.resume(plain).record().metadata == {odd: [odd]}
