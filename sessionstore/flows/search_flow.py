"""Searching, and keeping the search index, as flows of steps."""
from __future__ import annotations

from sqlalchemy import Connection

from sessionstore.domain.search_hit import SearchHit
from sessionstore.domain.search_words import SearchQuery
from sessionstore.operations.resolving import resolve_lineage
from sessionstore.operations.searching import Search, search
from sessionstore.operations.steps import Steps, read, write
from sessionstore.storage.search_rows import BATCH, catch_up, drop_search_index, lineages_in_order, make_search_index
from sessionstore.storage.search_schema import has_search_tables


def search_store(
    text: str,
    *,
    lineage: str | None,
    namespace: str | None,
    limit: int,
    before: SearchHit | None,
    derived: bool,
) -> Steps[list[SearchHit]]:
    """Search one conversation, a namespace, or the whole store."""
    query = SearchQuery.of(text)

    def work(connection: Connection) -> list[SearchHit]:
        lineage_id = None if lineage is None else resolve_lineage(connection, lineage, namespace=namespace)
        wanted = Search(
            query, limit, lineage_id=lineage_id, namespace=namespace, before=before, derived=derived
        )
        return search(connection, wanted)

    return read(work)


def keep_search_index(wanted: bool) -> Steps[None]:
    """Have the index, or have none; what is as it is wanted stays as it is."""
    if (yield from read(has_search_tables)) != wanted:
        yield from write(lambda c: _set_search_index(c, wanted))


def rebuild_search_index() -> Steps[int]:
    """Make the index anew, in transactions so small that nobody waits long for them; gives how many rows it holds then."""
    yield from write(make_search_index)
    indexed = 0
    for lineage_id in (yield from read(lineages_in_order)):
        while added := (yield from index_some(lineage_id)):
            indexed += added
    return indexed


def index_some(lineage_id: str) -> Steps[int]:
    """Index the next rows of a lineage that are not; gives how many, 0 when there are none."""
    return write(lambda c: catch_up(c, lineage_id, most=BATCH))


def _set_search_index(connection: Connection, wanted: bool) -> None:
    # Asked again under the write lock: another process may have been first.
    if has_search_tables(connection) != wanted:
        (make_search_index if wanted else drop_search_index)(connection)
