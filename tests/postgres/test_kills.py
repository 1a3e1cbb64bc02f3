"""ATOM-1 on a server: a kill of the worker, or of the server itself, leaves the old state or the new one."""
from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from random import Random

import pytest

from sessionstore import SessionStore
from tests.counters import PieceCounter
from tests.postgres.killed_compaction import compact_and_die
from tests.postgres_server import VARIABLE, PostgresServer, running_server, wait_for
from tests.store.conversations import SMALL, WINDOW, talk
from tests.store.test_kill import NURSERY, acknowledged_messages, assert_whole, killed_after

KILLS = 6
SERVER_KILLS = 4

@pytest.fixture
def own_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresServer]:
    """A server that may be killed, whatever the environment names for the other tests."""
    monkeypatch.delenv(VARIABLE, raising=False)
    server = running_server()
    yield server
    server.stop()


def contexts(url: str) -> str:
    """Everything that a store holds of the lineage but its jobs, as text."""
    with SessionStore.open(url, counter=PieceCounter()) as store:
        trace = store.lineage("a")
        told = [(one.session_id, one.end_reason, store.session(one.session_id).context()) for one in trace.sessions]
        return json.dumps([told, [row.body for row in store.resume("a").history(0, 10**6)]])


def compacted_by_a_process(url: str, at: int) -> int | None:
    """Have a process compact that is to die before its n-th statement; gives how many it sent, None when it died."""
    receiver, sender = NURSERY.Pipe(duplex=False)
    worker = NURSERY.Process(target=compact_and_die, args=(url, at, sender))
    worker.start()
    sender.close()
    with receiver:
        try:
            sent: int | None = receiver.recv()
        except EOFError:
            sent = None
    worker.join()
    assert worker.exitcode == (-signal.SIGKILL if sent is None else 0)
    return sent


def test_a_worker_killed_before_any_statement_of_a_compaction_leaves_the_old_state_or_the_new_one(
    postgres_server: PostgresServer, postgres_url: str
) -> None:
    with SessionStore.open(postgres_url) as store:
        store.create_session("a", context_window=WINDOW).append(talk(30))
    NURSERY.set_forkserver_preload(["tests.store.killed_writer", "tests.postgres.killed_compaction"])
    old, whole = contexts(postgres_url), postgres_server.copy_database(postgres_url)
    steps = compacted_by_a_process(whole, -1)
    new = contexts(whole)
    assert new != old
    assert steps is not None
    found = set()
    for step in range(steps):
        copy = postgres_server.copy_database(postgres_url)
        assert compacted_by_a_process(copy, step) is None
        state = contexts(copy)
        # Times are part of no message, so a compaction that was carried out is the same each time.
        assert state in (old, new), f"killed before statement {step}"
        found.add(state)
        postgres_server.drop_database(copy)
    postgres_server.drop_database(whole)
    assert found == {old, new}


def test_writers_killed_at_random_leave_whole_states(postgres_url: str) -> None:
    """LOG-1, LIN-4: what a killed writer was told is stored is there."""
    chance, now = Random(7), time.time()
    with SessionStore.open(postgres_url, counter=PieceCounter()) as store:
        store.create_session("a", context_window=WINDOW)
    expected: dict[int, str] = {}
    generations: list[str] = []
    for turn in range(1, KILLS + 1):
        lines = killed_after(postgres_url, turn, chance.randint(2, 12), chance.uniform(0, 0.3))
        expected |= acknowledged_messages(lines)
        generations += [line.partition(" ")[2] for line in lines if line.startswith(("compact", "undo"))]

        def an_hour_later(hours: int = turn) -> float:
            return now + 3_600 * hours

        with SessionStore.open(postgres_url, counter=PieceCounter(), clock=an_hour_later) as store:
            assert_whole(store, expected, generations)
            store.resume("a").compact(policy=SMALL)
            assert not [job for job in store.lineage("a").compactions if job.status == "running"]
    assert expected
    assert generations


def test_a_server_that_is_killed_loses_nothing_and_its_clients_go_on(own_server: PostgresServer) -> None:
    """The writer waits for the server to come back; what it was told is stored, and every state is whole."""
    url = own_server.new_database()
    told: dict[int, str] = {}
    opened: list[str] = []
    with SessionStore.open(url, counter=PieceCounter()) as store:
        session = store.create_session("a", context_window=WINDOW)
        for turn in range(SERVER_KILLS):
            session.append(talk(20, start=100 * turn))
            session = store.resume("a")
            summaries = 0

            def die_and_come_back(_prompt: str) -> str:
                nonlocal summaries
                summaries += 1
                own_server.kill()
                own_server.start()
                wait_for(url)
                return "The modules were looked at one by one."

            result = session.compact(policy=SMALL, summarizer=die_and_come_back)
            assert (result.status, summaries) == ("committed", 1), result.reason
            session = result.session
            opened.append(session.id)
            message = {"role": "user", "content": f"after the kill {turn}"}
            own_server.kill()
            own_server.start()
            (seq,) = session.append([message], client_id=[f"turn {turn}"])
            told[seq] = str(message["content"])
        assert_whole(store, told, opened)
    own_server.drop_database(url)
