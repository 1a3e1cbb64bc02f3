"""What a reader can do, each as a flow of steps; the fronts document it for their users."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from sessionstore.domain.messages import Message, clean_text
from sessionstore.domain.records import LogRow
from sessionstore.operations.following import commit_place, read_batch
from sessionstore.operations.steps import Steps, read, write
from sessionstore.storage.reader_rows import ReaderPlace

DEFAULT_BATCH: Final = 1_000
"""Messages that one ``read`` gives at most."""


@dataclass(frozen=True)
class Unread:
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
    place: ReaderPlace = field(repr=False)

    @property
    def messages(self) -> list[Message]:
        """The messages of the batch, in the order of the context."""
        return [row.message for row in self.rows]


class ReaderFlow:
    """The flows of one reader of one lineage."""

    def __init__(self, lineage_id: str, name: str) -> None:
        if not name or clean_text(name) != name:
            raise ValueError(f"{name!r} cannot be a reader's name: it is empty, or no text that a database can hold")
        self.lineage_id = lineage_id
        self.name = name

    def read(self, limit: int) -> Steps[Unread]:
        """Read what the reader has not committed."""
        found = yield from read(lambda c: read_batch(c, self.lineage_id, self.name, limit=limit))
        offset = found.offset + len(found.rows)
        return Unread(
            session_id=found.session.session_id,
            rows=tuple(found.rows),
            history_offset=offset,
            rotated=found.rotated,
            last_seq=found.last_seq,
            place=ReaderPlace(found.session.generation, offset, found.last_seq),
        )

    def commit(self, place: ReaderPlace) -> Steps[None]:
        """Store how far the reader has got."""
        return write(lambda c: commit_place(c, self.lineage_id, self.name, place), repeatable=True)
