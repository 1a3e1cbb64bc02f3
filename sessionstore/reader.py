"""A reader of a conversation: a gateway, an exporter or a UI that takes up new messages where it left off."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sessionstore.domain.messages import Message
from sessionstore.domain.records import LogRow
from sessionstore.operations.environment import Environment
from sessionstore.operations.following import commit_place, read_batch
from sessionstore.storage.reader_rows import ReaderPlace

DEFAULT_BATCH = 1_000
"""Messages that one ``read`` gives at most."""


class Reader:
    """Reads a lineage's tip from a durable place on, by the reader's own name."""

    def __init__(self, environment: Environment, lineage_id: str, name: str) -> None:
        self._environment = environment
        self.lineage_id = lineage_id
        self.name = name

    def read(self, *, limit: int = DEFAULT_BATCH) -> Batch:
        """The messages of the tip's context that this reader has not committed yet, at most ``limit``.

        Reading again without ``commit`` gives the same batch.
        """
        found = self._environment.database.read(lambda c: read_batch(c, self.lineage_id, self.name, limit=limit))
        return Batch(
            session_id=found.session.session_id,
            rows=tuple(found.rows),
            history_offset=found.offset + len(found.rows),
            rotated=found.rotated,
            last_seq=found.last_seq,
            _reader=self,
            _place=ReaderPlace(found.session.generation, found.offset + len(found.rows), found.last_seq),
        )

    def _commit(self, place: ReaderPlace) -> None:
        self._environment.database.write(lambda c: commit_place(c, self.lineage_id, self.name, place))


@dataclass(frozen=True)
class Batch:
    """Messages that a reader has not consumed yet.

    ``history_offset`` is where the reader stands once the batch is committed. ``rotated`` says that the tip has moved to
    another session since the last commit, so that the batch begins at its context's first message. ``last_seq`` is the newest
    row of the log that the reader has seen, which no compaction moves.
    """

    session_id: str
    rows: Sequence[LogRow]
    history_offset: int
    rotated: bool
    last_seq: int
    _reader: Reader = field(repr=False)
    _place: ReaderPlace = field(repr=False)

    @property
    def messages(self) -> list[Message]:
        """The messages of the batch, in the order of the context."""
        return [row.message for row in self.rows]

    def commit(self) -> None:
        """Make this the reader's durable place."""
        self._reader._commit(self._place)  # noqa: SLF001 - a batch is the reader's own, in one file
