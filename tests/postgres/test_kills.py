"""ATOM-1 on a server: a kill of a process at any point, or of the server itself, leaves the old state or the new one."""
from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from random import Random

import pytest

from sessionstore import SessionStore
from tests.counters import PieceCounter
from tests.databases import outside
from tests.kill.actions import ACTIONS
from tests.kill.test_kill_matrix import NOT_THE_STATE, check_reopened
from tests.nursery import NURSERY
from tests.postgres.killed_action import act_and_die
from tests.postgres_server import VARIABLE, PostgresServer, running_server, wait_for
from tests.store.conversations import SMALL, WINDOW, talk
from tests.store.test_kill import acknowledged_messages, assert_whole, killed_after

KILLS = 6
SERVER_KILLS = 4

@pytest.fixture
def own_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresServer]:
    """A server that may be killed, whatever the environment names for the other tests."""
    monkeypatch.delenv(VARIABLE, raising=False)
    server = running_server()
    yield server
    server.stop()


def state_of(url: str) -> dict[str, list[str]] | None:
    """Every row that a user would miss; None for a database without our tables."""
    with outside(url) as connection:
        names = [row[0] for row in connection.exec_driver_sql("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
        kept = sorted(set(names) - NOT_THE_STATE)
        return {name: sorted(repr(row) for row in connection.exec_driver_sql(f"SELECT * FROM {name}")) for name in kept} or None


def acted_by_a_process(url: str, action: str, at: int | None) -> list[str] | None:
    """Have a process act that is to die at its n-th point; gives the points it passed, None when it died."""
    receiver, sender = NURSERY.Pipe(duplex=False)
    worker = NURSERY.Process(target=act_and_die, args=(url, action, at, sender))
    worker.start()
    sender.close()
    with receiver:
        try:
            passed: list[str] | None = receiver.recv()
        except EOFError:
            passed = None
    worker.join()
    assert worker.exitcode == (0 if at is None else -signal.SIGKILL)
    return passed


@pytest.mark.parametrize("action", sorted(ACTIONS))
def test_killed_at_any_point_of_an_operation_a_process_leaves_the_old_state_or_the_new(
    action: str, postgres_server: PostgresServer, postgres_url: str
) -> None:
    """And the doctor finds nothing but the dead process's job, which it settles once the lease has run out."""
    ACTIONS[action].prepare(postgres_url)
    before, whole = state_of(postgres_url), postgres_server.copy_database(postgres_url)
    points = acted_by_a_process(whole, action, None)
    after = state_of(whole)
    assert before != after
    assert points
    found = []
    for number, point in enumerate(points):
        copy = postgres_server.copy_database(postgres_url)
        assert acted_by_a_process(copy, action, number) is None
        state = state_of(copy)
        assert state in (before, after), f"killed before {point!r}"
        found.append(state == after)
        if number % 4 == 0:
            check_reopened(copy, point, work=number % 8 == 0)
        postgres_server.drop_database(copy)
    postgres_server.drop_database(whole)
    assert found == sorted(found), "once the new state is there it stays"
    assert any(found), "a commit lies before the last point"
    assert not all(found)


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
