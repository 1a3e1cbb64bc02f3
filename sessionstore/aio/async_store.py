"""A store of sessions for an event loop: opening it, and everything that concerns more than one session."""
from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from sessionstore.aio.async_session import AsyncSession
from sessionstore.aio.documenting import documented_like
from sessionstore.aio.opening import Opening
from sessionstore.compaction.outcome import CompactionResult
from sessionstore.domain.closed_sets import Profile, Relation
from sessionstore.domain.health.finding import DoctorReport
from sessionstore.domain.hygiene import DEFAULT_GRACE
from sessionstore.domain.keeping import BackupReport, PrunedLineage, StoreStats
from sessionstore.domain.messages import DEFAULT_MAX_MESSAGE_BYTES
from sessionstore.domain.policy import CompactionPolicy
from sessionstore.domain.records import SessionSummary
from sessionstore.domain.search_hit import SearchHit
from sessionstore.domain.summarizing import Summarizer
from sessionstore.domain.token_counter import TokenCounter
from sessionstore.flows.search_flow import keep_search_index
from sessionstore.flows.store_flow import StoreFlow, environment_of
from sessionstore.formats.exporting import ExportFormat
from sessionstore.formats.report import ImportReport
from sessionstore.formats.transcript_source import ImportFormat
from sessionstore.operations.async_steps import AsyncDriver
from sessionstore.operations.environment import Clock, CompactionHooks, Environment, IdSource
from sessionstore.operations.steps import Steps
from sessionstore.operations.tracing import LineageTrace
from sessionstore.storage.async_door import AsyncDatabase
from sessionstore.storage.engines import DEFAULT_BUSY_TIMEOUT, Durability
from sessionstore.storage.schema import prepare_schema_async
from sessionstore.store import SessionStore

T = TypeVar("T")


