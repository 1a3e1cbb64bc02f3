"""A reader of a conversation: a gateway, an exporter or a UI that takes up new messages where it left off."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from sessionstore.flows.reader_flow import DEFAULT_BATCH, ReaderFlow, Unread
from sessionstore.operations.environment import Environment
from sessionstore.operations.steps import Steps, drive

T = TypeVar("T")


class Reader:
    """Reads a lineage's tip from a durable place on, by the reader's own name."""

    def __init__(self, environment: Environment, lineage_id: str, name: str) -> None:
        self._environment = environment
        self._flow = ReaderFlow(lineage_id, name)

    @property
    def lineage_id(self) -> str:
        """The conversation that is read."""
        return self._flow.lineage_id

    @property
    def name(self) -> str:
        """The reader's own name, under which its place is stored."""
        return self._flow.name

    def read(self, *, limit: int = DEFAULT_BATCH) -> Batch:
        """The messages of the tip's context that this reader has not committed yet, at most ``limit``.

        Reading again without ``commit`` gives the same batch.
        """
        return Batch(**vars(self._drive(self._flow.read(limit))), _reader=self)

    def _drive(self, steps: Steps[T]) -> T:
        return drive(steps, self._environment.database)


@dataclass(frozen=True)
class Batch(Unread):
    """Messages that a reader has not consumed yet, which ``commit`` makes consumed."""

    _reader: Reader = field(repr=False)

    def commit(self) -> None:
        """Make this the reader's durable place."""
        reader = self._reader
        reader._drive(reader._flow.commit(self.place))  # noqa: SLF001 - a batch is the reader's own, in one file
