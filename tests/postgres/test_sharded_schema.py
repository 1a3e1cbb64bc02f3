"""The schema and every statement can be sharded: what the tables declare, and what the hook of the test suite sees."""
from __future__ import annotations

import pytest
from sqlalchemy import ForeignKeyConstraint, PrimaryKeyConstraint, Table, UniqueConstraint
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable

from sessionstore.storage.tables import metadata
from tests.sharding_rules import DISTRIBUTED, problems_of

TABLES = [pytest.param(table, id=table.name) for table in metadata.sorted_tables]


@pytest.mark.parametrize("table", TABLES)
def test_every_key_and_constraint_holds_the_distribution_column(table: Table) -> None:
    """So no check of a constraint ever asks another node."""
    column = DISTRIBUTED.get(table.name, "lineage_id")
    for constraint in table.constraints:
        if isinstance(constraint, PrimaryKeyConstraint | UniqueConstraint | ForeignKeyConstraint):
            assert column in constraint.columns, constraint.name
    for index in table.indexes:
        assert not index.unique or column in index.columns, index.name
    assert next(iter(table.primary_key.columns)).name == column, "the key begins with something else"


@pytest.mark.parametrize("table", TABLES)
def test_references_stay_with_the_lineage(table: Table) -> None:
    for constraint in table.foreign_key_constraints:
        own, referred = constraint.column_keys, [element.column.name for element in constraint.elements]
        assert dict(zip(own, referred, strict=True))["lineage_id"] == "lineage_id"
        assert constraint.ondelete is None
        assert constraint.onupdate is None


@pytest.mark.parametrize("table", TABLES)
def test_what_creates_the_tables_has_nothing_that_a_sharded_database_refuses(table: Table) -> None:
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]  # SQLAlchemy has no type for it
    made = [str(CreateTable(table).compile(dialect=dialect))]
    made += [str(CreateIndex(index).compile(dialect=dialect)) for index in table.indexes]
    assert [problem for statement in made for problem in problems_of(statement)] == []
    assert all(column.server_default is None for column in table.columns)
    assert all(not column.nullable for column in table.primary_key.columns)


BROKEN = {
    "an update of every lineage": "UPDATE sessions SET ended_at = %s WHERE updated_at < %s",
    "a deletion by another column": "DELETE FROM titles WHERE lineage_id = %s",
    "a lock across lineages": "SELECT job_id FROM compactions WHERE status = 'queued' FOR UPDATE",
    "a queue that skips": "SELECT 1 FROM compactions WHERE compactions.lineage_id = %s FOR UPDATE SKIP LOCKED",
    "an advisory lock": "SELECT pg_advisory_xact_lock(1)",
    "a time of the server": "UPDATE sessions SET updated_at = now() WHERE lineage_id = %s",
    "a time of the server in an upsert": "INSERT INTO readers VALUES (%s) ON CONFLICT (a) DO UPDATE SET at = now()",
    "a query among values": "INSERT INTO messages VALUES (%s, (SELECT max(seq) FROM messages))",
    "the name of a constraint": "INSERT INTO messages VALUES (%s) ON CONFLICT ON CONSTRAINT pk_messages DO NOTHING",
    "a serial": "CREATE TABLE x (id BIGSERIAL)",
    "something that is set": "SET search_path = a",
    "notifications": "LISTEN jobs",
}


@pytest.mark.parametrize("what", BROKEN)
def test_the_hook_sees_what_would_break_a_rule(what: str) -> None:
    assert list(problems_of(BROKEN[what]))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE sessions SET ended_at = %(a)s WHERE sessions.lineage_id = %(b)s AND generation = 1",
        "DELETE FROM titles WHERE titles.namespace = $1::VARCHAR AND title = $2",
        "SELECT next_seq FROM sessions WHERE sessions.lineage_id = %s FOR NO KEY UPDATE",
        "SELECT * FROM sessions ORDER BY updated_at",
        "INSERT INTO readers VALUES (%s) ON CONFLICT (lineage_id, reader) DO UPDATE SET last_seq = excluded.last_seq",
    ],
)
def test_the_hook_lets_the_rest_pass(statement: str) -> None:
    assert list(problems_of(statement)) == []
