"""Compactions on an event loop: models and hooks of either kind, nothing that blocks, and cancellations in the middle."""
from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sessionstore import (
    AsyncSession,
    AsyncSessionStore,
    CallableSummarizer,
    CompactionHooks,
    CompactionInProgressError,
    CompactionPlan,
    CompactionVetoedError,
    PromptContext,
    SessionNotFoundError,
    SessionStore,
    SummaryAnswer,
    SummaryRequest,
)
from tests.aio.looping import lock_is_free, on_a_loop, turns_of_the_loop, until
from tests.store.conversations import SMALL, WINDOW, talk

SUMMARY = "## Goal\nFind out what is wrong with the modules.\n\n## Key Decisions\nMend what is broken at once."


async def begun(store: AsyncSessionStore, name: str = "a") -> AsyncSession:
    """A session that is worth compacting."""
    session = await store.create_session(name, context_window=WINDOW, system_prompt="Be brief.")
    await session.append(talk(30))
    return session


async def statuses(store: AsyncSessionStore, name: str = "a") -> list[str]:
    """How the jobs of a lineage stand."""
    return [job.status for job in (await store.lineage(name)).compactions]


@on_a_loop
async def test_an_async_function_is_awaited_on_the_loop(database_url: str) -> None:
    asked_on: list[asyncio.AbstractEventLoop] = []

    async def model(prompt: str) -> str:
        asked_on.append(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return SUMMARY if "module 8" in prompt else "nothing"

    async with AsyncSessionStore.open(database_url) as store:
        result = await (await begun(store)).compact(policy=SMALL, summarizer=model)
        assert (result.status, result.outcome.summarizer) == ("committed", "model")
        assert result.summary is not None
        assert "Mend what is broken at once." in result.summary
        assert asked_on == [asyncio.get_running_loop()]


class Client:
    """A summariser that is an object with an async method."""

    name = "client"

    async def summarize(self, request: SummaryRequest) -> SummaryAnswer:
        """Answer after a while."""
        await asyncio.sleep(0)
        assert request.parts == 1
        return SummaryAnswer(SUMMARY, finish_reason="stop", usage={"completion_tokens": 20})


@pytest.mark.parametrize("named", [Client(), CallableSummarizer(lambda _prompt: asyncio.sleep(0, SUMMARY), name="client")])
@on_a_loop
async def test_an_object_and_a_wrapped_function_may_be_async_too(database_url: str, named: Any) -> None:
    async with AsyncSessionStore.open(database_url) as store:
        result = await (await begun(store)).compact(policy=SMALL, summarizer=named)
        assert (result.status, result.outcome.summarizer) == ("committed", "client")


@pytest.mark.parametrize(
    ("error", "kind"),
    [(ConnectionRefusedError("nobody there"), "unreachable"), (RuntimeError("Error code: 429"), "rate_limited")],
)
@on_a_loop
async def test_what_an_async_summariser_raises_is_a_failed_summary(database_url: str, error: Exception, kind: str) -> None:
    """FAIL-1: the same failure that a plain function's exception is, and the session stays as it was."""

    async def broken(_prompt: str) -> str:
        await asyncio.sleep(0)
        raise error

    async with AsyncSessionStore.open(database_url) as store:
        session = await begun(store)
        result = await session.compact(policy=SMALL, summarizer=broken)
        assert (result.status, result.outcome.failure) == ("deferred", kind)
        assert await session.context() == talk(30)
        assert await statuses(store) == ["deferred"]


@on_a_loop
async def test_a_summariser_that_runs_out_of_answers_is_a_failed_summary(database_url: str) -> None:
    """FAIL-1, for an exception that a future cannot carry."""
    answers = iter(())

    async with AsyncSessionStore.open(database_url) as store:
        result = await (await begun(store)).compact(policy=SMALL, summarizer=lambda _prompt: next(answers))
        assert (result.status, result.outcome.failure) == ("deferred", "failed")


def test_an_async_function_given_to_the_sync_front_is_a_failed_summary(database_url: str) -> None:
    """FAIL-1"""

    async def model(_prompt: str) -> str:
        return SUMMARY

    with SessionStore.open(database_url) as store:
        session = store.create_session("a", context_window=WINDOW)
        session.append(talk(30))
        result = session.compact(policy=SMALL, summarizer=model)
        assert (result.status, result.outcome.failure) == ("deferred", "failed")
        assert "coroutine" in result.reason


def test_an_async_hook_given_to_the_sync_front_is_refused(database_url: str) -> None:
    """ATOM-3: and the job is settled, so that the session can be compacted without it."""

    async def look(_plan: CompactionPlan) -> None:
        return None

    with SessionStore.open(database_url, hooks=CompactionHooks(before_compact=look)) as store:
        session = store.create_session("a", context_window=WINDOW)
        session.append(talk(30))
        with pytest.raises(TypeError, match="AsyncSessionStore"):
            session.compact(policy=SMALL)
        assert [job.status for job in store.lineage("a").compactions] == ["aborted"]


@on_a_loop
async def test_hooks_may_be_async(database_url: str) -> None:
    told: list[Any] = []

    async def before_compact(plan: CompactionPlan) -> None:
        await asyncio.sleep(0)
        told.append(plan.outcome)

    async def flush_memories(messages: Sequence[Any]) -> list[str]:
        await asyncio.sleep(0)
        return [f"there were {len(messages)} messages"]

    async def build_system_prompt(context: PromptContext) -> str:
        await asyncio.sleep(0)
        return "Be brief. Know: " + ", ".join(context.memories)

    async def after_commit(session_id: str, continuation_id: str) -> None:
        await asyncio.sleep(0)
        told.append((session_id, continuation_id))

    hooks = CompactionHooks(flush_memories, before_compact, after_commit, build_system_prompt)
    async with AsyncSessionStore.open(database_url, hooks=hooks) as store:
        result = await (await begun(store)).compact(policy=SMALL)
        assert result.system_prompt == "Be brief. Know: there were 30 messages"
        assert told == ["compact", ("a", "a~2")]


@on_a_loop
async def test_an_async_hook_may_veto(database_url: str) -> None:
    async def veto(_plan: CompactionPlan) -> None:
        raise CompactionVetoedError("not now")

    async with AsyncSessionStore.open(database_url, hooks=CompactionHooks(before_compact=veto)) as store:
        result = await (await begun(store)).compact(policy=SMALL)
        assert (result.status, result.reason) == ("aborted", "not now")


@on_a_loop
async def test_a_summariser_that_blocks_does_not_block_the_loop(database_url: str) -> None:
    """ATOM-4: the loop goes on, and other tasks write and read, while a plain function takes its time."""
    asked, answer = threading.Event(), threading.Event()

    def slow(_prompt: str) -> str:
        asked.set()
        assert answer.wait(60)
        return SUMMARY

    async with AsyncSessionStore.open(database_url) as store:
        session, other = await begun(store), await store.create_session("other")
        compacting = asyncio.create_task(session.compact(policy=SMALL, summarizer=slow))
        await until(asked.is_set)
        await turns_of_the_loop(100)
        assert await other.append(talk(2)) == [0, 1]
        assert await session.append({"role": "user", "content": "One more thing."}) == [30]
        assert (await other.pressure()).tokens > 0
        assert not compacting.done()
        answer.set()
        result = await compacting
        assert result.status == "committed"
        assert result.messages[-1]["content"] == "One more thing."


@on_a_loop
async def test_many_summarisers_that_block_keep_nobody_waiting(database_url: str) -> None:
    """CONC-3: more models at work than a machine has cores, and a session that only counts tokens is served."""
    asked, answer = threading.Semaphore(0), threading.Event()

    def slow(_prompt: str) -> str:
        asked.release()
        assert answer.wait(60)
        return SUMMARY

    async with AsyncSessionStore.open(database_url) as store:
        sessions = [await begun(store, f"s{index}") for index in range(12)]
        compacting = [asyncio.create_task(session.compact(policy=SMALL, summarizer=slow)) for session in sessions]
        for _ in sessions:
            await until(lambda: asked.acquire(blocking=False))
        other = await begun(store, "other")
        assert (await other.pressure()).tokens > 0
        answer.set()
        assert {result.status for result in await asyncio.gather(*compacting)} == {"committed"}


REQUEST = contextvars.ContextVar("REQUEST", default="nobody's")


@on_a_loop
async def test_a_plain_function_sees_the_context_variables_of_its_caller(database_url: str) -> None:
    seen: list[str] = []

    def model(_prompt: str) -> str:
        seen.append(REQUEST.get())
        return SUMMARY

    async with AsyncSessionStore.open(database_url) as store:
        session = await begun(store)
        REQUEST.set("mine")
        await session.compact(policy=SMALL, summarizer=model)
        assert seen == ["mine"]


@on_a_loop
async def test_a_compaction_that_is_cancelled_in_its_summary_settles_its_job(database_url: str) -> None:
    """ATOM-3 and CONC-3, for a model that is awaited and for one that sits in a thread: the job has an end, the session is as
    it was and can be compacted at once."""
    asked, answer = threading.Event(), threading.Event()

    async def never(_prompt: str) -> str:
        asked.set()
        await asyncio.Event().wait()
        return SUMMARY

    def slow(_prompt: str) -> str:
        asked.set()
        answer.wait(60)
        return SUMMARY

    async with AsyncSessionStore.open(database_url) as store:
        session = await begun(store)
        models: list[Any] = [never, slow]
        for model in models:
            asked.clear()
            task = asyncio.create_task(session.compact(policy=SMALL, summarizer=model))
            await until(asked.is_set)
            with pytest.raises(CompactionInProgressError):
                await session.compact(policy=SMALL)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        answer.set()
        jobs = (await store.lineage("a")).compactions
        assert [(job.status, job.error) for job in jobs] == [("aborted", "CancelledError")] * 2
        assert await session.context() == talk(30)
        assert (await session.compact(policy=SMALL)).status == "committed"


class CancellingDoor:
    """The door of a store, which cancels its caller as soon as the unit of a given number has begun."""

    def __init__(self, door: Any, at: int) -> None:
        self.door = door
        self.left = at

    def _count(self) -> None:
        self.left -= 1
        task = asyncio.current_task()
        if self.left == 0 and task is not None:
            task.cancel()

    async def settle_read(self, work: Any, **options: bool) -> Any:
        """Read, and count."""
        self._count()
        return await self.door.settle_read(work, **options)

    async def settle_write(self, work: Any, **options: bool) -> Any:
        """Write, and count."""
        self._count()
        return await self.door.settle_write(work, **options)


@on_a_loop
async def test_a_compaction_may_be_cancelled_in_any_of_its_transactions(sqlite_url: str, tmp_path: Path) -> None:
    """ATOM-1, ATOM-3, CONC-3: the session is the old one or its continuation is whole, no job is left running, no lock is
    held, and the old one can be compacted at once."""
    ends: list[str] = []
    async with AsyncSessionStore.open(sqlite_url) as store:
        database = store._driver.database
        door: Any = database._door
        while not ends or ends[-1] != "not cancelled":
            name = f"s{len(ends)}"
            session = await begun(store, name)
            cancelling: Any = CancellingDoor(door, len(ends) + 1)
            database._door = cancelling
            task = asyncio.create_task(session.compact(policy=SMALL))
            await asyncio.wait([task])
            database._door = door
            assert lock_is_free(f"{tmp_path}/store.db")
            jobs = await statuses(store, name)
            assert "running" not in jobs
            tip = await store.resume(name)
            if tip.generation == 2:
                assert (jobs, await tip.context()) == (["committed"], await (await store.session(f"{name}~2")).context())
                assert (await tip.context())[-4:] == talk(30)[-4:]
                ends.append("committed" if task.cancelled() else "not cancelled")
            else:
                assert task.cancelled()
                assert await tip.context() == talk(30)
                assert (await tip.compact(policy=SMALL)).status == "committed"
                ends.append(jobs[-1] if jobs else "nothing")
    # In the order of the transactions: before the claim, while it was held, from the commit on.
    assert sorted(set(ends), key=ends.index) == ["nothing", "aborted", "committed", "not cancelled"]


@on_a_loop
async def test_an_async_function_that_is_cancelled_before_it_is_awaited_is_closed(database_url: str) -> None:
    """Nothing warns later of a coroutine that was never awaited."""
    given = threading.Event()
    may_return = threading.Event()

    async def model(_prompt: str) -> str:
        return SUMMARY

    def late(prompt: str) -> Any:
        coroutine = model(prompt)
        given.set()
        assert may_return.wait(60)
        return coroutine

    async with AsyncSessionStore.open(database_url) as store:
        session = await begun(store)
        task = asyncio.create_task(session.compact(policy=SMALL, summarizer=late))
        await until(given.is_set)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        may_return.set()
        assert await statuses(store) == ["aborted"]


@on_a_loop
async def test_a_deletion_during_a_compaction_wins_and_leaves_nothing_behind(database_url: str) -> None:
    async with AsyncSessionStore.open(database_url) as store:

        async def model(_prompt: str) -> str:
            await store.delete("a")
            return SUMMARY

        with pytest.raises(SessionNotFoundError):
            await (await begun(store)).compact(policy=SMALL, summarizer=model)
        assert await store.list_sessions() == []
        assert list(await store.doctor()) == []
