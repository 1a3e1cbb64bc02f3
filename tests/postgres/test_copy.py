"""Moving a store between SQLite and PostgreSQL, in both directions, also when it is broken off and begun again."""
from __future__ import annotations

import signal

import pytest

from sessionstore import SessionExistsError, SessionStore, StoreUnavailableError
from sessionstore.formats.copying import CopyReport, copy_store
from sessionstore.storage.engines import Database
from sessionstore.storage.schema import prepare_schema
from tests.databases import SqliteFiles, outside
from tests.nursery import NURSERY
from tests.postgres.copied import copy_and_die, exports, fill
from tests.store.conversations import talk


def copied(source: str, target: str) -> CopyReport:
    reading, writing = Database(source), Database(target)
    try:
        prepare_schema(writing)
        return copy_store(reading, writing)
    finally:
        reading.close()
        writing.close()


def test_there_and_back_gives_equal_exports(
    sqlite_url: str, postgres_url: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """LIN-8, and what an export leaves out: the places of readers."""
    fill(sqlite_url)
    before = exports(sqlite_url)
    there = copied(sqlite_url, postgres_url)
    assert (there.copied, there.unchanged) == (len(before), 0)
    assert exports(postgres_url) == before
    back = SqliteFiles(tmp_path_factory.mktemp("back")).new()
    assert copied(postgres_url, back) == there
    assert exports(back) == before
    with SessionStore.open(back) as store:
        assert store.resume("rich").reader("gateway").read().rotated
        assert store.doctor().findings == []
        assert store.resume("rich").history(0, 3)[1].message == talk(2)[1]


def test_a_second_copy_changes_nothing_and_a_grown_conversation_is_brought_up_to_date(
    sqlite_url: str, postgres_url: str
) -> None:
    with SessionStore.open(sqlite_url) as store:
        for name in ("a", "b"):
            store.create_session(name).append(talk(3))
        assert copied(sqlite_url, postgres_url).copied == 2
        assert copied(sqlite_url, postgres_url) == CopyReport(copied=0, rows=0, unchanged=2)
        store.session("b").append(talk(2, start=3))
    again = copied(sqlite_url, postgres_url)
    assert (again.copied, again.unchanged) == (1, 1)
    assert exports(postgres_url) == exports(sqlite_url)


def test_a_conversation_that_went_another_way_is_left_alone(sqlite_url: str, postgres_url: str) -> None:
    for url, said in ((sqlite_url, talk(3)), (postgres_url, talk(3, start=1))):
        with SessionStore.open(url) as store:
            store.create_session("a").append(said)
    with pytest.raises(SessionExistsError):
        copied(sqlite_url, postgres_url)
    with SessionStore.open(postgres_url) as store:
        assert store.session("a").context() == talk(3, start=1)


def test_a_title_that_another_conversation_has_is_a_typed_error(sqlite_url: str, postgres_url: str) -> None:
    for url, name in ((sqlite_url, "a"), (postgres_url, "b")):
        with SessionStore.open(url) as store:
            store.create_session(name, title="The same")
    with pytest.raises(StoreUnavailableError, match="title"):
        copied(sqlite_url, postgres_url)


def test_rows_that_arrive_otherwise_are_not_kept(sqlite_url: str, postgres_url: str) -> None:
    """What is read back in the same transaction is compared."""
    with SessionStore.open(sqlite_url) as store:
        store.create_session("a").append(talk(3))
    with SessionStore.open(postgres_url):
        pass
    with outside(postgres_url) as connection:
        connection.exec_driver_sql(
            "CREATE FUNCTION shorten() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.body = '{}'; RETURN NEW; END $$;"
            "CREATE TRIGGER shorten BEFORE INSERT ON messages FOR EACH ROW EXECUTE FUNCTION shorten()"
        )
    with pytest.raises(StoreUnavailableError, match="differ"):
        copied(sqlite_url, postgres_url)
    assert exports(postgres_url) == {}


@pytest.mark.parametrize(("after_lineages", "after_statements"), [(0, 9), (2, 0), (3, 20), (5, 4), (9, 11)])
@pytest.mark.parametrize("direction", ["to the server", "from the server"])
def test_a_copy_that_was_killed_goes_on_where_it_was(
    direction: str, after_lineages: int, after_statements: int, sqlite_url: str, postgres_url: str
) -> None:
    source, target = (sqlite_url, postgres_url) if direction == "to the server" else (postgres_url, sqlite_url)
    fill(source)
    worker = NURSERY.Process(
        target=copy_and_die,
        args=(source, target),
        kwargs={"after_lineages": after_lineages, "after_statements": after_statements},
    )
    worker.start()
    worker.join()
    assert worker.exitcode == -signal.SIGKILL
    before = exports(source)
    partial = exports(target)
    assert partial == {name: text for name, text in before.items() if name in partial}
    assert after_lineages <= len(partial) < len(before)
    report = copied(source, target)
    assert (report.unchanged, report.copied) == (len(partial), len(before) - len(partial))
    assert exports(target) == before
