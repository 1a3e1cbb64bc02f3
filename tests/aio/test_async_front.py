"""The async front does what the sync one does, for any number of tasks on one loop."""
from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from sessionstore import (
    AsyncSessionStore,
    SessionExistsError,
    SessionNotFoundError,
    SessionStore,
    StaleCursorError,
    StoreLockedError,
    StoreUnavailableError,
)
from tests.aio.looping import holding_the_lock, lock_is_free, on_a_loop, turns_of_the_loop
from tests.conftest import Clock, sync_url
from tests.store.conversations import SMALL, WINDOW, talk


@on_a_loop
async def test_a_conversation_from_its_creation_to_its_continuation(database_url: str, clock: Clock) -> None:
    """FLUSH-3 and LIN-1 through the async front."""
    said = talk(30)
    async with AsyncSessionStore.open(database_url, clock=clock) as store:
        session = await store.create_session("a", title="First", context_window=WINDOW, system_prompt="Be brief.")
        assert await session.append(said[:2]) == [0, 1]
        assert await session.append_json('{"role": "user", "content": "x"}') == 2
        said.insert(2, {"role": "user", "content": "x"})
        assert await session.flush(said) == list(range(3, 31))
        assert (await session.pressure()).tokens > 2_000
        result = await session.compact(policy=SMALL)
        result.raise_for_status()
        assert result.session.id == "a~2"
        assert result.messages == await result.session.context()
        assert await result.session.flush(result.messages) == []
        with pytest.raises(StaleCursorError):
            await result.session.flush(said)
        assert [row.message for row in await result.session.history(0, 30)] == said
        assert (await store.resume("First")).id == "a~2"
        assert (await store.lineage("a")).compactions
        undone = await result.session.undo_compaction()
        assert await undone.context() == said
        assert (await undone.render())[0]["content"].startswith("Be brief.")


@on_a_loop
async def test_what_one_front_writes_the_other_reads(database_url: str) -> None:
    async with AsyncSessionStore.open(database_url) as store:
        await (await store.create_session("a")).append(talk(4))
    with SessionStore.open(sync_url(database_url)) as sync:
        assert sync.resume("a").context() == talk(4)
        sync.resume("a").append(talk(2, start=4))
    async with AsyncSessionStore.open(database_url) as store:
        assert await (await store.resume("a")).context() == talk(6)


@on_a_loop
async def test_a_store_is_opened_by_await_too(database_url: str) -> None:
    store = await AsyncSessionStore.open(database_url)
    await store.create_session("a")
    await store.close()
    async with await AsyncSessionStore.open(database_url) as again:
        assert (await again.session("a")).id == "a"


@on_a_loop
async def test_a_memory_database_lives_as_long_as_its_store() -> None:
    async with AsyncSessionStore.open("sqlite://") as store:
        sessions = [await store.create_session(str(index)) for index in range(5)]
        await asyncio.gather(*(session.append(talk(3)) for session in sessions))
        assert [await session.context() for session in sessions] == [talk(3)] * 5


@on_a_loop
async def test_errors_are_the_same_typed_ones(database_url: str, tmp_path: Path) -> None:
    async with AsyncSessionStore.open(database_url) as store:
        await store.create_session("a")
        with pytest.raises(SessionExistsError):
            await store.create_session("a")
        with pytest.raises(SessionNotFoundError):
            await store.resume("nobody")
    for url in (f"sqlite:///{tmp_path}/no/folder/x.db", "no url", "postgresql+psycopg://localhost:1/nobody", "sqlite://x/y"):
        with pytest.raises(StoreUnavailableError):
            await AsyncSessionStore.open(url)


@on_a_loop
async def test_a_reader_keeps_its_place(database_url: str) -> None:
    async with AsyncSessionStore.open(database_url) as store:
        session = await store.create_session("a", context_window=WINDOW)
        await session.append(talk(30))
        reader = session.reader("gateway")
        batch = await reader.read(limit=10)
        assert batch.messages == talk(10)
        await batch.commit()
        assert (await session.reader("gateway").read()).messages == talk(30)[10:]
        await session.compact(policy=SMALL)
        rotated = await reader.read()
        assert (rotated.rotated, rotated.session_id) == (True, "a~2")


@on_a_loop
async def test_an_export_imports_into_another_store(database_url: str, tmp_path: Path) -> None:
    """LIN-8 through the async front."""
    async with AsyncSessionStore.open(database_url) as store:
        session = await store.create_session("a", context_window=WINDOW)
        await session.append(talk(30))
        await session.compact(policy=SMALL)
        lines = [line async for line in store.export("a", lineage=True)]
    async with AsyncSessionStore.open(f"sqlite:///{tmp_path}/other.db") as other:
        await other.import_lines(lines)
        assert [line async for line in other.export("a", lineage=True)] == lines
        assert await other.delete("a") == "a"


