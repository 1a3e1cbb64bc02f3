"""A reader of a conversation for an event loop."""
from __future__ import annotations

from dataclasses import dataclass, field

from sessionstore.aio.documenting import documented_like
from sessionstore.flows.reader_flow import DEFAULT_BATCH, ReaderFlow, Unread
from sessionstore.operations.async_steps import AsyncDriver
from sessionstore.reader import Batch, Reader


@documented_like(Reader)
class AsyncReader:
    def __init__(self, driver: AsyncDriver, lineage_id: str, name: str) -> None:
        self._driver = driver
        self._flow = ReaderFlow(lineage_id, name)

    @property
    @documented_like(Reader.lineage_id)
    def lineage_id(self) -> str:
        return self._flow.lineage_id

    @property
    @documented_like(Reader.name)
    def name(self) -> str:
        return self._flow.name

    @documented_like(Reader.read)
    async def read(self, *, limit: int = DEFAULT_BATCH) -> AsyncBatch:
        return AsyncBatch(**vars(await self._driver.drive(self._flow.read(limit))), _reader=self)


@documented_like(Batch)
@dataclass(frozen=True)
class AsyncBatch(Unread):
    _reader: AsyncReader = field(repr=False)

    @documented_like(Batch.commit)
    async def commit(self) -> None:
        reader = self._reader
        await reader._driver.drive(reader._flow.commit(self.place))  # noqa: SLF001 - a batch is the reader's own, in one file
