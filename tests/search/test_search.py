"""Searching: with an index, without one, and with one that is behind or damaged, the same is found."""
from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from sessionstore import AmbiguousSessionError, AsyncSessionStore, SessionNotFoundError, SessionStore
from sessionstore.domain.search_words import SearchQuery
from sessionstore.storage.search_rows import lineages_behind
from sessionstore.storage.search_schema import has_any_search_table
from tests.conftest import Clock
from tests.store.conversations import SMALL, WINDOW, compacted, talk

Found = list[tuple[str, int]]


@pytest.fixture(params=[True, False], ids=["index", "none"])
def either(database_url: str, clock: Clock, request: pytest.FixtureRequest) -> Iterator[SessionStore]:
    """A store with a search index, and one without."""
    with SessionStore.open(database_url, clock=clock, search_index=request.param) as opened:
        yield opened


@pytest.fixture
def indexed(database_url: str, clock: Clock) -> Iterator[SessionStore]:
    """A store with a search index."""
    with SessionStore.open(database_url, clock=clock, search_index=True) as opened:
        yield opened


def found(store: SessionStore, query: str, **asked: object) -> Found:
    return [(hit.lineage_id, hit.seq) for hit in store.search(query, **asked)]  # type: ignore[arg-type]  # passed on


def behind(store: SessionStore) -> list[tuple[str, int]] | None:
    """What the index lacks; None when it is out of order."""
    return store._database.read(lineages_behind)


def user(content: str) -> dict[str, str]:
    return {"role": "user", "content": content}


def call_of(command: str) -> dict[str, object]:
    function = {"name": "terminal", "arguments": json.dumps({"command": command})}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": function}]}


def test_texts_arguments_and_results_are_found_in_every_dialect(either: SessionStore) -> None:
    session = either.create_session("s")
    session.append(
        [
            user("look at src/auth.py"),
            call_of("cd x\nnpm test"),
            {"role": "tool", "tool_call_id": "c", "content": "17 failing"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "d", "name": "Read", "input": {"path": "a/file.rs"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "d", "content": "fn main"}]},
            {"type": "function_call", "call_id": "e", "name": "grep", "arguments": '{"pattern": "caf\\u00e9"}'},
            {"type": "function_call_output", "call_id": "e", "output": "no match"},
        ]
    )
    queries = ["src/auth.py", "npm", "terminal", "failing 17", "file.rs", "fn main", "café", "match"]
    assert [found(either, query) for query in queries] == [[("s", seq)] for seq in (0, 1, 1, 2, 3, 4, 5, 6)]


def test_documents_and_what_a_provider_ran_are_found(either: SessionStore) -> None:
    """By their names too, but not by what files look like in base64."""
    source = {"type": "text", "media_type": "text/plain", "data": "moor at 7"}
    plan = {"type": "document", "title": "plan.txt", "source": source}
    page = {"type": "search_result", "source": "u", "title": "tides", "content": [{"type": "text", "text": "high at noon"}]}
    session = either.create_session("s")
    session.append(
        [
            {"role": "user", "content": [plan, {"type": "text", "text": "read it"}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "d", "content": [page]}]},
            {"type": "mcp_call", "id": "m", "name": "berths", "arguments": '{"port": "Kiel"}', "output": "two are free"},
            {"type": "code_interpreter_call", "id": "c", "code": "depth = 12", "outputs": [{"logs": "dredged"}]},
            {"role": "user", "content": [{"type": "file", "file": {"filename": "map.pdf", "file_data": "cXVheQ" * 40}}]},
        ]
    )
    queries = ["moor", "plan.txt", "noon", "tides", "Kiel", "free", "berths", "depth", "dredged", "map.pdf", "cXVheQ"]
    assert [found(either, query) for query in queries] == [[("s", seq)] for seq in (0, 0, 1, 1, 2, 2, 2, 3, 3, 4)] + [[]]