@on_a_loop
async def test_many_tasks_append_through_one_handle(database_url: str) -> None:
    """CONC-1: every turn is there once, and no turn is torn apart by another."""
    async with AsyncSessionStore.open(database_url) as store:
        session = await store.create_session("a")
        turns = [talk(3, start=3 * index) for index in range(60)]
        seqs = await asyncio.gather(*(session.append(turn) for turn in turns))
        log = [row.message for row in await session.history(0, 1_000)]
        assert len(log) == 180
        for turn, written in zip(turns, seqs, strict=True):
            assert written == list(range(written[0], written[0] + 3))
            assert log[written[0] : written[0] + 3] == turn


@on_a_loop
async def test_independent_sessions_read_while_a_writer_waits_for_the_file(sqlite_url: str, tmp_path: Path) -> None:
    """CONC-3: a lock that another program holds keeps writers waiting, and nobody else."""
    async with AsyncSessionStore.open(sqlite_url) as store:
        waiting = await store.create_session("waiting")
        others = [await store.create_session(str(index)) for index in range(20)]
        with holding_the_lock(sqlite_url):
            writer = asyncio.create_task(waiting.append(talk(1)))
            for _ in range(5):
                assert await asyncio.gather(*(other.context() for other in others)) == [[]] * 20
            assert not writer.done()
        assert await writer == [0]
    assert lock_is_free(f"{tmp_path}/store.db")


@on_a_loop
async def test_a_writer_gives_up_after_the_busy_timeout_and_so_do_those_behind_it(sqlite_url: str) -> None:
    """CONC-1: then they get a typed error, and the next write works."""
    async with AsyncSessionStore.open(sqlite_url, busy_timeout=0.2) as store:
        session = await store.create_session("a")
        with holding_the_lock(sqlite_url):
            tried = await asyncio.gather(*(session.append(talk(1)) for _ in range(4)), return_exceptions=True)
            assert [type(error) for error in tried] == [StoreLockedError] * 4
        assert await session.append(talk(1)) == [0]


@on_a_loop
async def test_closing_waits_for_what_is_running(sqlite_url: str) -> None:
    store = await AsyncSessionStore.open(sqlite_url)
    session = await store.create_session("a")
    busy = [asyncio.create_task(session.append(talk(3))) for _ in range(30)]
    reading = [asyncio.create_task(session.context()) for _ in range(30)]
    await turns_of_the_loop(3)
    await asyncio.gather(store.close(), store.close())
    await asyncio.gather(*busy, *reading)
    with SessionStore.open(sqlite_url, busy_timeout=0) as sync:
        assert len(sync.resume("a").context()) == 90


@on_a_loop
async def test_a_handle_works_after_its_store_was_closed(database_url: str) -> None:
    store = await AsyncSessionStore.open(database_url)
    session = await store.create_session("a")
    await store.close()
    assert await session.append(talk(2)) == [0, 1]
    assert await session.context() == talk(2)
    await store.close()


@on_a_loop
async def test_the_task_forks_and_search_are_there_too(database_url: str) -> None:
    """STATE-1 through the async front."""
    async with AsyncSessionStore.open(database_url, search_index=True) as store:
        session = await store.create_session("a")
        await session.append(talk(4))
        await session.task.set_goal("Mend the modules.")
        await session.task.write_todos([{"id": "1", "content": "Look."}])
        await session.task.update_todo("1", "completed")
        copy = await session.fork("b", at_seq=1)
        assert await copy.context() == talk(2)
        assert await copy.task.goal == "Mend the modules."
        assert [todo["status"] for todo in await copy.task.todos] == ["completed"]
        assert [hit.seq for hit in await store.search("module_3", lineage="a")] == [3]
        assert not (await store.doctor()).findings


FORGETFUL = """
import asyncio, sys
from sessionstore import AsyncSessionStore

async def main():
    global store
    store = await AsyncSessionStore.open(sys.argv[1])
    session = await store.create_session("a")
    print(await session.append({"role": "user", "content": "x"}))

asyncio.run(main())
"""


def test_a_program_that_forgets_to_close_its_store_ends(database_url: str) -> None:
    """Threads that wait for work keep no process alive."""
    ended = subprocess.run(
        [sys.executable, "-c", FORGETFUL, database_url], capture_output=True, text=True, timeout=60, check=True
    )
    assert ended.stdout == "[0]\n"
