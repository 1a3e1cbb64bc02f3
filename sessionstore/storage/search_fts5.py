"""The search index of SQLite: FTS5 without content. Rows are numbered in blocks of 64, and a block belongs to one lineage."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Final

from sqlalchemy import Connection

from sessionstore.domain.search_words import AskedWord
from sessionstore.storage.search_places import Document, Place

_REGISTER: Final = "INSERT INTO search_blocks (lineage_id, first_seq) VALUES (?, ?) ON CONFLICT DO NOTHING"
# A document goes in only behind the one before it, so that what is indexed of a log is always its beginning; any other is an
# integer overflow, since a statement has no other way to refuse. One row a statement and no SELECT beside it: for those SQLite
# opens a savepoint of its own, at which FTS5 writes everything down, and which it answers with the end of the transaction when
# the index is damaged.
_ADD: Final = (
    "INSERT INTO search_index (rowid, words) VALUES (coalesce((SELECT (number << 6) + (?2 & 63) FROM search_blocks "
    "WHERE lineage_id = ?1 AND first_seq = ?2 - (?2 & 63) AND (?2 = 0 OR EXISTS ("
    "SELECT 1 FROM search_blocks b JOIN search_index_docsize d ON d.id = (b.number << 6) + ((?2 - 1) & 63) "
    "WHERE b.lineage_id = ?1 AND b.first_seq = (?2 - 1) - ((?2 - 1) & 63)))), abs(-9223372036854775807 - 1)), ?3)"
)
_INDEXED_TO: Final = (
    "coalesce((SELECT b.first_seq + (SELECT max(id) & 63 FROM search_index_docsize "
    "WHERE id BETWEEN b.number << 6 AND (b.number << 6) + 63) AS found "
    "FROM search_blocks b WHERE b.lineage_id = {lineage} AND found IS NOT NULL ORDER BY b.first_seq DESC LIMIT 1), -1)"
)
_BEHIND: Final = (
    f"SELECT lineage_id, indexed FROM (SELECT l.lineage_id, {_INDEXED_TO.format(lineage='l.lineage_id')} AS indexed, "
    "(SELECT max(seq) FROM messages m WHERE m.lineage_id = l.lineage_id) AS last "
    "FROM lineages l WHERE ?1 IS NULL OR l.namespace = ?1) WHERE indexed < last"
)
_SEQS: Final = (
    "SELECT b.first_seq + (f.rowid & 63) AS seq FROM search_index f CROSS JOIN search_blocks b ON b.number = f.rowid >> 6 "
    "WHERE f.search_index MATCH ?1 AND b.lineage_id = ?2 AND seq <= ?3 ORDER BY seq DESC"
)
_PLACES: Final = (
    "SELECT m.created_at, m.lineage_id, m.seq FROM search_index f CROSS JOIN search_blocks b ON b.number = f.rowid >> 6 "
    "CROSS JOIN lineages l ON l.lineage_id = b.lineage_id "
    "CROSS JOIN messages m ON m.lineage_id = b.lineage_id AND m.seq = b.first_seq + (f.rowid & 63) "
    "WHERE f.search_index MATCH ?1 AND (?2 IS NULL OR l.namespace = ?2)"
)
_ROWID: Final = "SELECT (number << 6) + (?2 & 63) FROM search_blocks WHERE lineage_id = ?1 AND first_seq = ?2 - (?2 & 63)"
_FORGET: Final = f"INSERT INTO search_index (search_index, rowid, words) VALUES ('delete', ({_ROWID}), ?3)"


class Fts5Index:
    """What the search index does on SQLite; see ``search_rows`` for what is promised."""

    def add(self, connection: Connection, lineage_id: str, documents: Sequence[Document]) -> bool:
        """Add documents behind those that are there; a driver's error when the first is not the next one, else True."""
        begun = [(lineage_id, seq) for seq, _ in documents if seq % 64 == 0]
        if begun:
            connection.exec_driver_sql(_REGISTER, begun)
        mark = _mark(lineage_id)
        rows = [(lineage_id, seq, " ".join((mark, *words))) for seq, words in documents]
        connection.exec_driver_sql(_ADD, rows)
        return True

    def indexed_to(self, connection: Connection, lineage_id: str) -> int:
        """The last seq of the lineage that is indexed, -1 for none."""
        return int(connection.exec_driver_sql(f"SELECT {_INDEXED_TO.format(lineage='?')}", (lineage_id,)).scalar_one())

    def behind(self, connection: Connection, namespace: str | None) -> list[tuple[str, int]]:
        """The lineages that have rows beyond what is indexed of them, with the last seq that is."""
        return [(row[0], row[1]) for row in connection.exec_driver_sql(_BEHIND, (namespace,))]

    def seqs(self, connection: Connection, lineage_id: str, asked: Sequence[AskedWord], last: int) -> Iterable[int]:
        """The rows of a lineage, up to one, that hold every word, the newest first."""
        match = _match([AskedWord(_mark(lineage_id), False), *asked])
        return [row[0] for row in connection.exec_driver_sql(_SEQS, (match, lineage_id, last))]

    def places(self, connection: Connection, asked: Sequence[AskedWord], namespace: str | None) -> list[Place]:
        """The rows of the store that hold every word, in no order."""
        return [Place(*row) for row in connection.exec_driver_sql(_PLACES, (_match(asked), namespace))]

    def forget(self, connection: Connection, lineage_id: str, documents: Iterable[Document]) -> None:
        """Take documents out; a table without content must be told what was in them."""
        mark = _mark(lineage_id)
        rows = [(lineage_id, seq, " ".join((mark, *words))) for seq, words in documents]
        if rows:
            connection.exec_driver_sql(_FORGET, rows)

    def unregister(self, connection: Connection, lineage_id: str) -> None:
        """Take a lineage's blocks away; their numbers are never given again."""
        connection.exec_driver_sql("DELETE FROM search_blocks WHERE lineage_id = ?", (lineage_id,))


def _mark(lineage_id: str) -> str:
    """A word that every document of a lineage has and no text can hold, so that FTS5 itself looks in one lineage only."""
    return "\ue000" + blake2b(lineage_id.encode(), digest_size=6).hexdigest()


def _match(asked: Sequence[AskedWord]) -> str:
    # Words hold no quote, so quoted ones are plain text to FTS5 whatever they spell.
    return " AND ".join(f'"{word}"{" *" if beginning else ""}' for word, beginning in asked)