def test_a_hit_says_where_it_is_and_shows_the_place(either: SessionStore, clock: Clock) -> None:
    session = either.create_session("s")
    session.append(user("x " * 300 + "the needle is here" + " y" * 300))
    (hit,) = either.search("NEEDLE")
    assert (hit.session_id, hit.lineage_id, hit.seq, hit.role, hit.kind) == ("s", "s", 0, "user", "message")
    assert hit.created_at == clock.at
    assert "the needle is here" in hit.snippet
    assert len(hit.snippet) < 260


def test_what_a_compaction_took_out_of_the_context_is_found_under_its_number(either: SessionStore) -> None:
    session = either.create_session("s", context_window=WINDOW)
    session.append([*talk(10), user("the port is 48213"), *talk(20, start=10)])
    continuation = compacted(session).session
    assert 10 not in [row.seq for row in continuation.context_rows()]
    assert found(either, "48213", lineage=continuation.id) == [("s", 10)]
    assert [hit.kind for hit in either.search("Request 9", derived=True)] != []
    assert {hit.kind for hit in either.search("module 9", lineage="s")} == {"message"}


def test_summaries_are_searched_only_when_asked_for(either: SessionStore) -> None:
    session = either.create_session("s", context_window=WINDOW)
    session.append(talk(30))
    result = session.compact(policy=SMALL, summarizer=_says_zebra)
    assert result.status == "committed", result.reason
    assert found(either, "zebrafish") == []
    (hit,) = either.search("zebrafish", derived=True)
    assert (hit.kind, hit.session_id) == ("summary", "s~2")


def _says_zebra(_text: str) -> str:
    return "## Goal\nKeep the zebrafish alive while the modules are looked at, one after the other."


def test_the_newest_come_first_and_pages_follow_each_other(either: SessionStore, clock: Clock) -> None:
    sessions = [either.create_session(f"s{number}") for number in range(3)]
    for index in range(30):
        if index % 4:
            clock.advance(1)
        sessions[index % 3].append(user(f"needle {index}"))
    everything = either.search("needle", limit=100)
    assert len(everything) == 30
    assert [hit.created_at for hit in everything] == sorted((hit.created_at for hit in everything), reverse=True)
    paged, page = [], either.search("needle", limit=7)
    while page:
        paged += page
        page = either.search("needle", limit=7, before=page[-1])
    assert paged == everything
    inside = either.search("needle", lineage="s1", limit=100)
    assert [hit.seq for hit in inside] == list(range(9, -1, -1))
    assert either.search("needle", lineage="s1", before=inside[3], limit=2) == inside[4:6]


def test_order_in_a_conversation_is_the_seq_when_the_clock_goes_back(either: SessionStore, clock: Clock) -> None:
    """LOG-2"""
    session = either.create_session("s")
    for _ in range(3):
        session.append(user("needle"))
        clock.advance(-100)
    assert found(either, "needle", lineage="s") == [("s", 2), ("s", 1), ("s", 0)]


def test_nothing_of_another_namespace_is_found(either: SessionStore) -> None:
    """SEC-1, LIN-1"""
    for name in ("a", "b"):
        either.create_session(name, namespace=f"team-{name}", title="Same").append(user("the needle"))
    assert found(either, "needle", namespace="team-a") == [("a", 0)]
    assert found(either, "needle", namespace="team-c") == []
    assert found(either, "needle", namespace="team-b", lineage="Same") == [("b", 0)]
    with pytest.raises(SessionNotFoundError):
        either.search("needle", namespace="team-a", lineage="b")
    with pytest.raises(AmbiguousSessionError):
        either.search("needle", lineage="Same")


@pytest.mark.parametrize(
    "query",
    ["", "  ", '"', '"needle', "needle*", "needle AND", "(needle", "needle OR x", "-needle", "^x", "🎉", "\x00", "\ud800 x"],
)
def test_a_query_is_text_and_never_an_expression(either: SessionStore, query: str) -> None:
    either.create_session("s").append(user("a needle or and x 🎉 words"))
    asks_for_nothing = not any(character.isalnum() or character == "🎉" for character in query)
    assert found(either, query) == ([] if asks_for_nothing else [("s", 0)])


