"""A cancelled call is stored whole or not at all, and leaves no lock behind."""
from __future__ import annotations

import asyncio
import random
import threading
from pathlib import Path

import aiosqlite
import pytest
from sqlalchemy import Connection

from sessionstore import AsyncSessionStore, SessionStore
from sessionstore.storage.async_door import AsyncDatabase
from sessionstore.storage.engines import Database
from tests.aio.looping import holding_the_lock, lock_is_free, on_a_loop, turns_of_the_loop, until
from tests.store.conversations import talk


@on_a_loop
async def test_a_hop_a_statement_strands_the_write_lock_when_it_is_cancelled(tmp_path: Path) -> None:
    """Why a unit of work is one hop: the statement that was sent goes on in its thread, and whoever would end the
    transaction is gone."""
    path = f"{tmp_path}/naive.db"
    async with aiosqlite.connect(path, isolation_level=None) as connection:
        await connection.execute("CREATE TABLE rows (value)")

        async def write() -> None:
            await connection.execute("BEGIN IMMEDIATE")
            try:
                await connection.execute("INSERT INTO rows VALUES (1)")
                await connection.execute("COMMIT")
            except BaseException:
                await connection.execute("ROLLBACK")
                raise

        task = asyncio.create_task(write())
        await turns_of_the_loop(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await connection.execute("SELECT 1")  # everything that was sent before is over
        assert not lock_is_free(path)


@on_a_loop
async def test_the_door_leaves_no_lock_whenever_it_is_cancelled(tmp_path: Path) -> None:
    """CONC-3: the same, through the door, cancelled at every turn of the loop."""
    path = f"{tmp_path}/door.db"
    database = AsyncDatabase(f"sqlite:///{path}")
    await database.write(lambda c: c.exec_driver_sql("CREATE TABLE rows (value)").close())
    for count in range(40):
        task = asyncio.create_task(database.write(lambda c: c.exec_driver_sql("INSERT INTO rows VALUES (1)").close()))
        await turns_of_the_loop(count)
        task.cancel()
        await asyncio.wait([task])
        assert lock_is_free(path)
    await database.close()


class Gate:
    """A unit of work that says when it has begun, and ends when it may."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.may_end = threading.Event()

    def __call__(self, connection: Connection) -> str:
        connection.exec_driver_sql("INSERT INTO rows VALUES (7)")
        self.begun.set()
        assert self.may_end.wait(60)
        return "done"


def rows(connection: Connection) -> int:
    """How many rows are stored."""
    return int(connection.exec_driver_sql("SELECT count(*) FROM rows").scalar_one())


@on_a_loop
async def test_a_cancelled_unit_ends_before_the_cancellation_is_raised(tmp_path: Path) -> None:
    """CONC-3, also when it is cancelled again while it settles."""
    database = AsyncDatabase(f"sqlite:///{tmp_path}/x.db")
    await database.write(lambda c: c.exec_driver_sql("CREATE TABLE rows (value)").close())
    gate = Gate()
    task = asyncio.create_task(database.write(gate))
    await until(gate.begun.is_set)
    for _ in range(3):
        task.cancel()
        await turns_of_the_loop(5)
        assert not task.done()
    waiting = asyncio.create_task(database.write(lambda c: c.exec_driver_sql("INSERT INTO rows VALUES (8)").close()))
    await turns_of_the_loop(5)
    waiting.cancel()  # it waits for its turn, so it never begins, and needn't wait for the other one
    with pytest.raises(asyncio.CancelledError):
        await waiting
    gate.may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await database.read(rows) == 1
    await database.close()


@on_a_loop
async def test_a_cancelled_caller_that_asks_learns_what_was_committed(tmp_path: Path) -> None:
    database = AsyncDatabase(f"sqlite:///{tmp_path}/x.db")
    await database.write(lambda c: c.exec_driver_sql("CREATE TABLE rows (value)").close())
    gate = Gate()
    task = asyncio.create_task(database.settle_write(gate))
    await until(gate.begun.is_set)
    task.cancel()
    gate.may_end.set()
    settled = await task
    assert settled.value == "done"
    assert isinstance(settled.cancelled, asyncio.CancelledError)
    await database.close()


def left_open(connection: Connection) -> int:
    """Transactions that nobody goes on with, on a server."""
    asked = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'"
    return int(connection.exec_driver_sql(asked.replace("%", "%%")).scalar_one())


@on_a_loop
async def test_the_door_to_a_server_settles_too(postgres_url: str) -> None:
    """CONC-3 on PostgreSQL, cancelled at every turn of the loop; also what was committed is told to whoever asks."""
    database, watching = AsyncDatabase(postgres_url), Database(postgres_url)
    await database.write(lambda c: c.exec_driver_sql("CREATE TABLE rows (value integer)").close())
    for count in range(60):
        task = asyncio.create_task(database.write(lambda c: c.exec_driver_sql("INSERT INTO rows VALUES (1)").close()))
        await turns_of_the_loop(count % 20)
        await asyncio.sleep(count / 30_000)
        task.cancel()
        await asyncio.wait([task])
        assert watching.read(left_open) == 0
    begun = await database.read(rows)
    gate = Gate()
    asking = asyncio.create_task(database.settle_write(gate))
    asyncio.get_running_loop().call_later(0.05, asking.cancel)
    gate.may_end.set()
    assert (await asking).value == "done"
    with pytest.raises(ZeroDivisionError):
        await database.write(fail)
    assert await database.read(rows) == begun + 1
    await database.close()
    watching.close()


def fail(connection: Connection) -> float:
    """Write, and then fail."""
    connection.exec_driver_sql("INSERT INTO rows VALUES (2)")
    return 1 / 0


@on_a_loop
async def test_a_unit_that_fails_is_rolled_back_whatever_it_raises(tmp_path: Path) -> None:
    """An exception that no future can carry must not leave its caller waiting for ever."""
    database = AsyncDatabase(f"sqlite:///{tmp_path}/x.db")
    await database.write(lambda c: c.exec_driver_sql("CREATE TABLE rows (value)").close())

    def stop(connection: Connection) -> None:
        connection.exec_driver_sql("INSERT INTO rows VALUES (2)")
        raise StopIteration

    with pytest.raises(ZeroDivisionError):
        await database.write(fail)
    with pytest.raises(RuntimeError) as caught:  # what a coroutine makes of it
        await database.write(stop)
    assert isinstance(caught.value.__cause__, StopIteration)
    assert await database.read(rows) == 0
    await database.close()


@on_a_loop
async def test_of_a_thousand_cancelled_appends_none_is_half_there_and_none_holds_the_lock(
    sqlite_url: str, tmp_path: Path
) -> None:
    """CONC-3: each turn of three messages is stored whole or not at all; what wasn't cancelled in time is there."""
    moments = random.Random(5)
    raised: set[int] = set()
    stored: set[int] = set()

    async def append(store: AsyncSessionStore, index: int) -> None:
        session = await store.session(f"s{index % 5}")
        try:
            seqs = await session.append([{"role": "user", "content": "x" * 500, "turn": index} for _ in range(3)])
        except asyncio.CancelledError:
            raised.add(index)
            raise
        assert len(seqs) == 3
        stored.add(index)

    async with AsyncSessionStore.open(sqlite_url) as store:
        for name in range(5):
            await store.create_session(f"s{name}")
        for start in range(0, 1_000, 10):
            tasks = [asyncio.create_task(append(store, start + number)) for number in range(10)]
            for task in tasks:
                await turns_of_the_loop(moments.randrange(6))
                if moments.random() < 0.3:
                    await asyncio.sleep(moments.random() * 0.002)
                task.cancel()
            await asyncio.wait(tasks)
            assert lock_is_free(f"{tmp_path}/store.db")
        counts = dict.fromkeys(range(1_000), 0)
        for name in range(5):
            session = await store.session(f"s{name}")
            turns = [message["turn"] for message in await session.context()]
            assert turns == [turn for turn in turns[::3] for _ in range(3)]
            for turn in turns:
                counts[turn] += 1
    assert set(counts.values()) == {0, 3}
    assert all(counts[index] == 3 for index in stored)
    assert raised
    with SessionStore.open(sqlite_url, busy_timeout=0) as sync:
        sync.session("s0").append(talk(1))


@on_a_loop
async def test_a_cancelled_flush_leaves_a_handle_that_can_go_on(database_url: str) -> None:
    """FLUSH-1: whether the cancelled flush was stored or not, the next one brings the list to where it is."""
    async with AsyncSessionStore.open(database_url) as store:
        session = await store.create_session("a")
        said = talk(120)
        for count in range(1, 41):
            task = asyncio.create_task(session.flush(said[: 3 * count]))
            await turns_of_the_loop(count % 7)
            task.cancel()
            await asyncio.wait([task])
            await session.flush(said[: 3 * count])
        assert await session.context() == said


@on_a_loop
async def test_a_timeout_round_a_call_is_a_timeout(sqlite_url: str) -> None:
    """A cancellation that was put off still reaches whoever asked for it."""
    async with AsyncSessionStore.open(sqlite_url) as store:
        session = await store.create_session("a")
        with holding_the_lock(sqlite_url) as held:
            asyncio.get_running_loop().call_later(0.1, held.close)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.02):
                    await session.append(talk(2))
        assert await session.context() == talk(2)


def test_a_task_that_the_end_of_the_loop_cancels_settles_too(tmp_path: Path) -> None:
    """CONC-3: ``asyncio.run`` cancels every task at once at its end, those of a library included."""
    gate = Gate()
    database = AsyncDatabase(f"sqlite:///{tmp_path}/x.db")

    async def main() -> None:
        await database.write(lambda c: c.exec_driver_sql("CREATE TABLE rows (value)").close())
        task = asyncio.create_task(database.write(gate))
        await until(gate.begun.is_set)
        threading.Timer(0.05, gate.may_end.set).start()
        main.task = task  # type: ignore[attr-defined]  # kept, so that it isn't collected

    asyncio.run(main())
    assert gate.may_end.is_set()

    async def look() -> int:
        found = await database.read(rows)
        await database.close()
        return found

    assert asyncio.run(look()) == 1
