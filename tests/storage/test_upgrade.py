"""Opening a database of an older version: it is upgraded in place, with its rows intact, or not touched."""
from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from sqlalchemy import Connection, inspect, text

from sessionstore import SchemaError, SessionStore
from sessionstore.storage import schema
from tests.store.conversations import WINDOW, compacted, rows_of, talk

NEXT = '''
import sqlalchemy as sa
from alembic import op

revision = "9001"
down_revision = "{head}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("lineages", sa.Column("colour", sa.Text(), nullable=True))
    {then}
'''


@pytest.fixture
def older(database_url: str) -> str:
    """A database that this version made, with rows in every table but readers."""
    with SessionStore.open(database_url) as store:
        session = store.create_session("s", title="Fix auth", context_window=WINDOW, system_prompt="You help.")
        session.append(talk(30))
        session.task.set_goal("G")
        compacted(session)
    return database_url


def next_version(monkeypatch: pytest.MonkeyPatch, folder: Path, *, then: str = "pass") -> None:
    """Let the code be a version later, whose migration adds a column."""
    shutil.copytree(schema.migrations_folder(), folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "versions" / "9001_next.py").write_text(NEXT.format(head=schema.HEAD, then=then))
    monkeypatch.setattr(schema, "migrations_folder", lambda: folder)
    monkeypatch.setattr(schema, "HEAD", "9001")


def columns(store: SessionStore) -> set[str]:
    def read(connection: Connection) -> set[str]:
        return {column["name"] for column in inspect(connection).get_columns("lineages")}

    return store._database.read(read)


def test_an_older_database_is_upgraded_in_place_with_its_rows_intact(
    older: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SCHEMA-1"""
    with SessionStore.open(older) as store:
        before = rows_of(store)
        context = store.resume("s").context()
    next_version(monkeypatch, tmp_path / "migrations")
    with SessionStore.open(older) as store:
        after = rows_of(store)
        assert after.pop("alembic_version") == [("9001",)]
        after["lineages"] = [row[:-1] for row in after["lineages"]]
        before.pop("alembic_version")
        assert after == before
        assert "colour" in columns(store)
        assert store.resume("Fix auth").context() == context
        store.resume("s").append({"role": "user", "content": "on"})
    with SessionStore.open(older) as store:
        assert len(store.resume("s").context()) == len(context) + 1


def test_an_upgrade_that_fails_leaves_the_database_as_it_was(
    older: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SCHEMA-1"""
    with SessionStore.open(older) as store:
        before = rows_of(store)
    with monkeypatch.context() as patch:
        next_version(patch, tmp_path / "migrations", then="raise ZeroDivisionError")
        with pytest.raises(ZeroDivisionError):
            SessionStore.open(older)
    with SessionStore.open(older) as store:
        assert rows_of(store) == before
        assert "colour" not in columns(store)


def test_a_database_of_the_next_version_is_refused_by_this_one(
    older: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SCHEMA-1"""
    with monkeypatch.context() as patch:
        next_version(patch, tmp_path / "migrations")
        SessionStore.open(older).close()
    with pytest.raises(SchemaError, match="9001"):
        SessionStore.open(older)


def test_a_database_that_somebody_upgraded_under_an_open_store_is_a_typed_error(older: str) -> None:
    """SCHEMA-1: what a newer version took away is told, and nothing was written."""
    with SessionStore.open(older) as store, SessionStore.open(older) as other:
        session = store.resume("s")
        before = other.resume("s").context()
        other._database.write(lambda c: c.execute(text("ALTER TABLE sessions RENAME COLUMN tail_digest TO last_digest")))
        with pytest.raises(SchemaError, match="a newer version"):
            session.append(talk(1))
        other._database.write(lambda c: c.execute(text("ALTER TABLE sessions RENAME COLUMN last_digest TO tail_digest")))
        assert session.context() == before
