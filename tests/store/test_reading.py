"""Reading a session: its context, its last messages and the log, whatever was compacted."""
from __future__ import annotations

import threading

import pytest

from sessionstore import InvalidTargetError, SessionStore
from tests.store.conversations import WINDOW, Message, compacted, query_plans, sent_work, statements, talk


def test_history_gives_rows_by_number_both_ends_included(store: SessionStore) -> None:
    """LOG-1: also of what left the context, and nothing for numbers that the log doesn't have."""
    session = store.create_session("a", context_window=WINDOW)
    said = talk(30)
    session.append(said)
    continuation = compacted(session).session
    continuation.append(talk(2, start=30))
    for handle in (session, continuation):
        assert [row.message for row in handle.history(0, 29)] == said
        assert [row.seq for row in handle.history(28, 31)] == [28, 29, 30, 31]
        assert [row.kind for row in handle.history(29, 31)] == ["message", "summary", "message"]
        assert [row.seq for row in handle.history(5, 5)] == [5]
        assert [row.seq for row in handle.history(-3, 1)] == [0, 1]
        assert handle.history(6, 5) == handle.history(33, 99) == []


@pytest.mark.parametrize("huge", [2**63, -(2**63) - 1, 10**40])
def test_numbers_beyond_any_log_are_no_crash(store: SessionStore, huge: int) -> None:
    """Seqs come from people and programs: one that no log has is nothing, or a typed error."""
    session = store.create_session("a")
    session.append(talk(3))
    assert len(session.history(min(0, huge), max(2, huge))) == 3
    assert session.history(abs(huge), abs(huge)) == []
    assert len(session.last(abs(huge))) == 3
    for call in (session.rewind, session.expand, session.pin):
        with pytest.raises(InvalidTargetError):
            call(huge)
    session.unpin(huge)


@pytest.mark.parametrize("count", [0, 1, 2, 5, 7, 8, 29, 30, 999])
def test_the_last_messages_are_the_end_of_the_context_in_order(store: SessionStore, count: int) -> None:
    """READ-1: over the edges of spans too."""
    session = store.create_session("a", context_window=WINDOW)
    session.append(talk(30))
    assert session.last(count) == (session.context()[-count:] if count else [])
    continuation = compacted(session).session
    continuation.append(talk(2, start=40))
    assert continuation.last(count) == (continuation.context()[-count:] if count else [])
    assert session.last(count) == (session.context()[-count:] if count else [])
    assert session.last(-1) == []


def test_the_context_of_an_ended_generation_never_changes(store: SessionStore) -> None:
    """LIN-2: however the log grows after it, by appends, compactions, undos and rewinds."""
    session = store.create_session("a", context_window=WINDOW)
    frozen: dict[str, tuple[list[Message], int]] = {}

    def check() -> None:
        for name, (context, cursor) in frozen.items():
            assert store.session(name).context() == context
            assert store.session(name).record().flush_cursor == cursor == len(context)

    start = 0
    for move in ("compact", "undo", "compact", "rewind", "compact", "compact", "undo", "undo"):
        session.append(talk(20, start=start))
        start += 20
        old = session
        context = old.context()
        match move:
            case "compact":
                session = compacted(session).session
            case "undo":
                session = session.undo_compaction()
            case _:
                session = session.rewind(session.context_rows()[-5].seq)
        frozen[old.id] = (context, len(context))
        session.append({"role": "user", "content": "later"})
        check()
    assert len(frozen) == 8


def test_context_rows_and_context_are_one_to_one_with_the_cursor(store: SessionStore) -> None:
    """FLUSH-1: what is rendered is another thing."""
    session = store.create_session("a", context_window=WINDOW, system_prompt="You are a coder.")
    session.append(talk(30))
    continuation = compacted(session).session
    rows = continuation.context_rows()
    assert [row.message for row in rows] == continuation.context()
    assert len(rows) == continuation.record().flush_cursor
    assert sum(row.kind == "summary" for row in rows) == 1
    assert continuation.render("openai")[0]["role"] == "system"


def test_context_and_last_messages_walk_indexes_only(sqlite_store: SessionStore) -> None:
    """READ-1: on SQLite, which tells its plans: no scan of a table, no sorting, after compactions as before."""
    session = sqlite_store.create_session("a", context_window=WINDOW)
    session.append(talk(30))
    handles = [session, compacted(session).session]
    handles[1].append(talk(20, start=30))
    handles.append(compacted(handles[1]).session)
    for handle in handles:
        for read in (handle.context, handle.context_rows, lambda: handle.last(3), lambda: handle.history(3, 9)):  # noqa: B023 - called at once
            with statements(sqlite_store) as sent:
                assert read()
            plans = query_plans(sqlite_store, sent_work(sent))
            assert plans
            for plan in plans:
                assert "SCAN" not in plan, plan
                assert "TEMP B-TREE" not in plan, plan


def test_the_last_messages_cost_the_same_however_long_the_log_is(sqlite_store: SessionStore) -> None:
    """READ-1: counted in steps of SQLite's own machine, since time tells nothing."""
    steps: dict[int, int] = {}
    for length in (50, 5_000):
        session = sqlite_store.create_session(f"s{length}")
        session.append([{"role": "user", "content": "x"}] * length)
        with statements(sqlite_store) as sent:
            session.last(5)
        (query,) = sent_work(sent)

        count = 0

        def tick() -> int:
            nonlocal count
            count += 1
            return 0

        def run(connection: object, query: str = query) -> None:
            driver = connection.connection.dbapi_connection  # type: ignore[attr-defined]  # the driver's own, which counts steps
            driver.set_progress_handler(tick, 1)
            driver.execute(query).fetchall()
            driver.set_progress_handler(None, 0)

        sqlite_store._database.read(run)
        steps[length] = count
    assert steps[5_000] <= steps[50] + 20


def test_a_reader_sees_one_state_while_others_write(store: SessionStore) -> None:
    """READ-1, LIN-4: never a context without its rows, and a reader holds nobody up."""
    session = store.create_session("a", context_window=WINDOW)
    session.append(talk(30))
    done = threading.Event()
    seen: list[tuple[str, int, int]] = []

    def watch() -> None:
        while not done.is_set():
            tip = store.resume("a")
            rows = tip.context_rows()
            seen.append((tip.id, len(rows), sum(row.kind == "summary" for row in rows)))

    watcher = threading.Thread(target=watch)
    watcher.start()
    tip = session
    try:
        for turn in range(5):
            tip = compacted(tip).session
            for message in talk(24, start=100 + 24 * turn):
                tip.append(message)
    finally:
        done.set()
        watcher.join()
    assert seen
    for name, length, summaries in seen:
        assert summaries == (0 if name == "a" else 1)
        assert length >= (30 if name == "a" else 5)
