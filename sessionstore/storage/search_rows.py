"""The search index, whatever the dialect: kept up while rows are written, asked for places, and never in anybody's way.

An index that is there is kept up by everybody who writes. What is indexed of a log is always its beginning, so one number says
what is missing; an index that fell behind (it is new, or was damaged) catches up a little at every append. Where there is none,
or it is damaged, a writer goes on without it, and a reader reads the log itself.
"""
from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeVar

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select, true
from sqlalchemy.exc import DBAPIError

from sessionstore.domain.messages import decode_body
from sessionstore.domain.readable_text import searchable_text
from sessionstore.domain.records import LogRow
from sessionstore.domain.search_words import AskedWord, index_words
from sessionstore.storage.locks import lock_tip
from sessionstore.storage.retrying import SearchIndexFailedError, passes_by_itself
from sessionstore.storage.search_fts5 import Fts5Index
from sessionstore.storage.search_places import Document, Place
from sessionstore.storage.search_schema import create_search_tables, drop_search_tables, has_search_tables
from sessionstore.storage.search_tsvector import TsvectorIndex
from sessionstore.storage.server_options import TRUSTS_INDEX
from sessionstore.storage.tables import lineages, messages

T = TypeVar("T")

CATCH_UP_ROWS: Final = 50
"""Older rows that an append indexes at most when the index of its lineage fell behind: some ten milliseconds of work."""

BATCH: Final = 500
"""Rows that are indexed in one go when nobody waits for them."""

RECHECK_SECONDS: Final = 60.0
"""How long a connection believes that there is an index, or none, or a damaged one, before it looks again."""

_ASCII_ESCAPES: Final = tuple(f"\\u00{digit}" for digit in "34567")
"""How JSON may write ASCII letters and digits when it needn't."""

_ASCII_WORDS: Final = 4
"""Words that a reading of the log without an index lets the database look for."""

_KNOWN: Final = "search_index"
_FTS5: Final = Fts5Index()
_TSVECTOR: Final = TsvectorIndex()


class _Epoch:
    """Counts what this process did to the tables of the index: older knowledge of its connections is void."""

    current = 0


def make_search_index(connection: Connection) -> None:
    """Make an empty index in the place of whatever there is."""
    drop_search_tables(connection)
    create_search_tables(connection)
    _Epoch.current += 1


def drop_search_index(connection: Connection) -> None:
    """Have no index."""
    drop_search_tables(connection)
    _Epoch.current += 1


def index_rows(connection: Connection, lineage_id: str, rows: Sequence[LogRow]) -> None:
    """Index rows that were written in this transaction, where there is an index. Its being damaged or behind is no error."""
    if not _is_kept(connection):
        return
    documents = [(row.seq, index_words(searchable_text(row.message))) for row in rows]
    if not _unguarded(connection, lambda: _add(connection, lineage_id, documents)):
        # It is behind, or damaged; in the second case this fails too.
        _guarded(connection, lambda: _catch_up(connection, lineage_id, CATCH_UP_ROWS))


def catch_up(connection: Connection, lineage_id: str, *, most: int) -> int:
    """Index at most so many rows that a lineage's index lacks; gives how many, 0 when it is whole (or out of order)."""
    return _guarded(connection, lambda: _catch_up(connection, lineage_id, most)) or 0


def index_lineage(connection: Connection, lineage_id: str) -> None:
    """Index all of a lineage that was written in this transaction by other ways than row by row."""
    while catch_up(connection, lineage_id, most=BATCH):
        pass


def indexed_to(connection: Connection, lineage_id: str) -> int:
    """The last seq of a lineage that is indexed; -1 when none is, or the index is out of order."""
    found = _guarded(connection, lambda: _index(connection).indexed_to(connection, lineage_id))
    return -1 if found is None else found


def lineages_behind(connection: Connection, namespace: str | None = None) -> list[tuple[str, int]] | None:
    """The lineages that have rows beyond what is indexed of them, with the last seq that is.

    None when the index is out of order.
    """
    return _guarded(connection, lambda: _index(connection).behind(connection, namespace))


def indexed_seqs(connection: Connection, lineage_id: str, asked: Sequence[AskedWord], *, last: int) -> Iterable[int] | None:
    """The rows of a lineage, up to ``last``, that hold every word, the newest first; None: the index is out of order."""
    return _guarded(connection, lambda: _index(connection).seqs(connection, lineage_id, asked, last))


def indexed_places(connection: Connection, asked: Sequence[AskedWord], *, namespace: str | None) -> list[Place] | None:
    """The rows of the store, or of a namespace, that hold every word, in no order; None: the index is out of order."""
    return _guarded(connection, lambda: _index(connection).places(connection, asked, namespace))


def places_between(
    connection: Connection, lineage_id: str, asked: Sequence[AskedWord], *, first: int, last: int
) -> list[Place]:
    """The rows ``first`` to ``last`` of a lineage that may hold every word, read from the log, in no order."""
    return _read(connection, asked, messages.c.lineage_id == lineage_id, messages.c.seq >= first, messages.c.seq <= last)


def places_anywhere(connection: Connection, asked: Sequence[AskedWord], *, namespace: str | None) -> list[Place]:
    """The rows of the store, or of a namespace, that may hold every word, read from the log, in no order."""
    if namespace is None:
        return _read(connection, asked)
    of_namespace = select(lineages.c.lineage_id).where(lineages.c.namespace == namespace)
    return _read(connection, asked, messages.c.lineage_id.in_(of_namespace))


