"""The search index of SQLite: FTS5 without content. A row's key is the number of its lineage and its seq, side by side."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from sqlalchemy import Connection

from sessionstore.domain.search_words import AskedWord
from sessionstore.storage.search_places import Document, Place

_LAST_OF_LINEAGE: Final = (1 << 32) - 1

_REGISTER: Final = "INSERT INTO search_lineages (lineage_id) VALUES (?) ON CONFLICT DO NOTHING"
# A document goes in only behind the one before it, so that what is indexed of a log is always its beginning.
_ADD: Final = (
    "INSERT INTO search_index (rowid, words) SELECT (number << 32) + ?2, ?3 FROM search_lineages WHERE lineage_id = ?1 "
    "AND (?2 = 0 OR EXISTS (SELECT 1 FROM search_index_docsize WHERE id = (number << 32) + ?2 - 1))"
)
_INDEXED_TO: Final = (
    "(SELECT coalesce((SELECT max(id) FROM search_index_docsize WHERE id BETWEEN number << 32 AND (number << 32) + 4294967295) "
    "- (number << 32), -1) FROM search_lineages s WHERE s.lineage_id = {lineage})"
)
_BEHIND: Final = (
    "SELECT lineage_id, indexed FROM (SELECT l.lineage_id, "
    f"coalesce({_INDEXED_TO.format(lineage='l.lineage_id')}, -1) AS indexed, "
    "(SELECT max(seq) FROM messages m WHERE m.lineage_id = l.lineage_id) AS last "
    "FROM lineages l WHERE ?1 IS NULL OR l.namespace = ?1) WHERE indexed < last"
)
_SEQS: Final = (
    "SELECT rowid - (?2 << 32) FROM search_index WHERE search_index MATCH ?1 "
    "AND rowid BETWEEN ?2 << 32 AND (?2 << 32) + ?3 ORDER BY rowid DESC"
)
_PLACES: Final = (
    "SELECT m.created_at, m.lineage_id, m.seq FROM search_index f CROSS JOIN search_lineages s ON s.number = f.rowid >> 32 "
    "CROSS JOIN lineages l ON l.lineage_id = s.lineage_id "
    "CROSS JOIN messages m ON m.lineage_id = s.lineage_id AND m.seq = f.rowid & 4294967295 "
    "WHERE f.search_index MATCH ?1 AND (?2 IS NULL OR l.namespace = ?2)"
)


class Fts5Index:
    """What the search index does on SQLite; see ``search_rows`` for what is promised."""

    def register(self, connection: Connection, lineage_id: str) -> None:
        """Give a lineage its number, unless it has one."""
        connection.exec_driver_sql(_REGISTER, (lineage_id,))

    def add(self, connection: Connection, lineage_id: str, documents: Sequence[Document]) -> int:
        """Add documents behind those that are there; gives how many found their place."""
        rows = [(lineage_id, seq, " ".join(words)) for seq, words in documents]
        return int(connection.exec_driver_sql(_ADD, rows).rowcount)

    def indexed_to(self, connection: Connection, lineage_id: str) -> int:
        """The last seq of the lineage that is indexed, -1 for none."""
        found = connection.exec_driver_sql(f"SELECT {_INDEXED_TO.format(lineage='?')}", (lineage_id,)).scalar()
        return -1 if found is None else int(found)

    def behind(self, connection: Connection, namespace: str | None) -> list[tuple[str, int]]:
        """The lineages that have rows beyond what is indexed of them, with the last seq that is."""
        return [(row[0], row[1]) for row in connection.exec_driver_sql(_BEHIND, (namespace,))]

    def seqs(self, connection: Connection, lineage_id: str, asked: Sequence[AskedWord], last: int) -> Iterable[int]:
        """The rows of a lineage, up to one, that hold every word, the newest first."""
        number = self._number(connection, lineage_id)
        if number is None or last < 0:
            return ()
        found = connection.exec_driver_sql(_SEQS, (_match(asked), number, min(last, _LAST_OF_LINEAGE)))
        return [row[0] for row in found]

    def places(self, connection: Connection, asked: Sequence[AskedWord], namespace: str | None) -> list[Place]:
        """The rows of the store that hold every word, in no order."""
        return [Place(*row) for row in connection.exec_driver_sql(_PLACES, (_match(asked), namespace))]

    def forget(self, connection: Connection, lineage_id: str, documents: Iterable[Document]) -> None:
        """Take documents out; a table without content must be told what was in them."""
        number = self._number(connection, lineage_id)
        rows: list[Any] = [((number << 32) + seq, " ".join(words)) for seq, words in documents] if number is not None else []
        if rows:
            connection.exec_driver_sql(
                "INSERT INTO search_index (search_index, rowid, words) VALUES ('delete', ?, ?)", rows
            )

    def unregister(self, connection: Connection, lineage_id: str) -> None:
        """Take a lineage's number away; it is never given again."""
        connection.exec_driver_sql("DELETE FROM search_lineages WHERE lineage_id = ?", (lineage_id,))

    def _number(self, connection: Connection, lineage_id: str) -> int | None:
        statement = "SELECT number FROM search_lineages WHERE lineage_id = ?"
        number: int | None = connection.exec_driver_sql(statement, (lineage_id,)).scalar()
        return number


def _match(asked: Sequence[AskedWord]) -> str:
    # Words hold no quote, so quoted ones are plain text to FTS5 whatever they spell.
    return " AND ".join(f'"{word}"{" *" if beginning else ""}' for word, beginning in asked)
