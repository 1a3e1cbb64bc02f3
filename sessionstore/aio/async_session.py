"""A handle on one session for an event loop."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from sessionstore.aio.async_reader import AsyncReader
from sessionstore.aio.async_task import AsyncTask
from sessionstore.aio.documenting import documented_like
from sessionstore.compaction.outcome import CompactionOutcome, CompactionResult
from sessionstore.domain.closed_sets import EndReason, Profile, TaskPlace, Trigger
from sessionstore.domain.messages import Message
from sessionstore.domain.metering import Pressure
from sessionstore.domain.policy import CompactionPolicy
from sessionstore.domain.records import LogRow, SessionRecord
from sessionstore.domain.summarizing import Summarizer
from sessionstore.flows.session_flow import SessionFlow
from sessionstore.operations.async_steps import AsyncDriver
from sessionstore.operations.steps import Steps
from sessionstore.session import Session

T = TypeVar("T")


class AsyncSession:
    """One generation of a lineage, with what its holder knows of it; ``Session`` for an event loop.

    A handle is cheap and holds no connection. It may be used by several tasks; two handles on one session are two writers.
    A call that is cancelled is settled first: what it writes is stored whole or not at all, then the cancellation is raised.
    """

    def __init__(self, flow: SessionFlow, driver: AsyncDriver) -> None:
        self._flow = flow
        self._driver = driver

    def __repr__(self) -> str:
        return f"<AsyncSession {self.id!r} of {self._driver.database.url}>"

    @property
    @documented_like(Session.id)
    def id(self) -> str:
        return self._flow.id

    @property
    @documented_like(Session.lineage_id)
    def lineage_id(self) -> str:
        return self._flow.lineage_id

    @property
    @documented_like(Session.generation)
    def generation(self) -> int:
        return self._flow.generation

    @documented_like(Session.record)
    async def record(self) -> SessionRecord:
        return await self._drive(self._flow.record())

    @documented_like(Session.append)
    async def append(
        self,
        messages: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        client_id: str | Sequence[str | None] | None = None,
    ) -> list[int]:
        return await self._drive(self._flow.append(messages, client_id))

    @documented_like(Session.append_json)
    async def append_json(self, text: str, *, client_id: str | None = None) -> int:
        return (await self._drive(self._flow.append_json(text, client_id)))[0]

    @documented_like(Session.flush)
    async def flush(self, messages: Sequence[Mapping[str, Any]]) -> list[int]:
        return await self._drive(self._flow.flush(messages))

    @documented_like(Session.rebase)
    async def rebase(self, messages: Sequence[Mapping[str, Any]]) -> tuple[AsyncSession, list[Message]]:
        tip = AsyncSession(await self._drive(self._flow.rebase(messages)), self._driver)
        return tip, await tip.context()

    @documented_like(Session.context)
    async def context(self) -> list[Message]:
        return await self._drive(self._flow.context())

    @documented_like(Session.context_rows)
    async def context_rows(self) -> list[LogRow]:
        return await self._drive(self._flow.context_rows())

    @documented_like(Session.last)
    async def last(self, count: int) -> list[Message]:
        return await self._drive(self._flow.last(count))

    @documented_like(Session.history)
    async def history(self, first: int, last: int) -> list[LogRow]:
        return await self._drive(self._flow.history(first, last))

    @documented_like(Session.expand)
    async def expand(self, seq: int) -> list[LogRow]:
        return await self._drive(self._flow.expand(seq))

    @documented_like(Session.render)
    async def render(self, profile: Profile | None = None, *, task_state_in: TaskPlace = "system") -> list[Message]:
        return await self._drive(self._flow.render(profile, task_state_in))

    @documented_like(Session.system_prompt)
    async def system_prompt(self) -> str | None:
        return await self._drive(self._flow.system_prompt())

    @documented_like(Session.set_system_prompt)
    async def set_system_prompt(self, text: str | None = None, *, parts: Mapping[str, str] | None = None) -> None:
        await self._drive(self._flow.set_system_prompt(text, parts))

    @documented_like(Session.set_model)
    async def set_model(self, model: str, context_window: int | None = None, *, profile: Profile | None = None) -> None:
        await self._drive(self._flow.set_model(model, context_window, profile))

    @documented_like(Session.record_usage)
    async def record_usage(self, *, prompt: int, completion: int) -> None:
        await self._drive(self._flow.record_usage(prompt, completion))

    @documented_like(Session.pressure)
    async def pressure(self, policy: CompactionPolicy | None = None, *, peek: bool = False) -> Pressure:
        return await self._drive(self._flow.pressure(policy, peek=peek))

    @documented_like(Session.compact)
    async def compact(
        self,
        messages: Sequence[Mapping[str, Any]] | None = None,
        *,
        focus: str | None = None,
        summarizer: Summarizer | None = None,
        policy: CompactionPolicy | None = None,
        force: bool = False,
        dry_run: bool = False,
        trigger: Trigger = "manual",
        context_window: int | None = None,
    ) -> CompactionResult[AsyncSession]:
        flow = self._flow.compact(
            messages,
            focus=focus,
            summarizer=summarizer,
            policy=policy,
            force=force,
            dry_run=dry_run,
            trigger=trigger,
            context_window=context_window,
        )
        return self._result(await self._drive(flow))

    @documented_like(Session.maintain)
    async def maintain(
        self, *, summarizer: Summarizer | None = None, policy: CompactionPolicy | None = None
    ) -> CompactionResult[AsyncSession]:
        flow = self._flow.compact_if_due(summarizer=summarizer, policy=policy, trigger="auto")
        return self._result(await self._drive(flow))

    @documented_like(Session.preflight)
    async def preflight(
        self, *, summarizer: Summarizer | None = None, policy: CompactionPolicy | None = None
    ) -> CompactionResult[AsyncSession]:
        flow = self._flow.compact_if_due(summarizer=summarizer, policy=policy, trigger="preflight")
        return self._result(await self._drive(flow))

    @documented_like(Session.undo_compaction)
    async def undo_compaction(self) -> AsyncSession:
        return AsyncSession(await self._drive(self._flow.undo_compaction()), self._driver)

    @documented_like(Session.rewind)
    async def rewind(self, seq: int) -> AsyncSession:
        return AsyncSession(await self._drive(self._flow.rewind(seq)), self._driver)

    @documented_like(Session.fork)
    async def fork(
        self,
        id: str | None = None,  # noqa: A002 - the contract's name
        *,
        at_seq: int | None = None,
        title: str | None = None,
    ) -> AsyncSession:
        return AsyncSession(await self._drive(self._flow.fork(id, at_seq=at_seq, title=title)), self._driver)

    @property
    @documented_like(Session.task)
    def task(self) -> AsyncTask:
        return AsyncTask(self._driver, self._flow.task())

    @documented_like(Session.run_tool)
    async def run_tool(self, name: str, arguments: str | Mapping[str, Any]) -> str:
        return await self._drive(self._flow.run_tool(name, arguments))

    @documented_like(Session.pin)
    async def pin(self, *seqs: int) -> None:
        await self._drive(self._flow.pin(seqs))

    @documented_like(Session.unpin)
    async def unpin(self, *seqs: int) -> None:
        await self._drive(self._flow.unpin(seqs))

    @documented_like(Session.end)
    async def end(self, reason: EndReason = "user") -> None:
        await self._drive(self._flow.end(reason))

    @documented_like(Session.reopen)
    async def reopen(self) -> None:
        await self._drive(self._flow.reopen())

    @documented_like(Session.reader)
    def reader(self, name: str) -> AsyncReader:
        return AsyncReader(self._driver, self.lineage_id, name)

    async def _drive(self, steps: Steps[T]) -> T:
        return await self._driver.drive(steps)

    def _result(self, outcome: CompactionOutcome) -> CompactionResult[AsyncSession]:
        opened = outcome.opened_generation
        return CompactionResult(outcome, self if opened is None else AsyncSession(self._flow.at(opened), self._driver))
