"""Failures of a server that go away by themselves are waited for; what nobody can know is said by name."""
from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection, event
from sqlalchemy.engine import make_url

from sessionstore import (
    AsyncSessionStore,
    CommitUnknownError,
    SessionStore,
    StoreLockedError,
    StoreUnavailableError,
)
from sessionstore.storage.async_door import AsyncDatabase
from sessionstore.storage.engines import Database
from tests.store.conversations import talk

HELLO = {"role": "user", "content": "Hello."}


def administer(url: str, statement: str) -> None:
    address = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(statement.encode())


class Failing:
    """A unit of work that fails in the database the first times, and then tells how often it ran."""

    def __init__(self, statement: str, *, times: int = 2) -> None:
        self.statement = statement
        self.times = times
        self.runs = 0

    def __call__(self, connection: Connection) -> int:
        self.runs += 1
        connection.exec_driver_sql("CREATE TABLE IF NOT EXISTS counted (run INTEGER)")
        connection.exec_driver_sql(f"INSERT INTO counted VALUES ({self.runs})")
        if self.runs <= self.times:
            connection.exec_driver_sql(self.statement)
        return self.runs


RAISES = "DO $$ BEGIN RAISE EXCEPTION 'told to' USING ERRCODE = '{}'; END $$"
PASSING = {
    "a serialization failure": RAISES.format("40001"),
    "a deadlock": RAISES.format("40P01"),
    "a connection that an administrator ended": "SELECT pg_terminate_backend(pg_backend_pid())",
    "a server that is starting": RAISES.format("57P03"),
    "a lost connection": RAISES.format("08006"),
}


def counted(connection: Connection) -> list[int]:
    return [row[0] for row in connection.exec_driver_sql("SELECT run FROM counted")]


@pytest.mark.parametrize("what", PASSING)
def test_a_unit_that_was_undone_is_run_again(what: str, postgres_url: str) -> None:
    """Once is all that is left of it."""
    database = Database(postgres_url)
    unit = Failing(PASSING[what])
    assert database.write(unit) == 3
    assert database.read(counted) == [3]
    database.close()


@pytest.mark.parametrize("driver", ["psycopg", "asyncpg"])
@pytest.mark.parametrize("what", PASSING)
def test_a_unit_that_was_undone_is_run_again_on_a_loop(what: str, driver: str, postgres_url: str) -> None:
    async def run() -> None:
        database = AsyncDatabase(postgres_url.replace("psycopg", driver))
        assert await database.write(Failing(PASSING[what])) == 3
        assert await database.read(counted) == [3]
        await database.close()

    asyncio.run(run())


def test_what_does_not_pass_is_not_tried_again(postgres_url: str) -> None:
    database = Database(postgres_url)
    unit = Failing(RAISES.format("53100"), times=9)
    with pytest.raises(StoreUnavailableError, match="run out of a resource"):
        database.write(unit)
    assert unit.runs == 1
    database.close()


def test_what_never_passes_is_given_up(postgres_url: str) -> None:
    """CONC-1: after the busy time-out it is a typed error."""
    database = Database(postgres_url, busy_timeout=0.2)
    with pytest.raises(StoreLockedError):
        database.write(Failing(RAISES.format("40001"), times=10**6))
    database.close()


def test_a_writer_gives_up_when_another_one_holds_the_session_too_long(postgres_url: str) -> None:
    """CONC-1"""
    with SessionStore.open(postgres_url) as store, SessionStore.open(postgres_url, busy_timeout=0.2) as hasty:
        store.create_session("a")

        def held(connection: Connection) -> None:
            connection.exec_driver_sql("UPDATE sessions SET flush_cursor = flush_cursor WHERE lineage_id = 'a'")
            with pytest.raises(StoreLockedError):
                hasty.session("a").append(HELLO)

        store._database.write(held)
        assert hasty.session("a").append(HELLO) == [0]


def test_a_server_that_was_never_reached_is_not_waited_for(postgres_url: str) -> None:
    """Its URL is more likely wrong than it is away."""
    with pytest.raises(StoreUnavailableError, match="does not answer"):
        SessionStore.open("postgresql+psycopg://localhost:1/nobody")
    url = make_url(postgres_url)
    with pytest.raises(StoreUnavailableError, match="does not exist"):
        SessionStore.open(url.set(database="nobody").render_as_string(hide_password=False))
    with pytest.raises(StoreUnavailableError, match="AsyncSessionStore"):
        SessionStore.open(postgres_url.replace("psycopg", "asyncpg"))


def before_commit(store: SessionStore, once: Callable[[Any], None]) -> None:
    """Do something with the driver's connection right before the next commit of a store."""
    waiting = [once]

    def act(connection: Connection) -> None:
        if waiting:
            waiting.pop()(connection.connection.dbapi_connection)

    event.listen(store._database._engine, "commit", act)


def committed_unheard(driver: Any) -> None:
    """The server commits, and its answer is lost."""
    driver.commit()
    driver.close()


def ended_before(driver: Any) -> None:
    """The connection is lost before the server has heard of the commit."""
    driver.close()


@pytest.mark.parametrize("lost", [committed_unheard, ended_before])
def test_an_append_whose_commit_nobody_heard_of_is_stored_once_by_its_client_id(
    postgres_url: str, lost: Callable[[Any], None]
) -> None:
    """IDEM-1"""
    with SessionStore.open(postgres_url) as store:
        session = store.create_session("a")
        before_commit(store, lost)
        assert session.append(talk(2), client_id=["x", "y"]) == [0, 1]
        assert session.context() == talk(2)


@pytest.mark.parametrize("lost", [committed_unheard, ended_before])
def test_without_client_ids_it_is_unknown_by_name(postgres_url: str, lost: Callable[[Any], None]) -> None:
    """IDEM-1: it is not repeated, and nobody says that it failed."""
    with SessionStore.open(postgres_url) as store:
        session = store.create_session("a")
        before_commit(store, lost)
        with pytest.raises(CommitUnknownError, match="read the session"):
            session.append([HELLO, {**HELLO, "id": 1}], client_id=[None, "y"])
        assert len(session.context()) == (2 if lost is committed_unheard else 0)


@pytest.mark.parametrize("lost", [committed_unheard, ended_before])
def test_a_flush_whose_commit_nobody_heard_of_is_stored_once(postgres_url: str, lost: Callable[[Any], None]) -> None:
    """FLUSH-1: it compares before it writes, so it may be repeated."""
    with SessionStore.open(postgres_url) as store:
        session = store.create_session("a")
        session.flush(talk(4))
        before_commit(store, lost)
        session.flush(talk(8))
        assert session.context() == talk(8)
        assert session.flush(talk(10)) == [8, 9]


def test_readers_outlive_the_end_of_every_connection(postgres_url: str) -> None:
    """A pool full of dead connections is no error that a caller sees."""
    others = "datname = current_database() AND pid <> pg_backend_pid()"
    ended = f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {others}"

    async def run() -> None:
        async with AsyncSessionStore.open(postgres_url) as store:
            session = await store.create_session("a")
            await session.append(talk(3))
            sessions = [await store.session("a") for _ in range(5)]
            await asyncio.gather(*(one.context() for one in sessions))
            administer(postgres_url, ended)
            assert await asyncio.gather(*(one.context() for one in sessions)) == [talk(3)] * 5
            administer(postgres_url, ended)
            assert await session.append(HELLO) == [3]

    asyncio.run(run())