def test_text_after_a_nul_and_beside_a_lone_surrogate_is_found(either: SessionStore) -> None:
    """LOG-3"""
    session = either.create_session("s")
    session.append_json('{"role": "user", "content": "W\\u0000s\\u0000 error\\u0000 1 \\ud83d tail \\u006eeedle"}')
    assert found(either, "error tail") == [("s", 0)]
    assert found(either, "needle") == [("s", 0)]
    either.search("tail")[0].snippet.encode("utf-8")


def test_a_limit_of_nothing_gives_nothing(either: SessionStore) -> None:
    either.create_session("s").append(user("needle"))
    assert either.search("needle", limit=0) == []
    assert either.search("needle", limit=-1) == []


def test_deleted_conversations_are_not_found_and_their_id_begins_anew(either: SessionStore) -> None:
    session = either.create_session("s")
    session.append([user(f"needle {index}") for index in range(100)])
    either.delete("s")
    assert found(either, "needle") == []
    either.create_session("s").append([user("other"), user("needle")])
    assert found(either, "needle") == [("s", 1)]
    assert found(either, "other") == [("s", 0)]


def test_forks_and_imports_are_indexed(indexed: SessionStore, tmp_path: Path) -> None:
    session = indexed.create_session("s")
    session.append([user(f"needle {index}") for index in range(100)])
    session.fork("f", at_seq=70)
    assert len(found(indexed, "needle", lineage="f", limit=200)) == 71
    assert behind(indexed) == []
    with SessionStore.open(f"sqlite:///{tmp_path}/other.db", search_index=True) as other:
        other.import_lines("".join(indexed.export("f", lineage=True)).splitlines())
        assert len(found(other, "needle", limit=200)) == 71
        assert behind(other) == []


def test_a_new_database_has_no_index_until_one_is_asked_for(database_url: str) -> None:
    for wanted, there in ((None, False), (True, True), (None, True), (False, False), (None, False)):
        with SessionStore.open(database_url, search_index=wanted) as store:
            assert store._database.read(has_any_search_table) is there


def test_rebuilding_makes_an_index_of_everything(store: SessionStore) -> None:
    """OPS-1"""
    for name in ("a", "b"):
        store.create_session(name).append([user(f"needle {index} in {name}") for index in range(700)])
    before = found(store, "needle", limit=2_000)
    assert store.rebuild_search_index() == 1_400
    assert behind(store) == []
    assert found(store, "needle", limit=2_000) == before
    assert store.rebuild_search_index() == 1_400


def test_an_index_that_fell_behind_catches_up_while_the_conversation_goes_on(store: SessionStore) -> None:
    session = store.create_session("s")
    session.append([user(f"needle {index}") for index in range(130)])
    with SessionStore.open(_url(store), search_index=True) as other:
        session = other.resume("s")
        assert behind(other) == [("s", -1)]
        lengths = []
        for _ in range(4):
            session.append(user("needle"))
            lengths.append(dict(behind(other) or []).get("s"))
            assert len(found(other, "needle", limit=500)) == 130 + len(lengths)
        assert lengths == [49, 99, None, None]


def _url(store: SessionStore) -> str:
    url: str = store._database._engine.url.render_as_string(hide_password=False)
    return url


DAMAGE = [
    "DROP TABLE search_index",
    "DROP TABLE search_blocks",
    "DROP TABLE search_index_data",
    "DROP TABLE search_index_docsize",
    "DROP TABLE search_index_idx",
    "DELETE FROM search_index_data",
    "DELETE FROM search_blocks",
    "DELETE FROM search_index_docsize",
]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_index_blocks_neither_appends_nor_searches_and_can_be_rebuilt(sqlite_url: str, damage: str) -> None:
    """OPS-1"""
    with SessionStore.open(sqlite_url, search_index=True) as store:
        store.create_session("s").append([user(f"needle {index}") for index in range(100)])
        store._database.write(lambda c: c.execute(text(damage)))
    with SessionStore.open(sqlite_url) as store:
        session = store.resume("s")
        assert session.append([user("needle one"), user("needle two")]) == [100, 101]
        assert session.flush([*session.context(), user("needle three")]) == [102]
        store.create_session("t").append(user("needle"))
        assert len(session.context()) == 103
        assert len(found(store, "needle", limit=500)) == 104
        assert len(found(store, "needle", lineage="s", limit=500)) == 103
        store.delete("t")
        assert store.rebuild_search_index() == 103
        assert behind(store) == []
        session.append(user("needle four"))
        assert behind(store) == []
        assert len(found(store, "needle", limit=500)) == 104


