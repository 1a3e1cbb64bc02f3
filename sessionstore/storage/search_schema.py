"""The tables of the search index, by dialect: derived from the log, so they may be dropped and made anew at any time.

A database has them when somebody asked for an index, so they are no part of the schema that migrations make. SQLite has a
contentless FTS5 table, which holds words and no text; its rows are numbered in blocks of 64, each of which belongs to one
lineage (*measured*: with the lineage in the upper half of a 64-bit number the index is twice as large). PostgreSQL has a table
with a row a message, keyed by lineage, with the words as a ``tsvector``.
"""
from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Connection, inspect, text

from sessionstore.storage.distributing import distribute_by_lineage

SEARCH_TABLES: Final = frozenset({"search_blocks", "search_index", "search_documents"})
"""Tables of the index on some dialect; FTS5 adds more that begin with ``search_index_``."""

_SQLITE: Final = (
    """CREATE TABLE search_blocks (number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, lineage_id TEXT NOT NULL,
    first_seq INTEGER NOT NULL, UNIQUE (lineage_id, first_seq))""",
    # The words come ready, with blanks between: this tokenizer only parts them there, and leaves other scripts as they are.
    "CREATE VIRTUAL TABLE search_index USING fts5 (words, content='', detail='none', tokenize='ascii')",
)
# A table of FTS5 can only be dropped when it can be opened, and for that its own tables must look like those of an empty one.
_MEND: Final = (
    "CREATE TABLE IF NOT EXISTS search_index_config (k PRIMARY KEY, v) WITHOUT ROWID",
    "REPLACE INTO search_index_config VALUES ('version', 4)",
    "CREATE TABLE IF NOT EXISTS search_index_data (id INTEGER PRIMARY KEY, block BLOB)",
    "REPLACE INTO search_index_data VALUES (1, x''), (10, x'00000000000000')",
    "CREATE TABLE IF NOT EXISTS search_index_idx (segid, term, pgno, PRIMARY KEY (segid, term)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS search_index_docsize (id INTEGER PRIMARY KEY, sz BLOB)",
)
_POSTGRESQL: Final = (
    """CREATE TABLE search_documents (lineage_id TEXT COLLATE "C" NOT NULL, seq BIGINT NOT NULL, words TSVECTOR NOT NULL,
    CONSTRAINT pk_search_documents PRIMARY KEY (lineage_id, seq))""",
    "CREATE INDEX ix_search_documents_words ON search_documents USING gin (words)",
)


def create_search_tables(connection: Connection) -> None:
    """Make the tables of an empty index; on a SQLite that was built without FTS5 there is none, and searches read the log."""
    is_sqlite = connection.dialect.name == "sqlite"
    if is_sqlite and not connection.execute(text("SELECT count(*) FROM pragma_module_list WHERE name = 'fts5'")).scalar():
        return
    for statement in _SQLITE if is_sqlite else _POSTGRESQL:
        connection.execute(text(statement))
    if not is_sqlite:
        distribute_by_lineage(connection, "search_documents")


def drop_search_tables(connection: Connection) -> None:
    """Take the index away with all its tables, also when it is damaged or only part of it is there."""
    if connection.dialect.name == "sqlite" and "search_index" in inspect(connection).get_table_names():
        for statement in _MEND:
            connection.exec_driver_sql(statement)
    for name in ("search_index", "search_blocks", "search_documents"):
        connection.execute(text(f"DROP TABLE IF EXISTS {name}"))


def has_search_tables(connection: Connection) -> bool:
    """Whether the database has an index; says nothing of whether it is whole."""
    if connection.dialect.name == "sqlite":
        # A pragma reads the schema that the connection holds in memory anyway.
        return connection.exec_driver_sql("PRAGMA table_info(search_blocks)").first() is not None
    return connection.exec_driver_sql("SELECT to_regclass('search_documents')").scalar() is not None


def has_any_search_table(connection: Connection) -> bool:
    """Whether there is an index or what is left of one."""
    return any(is_search_table(name) for name in inspect(connection).get_table_names())


def is_declared(_object: Any, name: str | None, kind: str, _reflected: bool, _compare_to: Any) -> bool:
    """Whether a comparison of schemas should look at an object: at every one but the index. Alembic's ``include_object``."""
    return not (kind == "table" and name is not None and is_search_table(name))


def is_search_table(name: str) -> bool:
    """Whether a table belongs to the index, those that FTS5 makes for itself included."""
    return name in SEARCH_TABLES or name.startswith("search_index_")
