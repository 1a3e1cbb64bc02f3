"""Several hosts in a URL, of which one takes writes; and the loss of that one under writers."""
from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.failover_writer import WAYS
from benchmarks.high_availability import both, fail_over, pair
from sessionstore import AsyncSessionStore, SessionStore, StoreUnavailableError
from tests.postgres_server import PostgresServer

HELLO = {"role": "user", "content": "Hello."}
Pair = tuple[PostgresServer, PostgresServer]


@pytest.fixture(scope="module")
def servers() -> Iterator[Pair]:
    """A primary and its synchronous standby."""
    with pair() as running:
        yield running


def alone(server: PostgresServer) -> str:
    return both(server, server, "postgres")


def test_a_store_finds_the_host_that_takes_writes(servers: Pair) -> None:
    """The standby stands first in the URL."""
    primary, standby = servers
    url = both(standby, primary, "postgres")
    with SessionStore.open(url) as store:
        assert store.create_session("a").append(HELLO) == [0]

    async def run(driver: str) -> None:
        async with AsyncSessionStore.open(url.replace("psycopg", driver)) as store:
            assert await (await store.session("a")).append(HELLO)

    for driver in ("psycopg", "asyncpg"):
        asyncio.run(run(driver))
    with SessionStore.open(alone(primary)) as store:
        assert store.session("a").context() == [HELLO] * 3


def test_where_nobody_takes_writes_a_typed_error_says_so(servers: Pair) -> None:
    primary, standby = servers
    SessionStore.open(alone(primary)).close()
    with pytest.raises(StoreUnavailableError, match="does not answer"):
        SessionStore.open(alone(standby))

    async def run(driver: str) -> None:
        async with AsyncSessionStore.open(alone(standby).replace("psycopg", driver)):
            pass

    for driver in ("psycopg", "asyncpg"):
        with pytest.raises(StoreUnavailableError, match="does not answer"):
            asyncio.run(run(driver))
    unasked = standby.url.render_as_string(hide_password=False)
    with SessionStore.open(unasked) as store, pytest.raises(StoreUnavailableError, match="target_session_attrs=read-write"):
        store.create_session("b")


def test_a_list_of_hosts_in_the_place_of_one_is_a_typed_error() -> None:
    """libpq's own way of writing it is none of SQLAlchemy's, and the message says how it is written here."""
    with pytest.raises(StoreUnavailableError, match=r"\?host=a:5432&host=b:5432"):
        SessionStore.open("postgresql+psycopg://postgres@a:5432,b:5432/agent")


def test_no_acknowledged_message_is_lost_with_the_primary(tmp_path: Path) -> None:
    """One writer of each way; the figures of a longer run are in docs/scaling.md."""
    found = fail_over(tmp_path, writers=len(WAYS), seconds=3.0)
    assert (found.lost, found.doubled, found.problems) == ([], [], [])
    assert not found.errors, "writers go on by themselves"
    assert found.before
    assert found.after
