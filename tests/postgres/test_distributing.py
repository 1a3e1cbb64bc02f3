"""In a database that has the Citus extension the tables are distributed by whoever makes them.

No cluster is run here: a stand-in takes the calls and refuses what Citus would. ``SESSIONSTORE_TEST_CITUS`` runs the tests on a
real one.
"""
from __future__ import annotations

from collections.abc import Callable

import pytest

from sessionstore import SessionStore
from sessionstore.storage.engines import Database
from sessionstore.storage.schema import prepare_schema, upgrade
from sessionstore.storage.tables import metadata
from tests.databases import outside
from tests.first_release import FIRST
from tests.postgres.citus_stand_in import distributed, pretend_to_have_citus
from tests.sharding_rules import DISTRIBUTED


def migrate_from_the_first_release(database: Database) -> None:
    """Two releases, one after the other."""
    for revision in (FIRST, "head"):
        database.write(lambda connection, revision=revision: upgrade(connection, revision))  # type: ignore[misc]  # a default binds the loop's value


WAYS: dict[str, Callable[[Database], None]] = {
    "created": prepare_schema,
    "migrated": lambda database: database.write(lambda connection: upgrade(connection, "head")),
    "upgraded": migrate_from_the_first_release,
}


@pytest.mark.parametrize("way", WAYS)
def test_whoever_makes_the_tables_distributes_all_of_them(way: str, postgres_url: str) -> None:
    with outside(postgres_url) as connection:
        pretend_to_have_citus(connection)
    database = Database(postgres_url)
    try:
        WAYS[way](database)
        found = database.read(distributed)
    finally:
        database.close()
    expected = {name: (DISTRIBUTED.get(name, "lineage_id"), "lineages") for name in metadata.tables}
    assert found == {**expected, "lineages": ("lineage_id", "none"), "titles": ("namespace", "none")}
    assert next(iter(found)) == "lineages"


def test_a_search_index_lies_beside_the_log(postgres_url: str) -> None:
    with outside(postgres_url) as connection:
        pretend_to_have_citus(connection)
    with SessionStore.open(postgres_url, search_index=True) as store:
        assert store._database.read(distributed)["search_documents"] == ("lineage_id", "lineages")
        store.create_session("a", title="A").append({"role": "user", "content": "a needle"})
        assert [hit.seq for hit in store.search("needle", lineage="a")] == [0]


def test_a_database_without_the_extension_stays_as_it_is(postgres_url: str) -> None:
    SessionStore.open(postgres_url).close()
    with outside(postgres_url) as connection:
        pretend_to_have_citus(connection)
    with SessionStore.open(postgres_url) as store:
        assert store._database.read(distributed) == {}
