"""The search index of PostgreSQL: a row a message with its words as a ``tsvector``, distributed by lineage like the log."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from sqlalchemy import Connection, text

from sessionstore.domain.search_words import AskedWord
from sessionstore.storage.search_places import Document, Place

# Documents go in only behind the one before them, so that what is indexed of a log is always its beginning.
_ADD: Final = text(
    "INSERT INTO search_documents (lineage_id, seq, words) "
    "SELECT CAST(:lineage AS text), d.seq, array_to_tsvector(string_to_array(d.words, ' ')) "
    "FROM unnest(CAST(:seqs AS bigint[]), CAST(:words AS text[])) AS d (seq, words) WHERE CAST(:first AS bigint) = 0 "
    "OR EXISTS (SELECT 1 FROM search_documents WHERE lineage_id = :lineage AND seq = CAST(:first AS bigint) - 1)"
)
_INDEXED_TO: Final = text("SELECT coalesce(max(seq), -1) FROM search_documents WHERE lineage_id = :lineage")
_BEHIND: Final = text(
    "SELECT lineage_id, indexed FROM (SELECT l.lineage_id, "
    "(SELECT coalesce(max(d.seq), -1) FROM search_documents d WHERE d.lineage_id = l.lineage_id) AS indexed, "
    "(SELECT max(m.seq) FROM messages m WHERE m.lineage_id = l.lineage_id) AS last "
    "FROM lineages l WHERE CAST(:namespace AS text) IS NULL OR l.namespace = :namespace) AS state WHERE indexed < last"
)
_SEQS: Final = text(
    "SELECT seq FROM search_documents WHERE lineage_id = :lineage AND seq <= :last AND words @@ CAST(:asked AS tsquery) "
    "ORDER BY seq DESC"
)
_PLACES: Final = text(
    "SELECT m.created_at, m.lineage_id, m.seq FROM search_documents d JOIN lineages l ON l.lineage_id = d.lineage_id "
    "JOIN messages m ON m.lineage_id = d.lineage_id AND m.seq = d.seq "
    "WHERE d.words @@ CAST(:asked AS tsquery) AND (CAST(:namespace AS text) IS NULL OR l.namespace = :namespace)"
)
_FORGET: Final = text("DELETE FROM search_documents WHERE lineage_id = :lineage")


class TsvectorIndex:
    """What the search index does on PostgreSQL; see ``search_rows`` for what is promised."""

    def add(self, connection: Connection, lineage_id: str, documents: Sequence[Document]) -> bool:
        """Add documents behind those that are there; False, with nothing added, when the first is not the next one."""
        seqs, words = [seq for seq, _ in documents], [" ".join(words) for _, words in documents]
        added = connection.execute(_ADD, {"lineage": lineage_id, "first": seqs[0], "seqs": seqs, "words": words})
        return added.rowcount == len(documents)

    def indexed_to(self, connection: Connection, lineage_id: str) -> int:
        """The last seq of the lineage that is indexed, -1 for none."""
        return int(connection.execute(_INDEXED_TO, {"lineage": lineage_id}).scalar_one())

    def behind(self, connection: Connection, namespace: str | None) -> list[tuple[str, int]]:
        """The lineages that have rows beyond what is indexed of them, with the last seq that is."""
        return [(row[0], row[1]) for row in connection.execute(_BEHIND, {"namespace": namespace})]

    def seqs(self, connection: Connection, lineage_id: str, asked: Sequence[AskedWord], last: int) -> Iterable[int]:
        """The rows of a lineage, up to one, that hold every word, the newest first."""
        found = connection.execute(_SEQS, {"lineage": lineage_id, "last": last, "asked": _tsquery(asked)})
        return [row[0] for row in found]

    def places(self, connection: Connection, asked: Sequence[AskedWord], namespace: str | None) -> list[Place]:
        """The rows of the store that hold every word, in no order."""
        found = connection.execute(_PLACES, {"asked": _tsquery(asked), "namespace": namespace})
        return [Place(*row) for row in found]

    def forget(self, connection: Connection, lineage_id: str, documents: Iterable[Document]) -> None:  # noqa: ARG002 - rows know their words
        """Take every document of a lineage out."""
        connection.execute(_FORGET, {"lineage": lineage_id})

    def unregister(self, connection: Connection, lineage_id: str) -> None:
        """Nothing to do: documents carry the lineage's own id."""


def _tsquery(asked: Sequence[AskedWord]) -> str:
    # Words hold neither quotes nor backslashes, so quoted ones are plain text whatever they spell.
    return " & ".join(f"'{word}'{':*' if beginning else ''}" for word, beginning in asked)
