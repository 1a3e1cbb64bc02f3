"""Through pgbouncer in transaction mode, where consecutive transactions of a client meet different connections."""
from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from sessionstore import AsyncSessionStore, SessionStore, StoreUnavailableError
from tests.pooler import CONNECTIONS
from tests.store.conversations import SMALL, WINDOW, compacted, talk

CLIENTS = 4 * CONNECTIONS


def test_many_clients_append_flush_and_compact_over_few_connections(pooled_url: str) -> None:
    def converse(number: int) -> int:
        with SessionStore.open(pooled_url) as store:
            session = store.create_session(f"s{number}", context_window=WINDOW)
            for turn in range(15):
                session.append(talk(1, start=turn), client_id=f"turn {turn}")
            said = session.context()
            session.flush([*said, *talk(15, start=15)])
            continuation = compacted(session).session
            continuation.append(talk(3))
            return len(continuation.history(0, 1_000))

    with ThreadPoolExecutor(CLIENTS) as threads:
        assert set(threads.map(converse, range(CLIENTS))) == {15 + 15 + 1 + 3}


@pytest.mark.parametrize("driver", ["psycopg", "asyncpg"])
def test_many_tasks_do_so_on_a_loop(driver: str, pooled_url: str) -> None:
    async def converse(store: AsyncSessionStore, number: int) -> None:
        session = await store.create_session(f"s{number}", context_window=WINDOW)
        for turn in range(15):
            await session.append(talk(2, start=2 * turn))
            assert len(await session.context()) == 2 * turn + 2
        result = await session.compact(policy=SMALL)
        assert result.status == "committed"
        await result.session.flush([*result.messages, *talk(1)])

    async def run() -> None:
        async with AsyncSessionStore.open(pooled_url.replace("psycopg", driver)) as store:
            await asyncio.gather(*(converse(store, number) for number in range(CLIENTS)))
            assert len(await store.list_sessions()) == CLIENTS

    asyncio.run(run())


def test_another_pooler_is_refused(postgres_url: str) -> None:
    with pytest.raises(StoreUnavailableError, match="pooler=transaction"):
        SessionStore.open(f"{postgres_url}?pooler=session")