class AsyncSessionStore:
    """Keeps transcripts in a database, as ``SessionStore`` does, for asyncio.

    Open it with ``async with AsyncSessionStore.open(url) as store``, or ``await`` the same and ``close()`` at the end. It
    belongs to the event loop it is used in, where any number of tasks may share it: none blocks the loop, a session that is
    busy keeps no other one waiting, and a call that is cancelled is stored whole or not at all before it raises.
    """

    def __init__(self, environment: Environment, driver: AsyncDriver) -> None:
        self._flow = StoreFlow(environment)
        self._driver = driver

    @classmethod
    @documented_like(SessionStore.open)
    def open(
        cls,
        url: str,
        *,
        clock: Clock | None = None,
        ids: IdSource | None = None,
        counter: TokenCounter | None = None,
        hooks: CompactionHooks | None = None,
        max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES,
        durability: Durability = "full",
        busy_timeout: float = DEFAULT_BUSY_TIMEOUT,
        search_index: bool | None = None,
    ) -> Opening[Self]:
        async def opened() -> Self:
            database = AsyncDatabase(url, durability=durability, busy_timeout=busy_timeout)
            try:
                await prepare_schema_async(database)
                environment = await asyncio.to_thread(
                    environment_of,
                    database.sync_door,
                    clock=clock,
                    ids=ids,
                    counter=counter,
                    hooks=hooks,
                    max_message_bytes=max_message_bytes,
                )
                driver = AsyncDriver(database)
                if search_index is not None:
                    await driver.drive(keep_search_index(search_index))
            except BaseException:
                await database.close()
                raise
            return cls(environment, driver)

        return Opening(opened)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @documented_like(SessionStore.close)
    async def close(self) -> None:
        await self._driver.close()

    @property
    @documented_like(SessionStore.url)
    def url(self) -> str:
        return self._driver.database.url

    @documented_like(SessionStore.create_session)
    async def create_session(
        self,
        id: str | None = None,  # noqa: A002 - the contract's name
        *,
        title: str | None = None,
        model: str | None = None,
        context_window: int | None = None,
        profile: Profile = "openai",
        system_prompt: str | None = None,
        system_prompt_parts: Mapping[str, str] | None = None,
        namespace: str = "",
        owner: str | None = None,
        source: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        tool_schema_tokens: int = 0,
        relation: Relation | None = None,
        forked_from: str | None = None,
    ) -> AsyncSession:
        flow = self._flow.create_session(
            id,
            title=title,
            model=model,
            context_window=context_window,
            profile=profile,
            system_prompt=system_prompt,
            system_prompt_parts=system_prompt_parts,
            namespace=namespace,
            owner=owner,
            source=source,
            metadata=metadata,
            tool_schema_tokens=tool_schema_tokens,
            relation=relation,
            forked_from=forked_from,
        )
        return AsyncSession(await self._drive(flow), self._driver)

    @documented_like(SessionStore.session)
    async def session(self, session_id: str, *, namespace: str | None = None) -> AsyncSession:
        return AsyncSession(await self._drive(self._flow.session(session_id, namespace)), self._driver)

    @documented_like(SessionStore.resume)
    async def resume(self, reference: str, *, namespace: str | None = None) -> AsyncSession:
        return AsyncSession(await self._drive(self._flow.resume(reference, namespace)), self._driver)

    @documented_like(SessionStore.lineage)
    async def lineage(self, reference: str, *, namespace: str | None = None, ledgers: bool = False) -> LineageTrace:
        return await self._drive(self._flow.lineage(reference, namespace, ledgers))

    @documented_like(SessionStore.list_sessions)
    async def list_sessions(
        self,
        *,
        namespace: str | None = None,
        owner: str | None = None,
        source: str | None = None,
        open_only: bool = False,
        before: SessionSummary | None = None,
        limit: int = 50,
    ) -> list[SessionSummary]:
        flow = self._flow.list_sessions(
            namespace=namespace, owner=owner, source=source, open_only=open_only, before=before, limit=limit
        )
        return await self._drive(flow)

    @documented_like(SessionStore.search)
    async def search(
        self,
        text: str,
        *,
        lineage: str | None = None,
        namespace: str | None = None,
        limit: int = 20,
        before: SearchHit | None = None,
        derived: bool = False,
    ) -> list[SearchHit]:
        flow = self._flow.search(
            text, lineage=lineage, namespace=namespace, limit=limit, before=before, derived=derived
        )
        return await self._drive(flow)

    @documented_like(SessionStore.rebuild_search_index)
    async def rebuild_search_index(self) -> int:
        return await self._drive(self._flow.rebuild_search_index())

    @documented_like(SessionStore.import_file)
    async def import_file(
        self,
        path: str | Path,
        *,
        format: ImportFormat = "auto",  # noqa: A002 - the command line's word
        id: str | None = None,  # noqa: A002 - the contract's name
        title: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> ImportReport:
        source = Path(path)
        flow = self._flow.import_transcript(
            source, form=format, name=source.name, session_id=id, title=title, progress=progress
        )
        return await self._drive(flow)

    @documented_like(SessionStore.import_lines)
    async def import_lines(
        self,
        lines: Iterable[str],
        *,
        format: ImportFormat = "auto",  # noqa: A002 - the command line's word
        id: str | None = None,  # noqa: A002 - the contract's name
        title: str | None = None,
        name: str = "lines",
    ) -> ImportReport:
        flow = self._flow.import_transcript(
            list(lines), form=format, name=name, session_id=id, title=title, progress=None
        )
        return await self._drive(flow)

    @documented_like(SessionStore.export)
    async def export(
        self,
        reference: str,
        *,
        format: ExportFormat = "jsonl",  # noqa: A002 - the command line's word
        lineage: bool = False,
        namespace: str | None = None,
    ) -> AsyncIterator[str]:
        flow = self._flow.export(reference, form=format, lineage=lineage, namespace=namespace)
        for piece in await self._drive(flow):
            yield piece

    @documented_like(SessionStore.doctor)
    async def doctor(self, *, repair: bool = False) -> DoctorReport:
        return await self._drive(self._flow.doctor(repair))

    @documented_like(SessionStore.hygiene)
    async def hygiene(
        self,
        *,
        policy: CompactionPolicy | None = None,
        summarizer: Summarizer | None = None,
        grace: float = DEFAULT_GRACE,
    ) -> list[CompactionResult[AsyncSession]]:
        outcomes = await self._drive(self._flow.hygiene(policy=policy, summarizer=summarizer, grace=grace))
        return [CompactionResult(outcome, AsyncSession(self._flow.handle(outcome), self._driver)) for outcome in outcomes]

    @documented_like(SessionStore.backup)
    async def backup(self, path: str | Path) -> BackupReport:
        return await self._drive(self._flow.backup(Path(path)))

    @documented_like(SessionStore.stats)
    async def stats(self) -> StoreStats:
        return await self._drive(self._flow.stats())

    @documented_like(SessionStore.prune)
    async def prune(
        self, *, older_than: float, namespace: str | None = None, ended_only: bool = False, dry_run: bool = False
    ) -> list[PrunedLineage]:
        flow = self._flow.prune(older_than=older_than, namespace=namespace, ended_only=ended_only, dry_run=dry_run)
        return await self._drive(flow)

    @documented_like(SessionStore.delete)
    async def delete(self, reference: str, *, namespace: str | None = None) -> str:
        return await self._drive(self._flow.delete(reference, namespace))

    async def _drive(self, steps: Steps[T]) -> T:
        return await self._driver.drive(steps)