def _read(connection: Connection, asked: Sequence[AskedWord], *conditions: ColumnElement[bool]) -> list[Place]:
    """Places of rows whose JSON text holds the words that are ASCII: those stand in it as they are, whoever wrote it.

    Text with an escape of an ASCII letter, which nobody writes, is looked at in any case.
    """
    is_sqlite = connection.dialect.name == "sqlite"
    place_of = func.instr if is_sqlite else func.strpos
    folded = func.lower(messages.c.body if is_sqlite else messages.c.body.collate("C"))
    words = sorted((one.word for one in asked if one.word.isascii()), key=len, reverse=True)[:_ASCII_WORDS]
    wanted = and_(*(place_of(folded, word) > 0 for word in words)) if words else true()
    statement = select(messages.c.created_at, messages.c.lineage_id, messages.c.seq).where(
        *conditions, or_(wanted, *(place_of(messages.c.body, escape) > 0 for escape in _ASCII_ESCAPES))
    )
    return [Place(*row) for row in connection.execute(statement)]


def last_seq(connection: Connection, lineage_id: str) -> int:
    """The last seq of a lineage's log, -1 for an empty one."""
    found = connection.execute(select(func.max(messages.c.seq)).where(messages.c.lineage_id == lineage_id)).scalar()
    return -1 if found is None else int(found)


def lineages_in_order(connection: Connection) -> list[str]:
    """The id of every lineage, in the order in which they began."""
    statement = select(lineages.c.lineage_id).order_by(lineages.c.created_at, lineages.c.lineage_id)
    return list(connection.execute(statement).scalars())


def forget_lineage(connection: Connection, lineage_id: str) -> None:
    """Take a lineage out of the index, while its rows are still there."""
    if not has_search_tables(connection):
        return
    index = _index(connection)

    def forget() -> None:
        end = index.indexed_to(connection, lineage_id)
        index.forget(connection, lineage_id, _documents(connection, lineage_id, 0, end))

    _guarded(connection, forget)
    # On its own: a lineage that gets the same id later must not inherit what is left of this one.
    _guarded(connection, lambda: index.unregister(connection, lineage_id))


def _is_kept(connection: Connection) -> bool:
    """Whether there is an index to keep up, as far as this connection found a moment ago."""
    epoch, until, is_kept = connection.info.get(_KNOWN, (-1, 0.0, False))
    if epoch != _Epoch.current or until < time.monotonic():
        is_kept = has_search_tables(connection)
        _remember(connection, is_kept=is_kept)
    return bool(is_kept)


def _remember(connection: Connection, *, is_kept: bool) -> None:
    connection.info[_KNOWN] = (_Epoch.current, time.monotonic() + RECHECK_SECONDS, is_kept)


def _index(connection: Connection) -> Fts5Index | TsvectorIndex:
    return _FTS5 if connection.dialect.name == "sqlite" else _TSVECTOR


def _catch_up(connection: Connection, lineage_id: str, most: int) -> int:
    lock_tip(connection, lineage_id)
    first = _index(connection).indexed_to(connection, lineage_id) + 1
    return _add(connection, lineage_id, list(_documents(connection, lineage_id, first, first + most - 1)))


def _add(connection: Connection, lineage_id: str, documents: Sequence[Document]) -> int:
    """How many documents were added: all or none."""
    return len(documents) if documents and _index(connection).add(connection, lineage_id, documents) else 0


def _documents(connection: Connection, lineage_id: str, first: int, last: int) -> Iterator[Document]:
    statement = (
        select(messages.c.seq, messages.c.body)
        .where(messages.c.lineage_id == lineage_id, messages.c.seq >= first, messages.c.seq <= last)
        .order_by(messages.c.seq)
    )
    for seq, body in connection.execute(statement):
        yield seq, index_words(searchable_text(decode_body(body)))


def _unguarded(connection: Connection, work: Callable[[], T]) -> T | None:
    """``_guarded`` without the round trips of savepoints, where the door of a server runs a failed unit again with them."""
    if not connection.get_execution_options().get(TRUSTS_INDEX):
        return _guarded(connection, work)
    try:
        result = work()
    except DBAPIError as error:
        if passes_by_itself(error):
            raise
        raise SearchIndexFailedError from error
    _remember(connection, is_kept=True)
    return result


def _guarded(connection: Connection, work: Callable[[], T]) -> T | None:
    """Do something with the index; if it fails, nothing of it is left, the transaction goes on, and None says so."""
    connection.exec_driver_sql("SAVEPOINT search_index")
    try:
        # FTS5 writes what it has collected when a savepoint is released, so that this is where damage shows, and not at the
        # commit of the log's rows. The savepoint is gone then, also if that failed: hence a second one around it.
        connection.exec_driver_sql("SAVEPOINT search_index_work")
        result = work()
        connection.exec_driver_sql("RELEASE SAVEPOINT search_index_work")
    except (DBAPIError, sqlite3.DatabaseError):
        # When the whole transaction is lost (the disk is full) this fails too, and rightly reaches the caller.
        connection.exec_driver_sql("ROLLBACK TO SAVEPOINT search_index")
        connection.exec_driver_sql("RELEASE SAVEPOINT search_index")
        _remember(connection, is_kept=False)
        return None
    _remember(connection, is_kept=True)
    connection.exec_driver_sql("RELEASE SAVEPOINT search_index")
    return result