DAMAGE_OF_A_SERVER = [
    "DROP TABLE search_documents",
    "ALTER TABLE search_documents DROP COLUMN words",
    "INSERT INTO search_documents VALUES ('s', 1, ''), ('s', 2, '')",
    "ALTER TABLE search_documents ADD CONSTRAINT refusing CHECK (seq < 1)",
]


@pytest.mark.parametrize("driver", ["psycopg", "asyncpg"])
@pytest.mark.parametrize("damage", DAMAGE_OF_A_SERVER)
def test_a_damaged_index_of_a_server_blocks_nothing(postgres_url: str, damage: str, driver: str) -> None:
    """OPS-1: the append that meets the damage is run a second time, and survives it."""
    with SessionStore.open(postgres_url, search_index=True) as store:
        session = store.create_session("s")
        session.append(user("needle"))
        store._database.write(lambda c: c.execute(text(damage)))
        messages = [user("needle"), user("x")]
        if driver == "psycopg":
            assert session.append(messages) == [1, 2]
        else:
            assert asyncio.run(_append_on_a_loop(postgres_url.replace("psycopg", driver), messages)) == [1, 2]
        assert session.context() == [user("needle"), *messages]
        assert store.rebuild_search_index() == 3
        assert found(store, "needle") == [("s", 1), ("s", 0)]


async def _append_on_a_loop(url: str, messages: list[dict[str, str]]) -> list[int]:
    async with AsyncSessionStore.open(url) as store:
        return await (await store.session("s")).append(messages)


def test_an_append_is_one_statement_more_where_there_is_an_index(sqlite_url: str) -> None:
    counts = []
    for wanted in (False, True):
        with SessionStore.open(sqlite_url, search_index=wanted) as store:
            session = store.create_session()
            for _ in range(3):
                session.append(user("needle"))
            counts.append(_statements(store, partial(session.append, user("needle"))))
    assert counts[1] - counts[0] == 1


def _statements(store: SessionStore, work: Callable[[], object]) -> int:
    """How many statements that read or write rows the driver runs meanwhile."""
    seen: list[str] = []

    def trace(connection: Connection) -> None:
        driver = connection.connection.dbapi_connection
        driver.set_trace_callback(seen.append)  # type: ignore[union-attr]  # a SQLite connection

    store._database.read(trace)
    work()
    of_fts5 = ("--", "BEGIN", "COMMIT", "SAVEPOINT", "RELEASE", "PRAGMA")
    return len([statement for statement in seen if not statement.startswith(of_fts5)])


def test_the_index_and_a_reading_of_the_log_find_the_same_in_random_conversations(either: SessionStore) -> None:
    """OPS-1"""
    rng = random.Random(7)
    words = ["getUserName", "src/auth.py", "数据库", "timeout", "E4021", "café", "🎉", "8080", "x_y", "TimeoutError"]
    texts = {}
    for number in range(4):
        session = either.create_session(f"s{number}")
        for seq in range(60):
            said = " ".join(rng.choices(words, k=3))
            session.append(user(said))
            texts[f"s{number}", seq] = said
    for query in ["username", "auth", "数据", "time", "e4021 8080", "CAFÉ", "🎉 x_y", "error"]:
        expected = {place for place, said in texts.items() if SearchQuery.of(query).find(said) is not None}
        assert set(found(either, query, limit=1_000)) == expected
        assert expected
        inside = found(either, query, lineage="s2", limit=1_000)
        assert inside == sorted((place for place in expected if place[0] == "s2"), key=lambda place: -place[1])
