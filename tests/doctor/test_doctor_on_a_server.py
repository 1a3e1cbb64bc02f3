"""OPS-1 on a server: the same faults are found there by the same codes, and the same of them are mended."""
from __future__ import annotations

import pytest

from sessionstore import SessionStore
from tests.counters import PieceCounter
from tests.databases import outside
from tests.doctor.planting import LINEAGE
from tests.doctor.test_doctor import DAMAGE, OTHER, codes
from tests.postgres_server import PostgresServer
from tests.store.conversations import WINDOW, compacted, talk

OF_SQLITE = ("search_blocks", "DROP TABLE search_index", "CREATE TRIGGER")
"""Parts of statements that damage what only SQLite has."""

OF_A_SERVER = [
    ("search_index_stale", "DELETE FROM search_documents WHERE seq > 3", True),
]
COMMON = list({one[0]: one for one in reversed(DAMAGE) if not any(part in one[1] for part in OF_SQLITE)}.values())
"""One fault of each code."""


@pytest.fixture
def healthy(postgres_url: str) -> str:
    """The URL of a database with one lineage of three generations and a title, which each fault gets a copy of."""
    with SessionStore.open(postgres_url, counter=PieceCounter(), search_index=True) as store:
        session = store.create_session(LINEAGE, title="Fix auth", context_window=WINDOW, system_prompt="You are careful.")
        session.append(talk(30))
        session = compacted(session).session
        session.append(talk(20, start=30))
        compacted(session).session.append(talk(2, start=50))
        store.create_session(OTHER)
        assert list(store.doctor()) == []
    return postgres_url


def test_each_fault_is_found_by_its_code_and_mended_where_that_needs_no_model(
    healthy: str, postgres_server: PostgresServer
) -> None:
    for code, damage, curable in (*COMMON, *OF_A_SERVER):
        url = postgres_server.copy_database(healthy)
        with outside(url) as connection:
            connection.exec_driver_sql(damage)
        with SessionStore.open(url, counter=PieceCounter()) as store:
            report = store.doctor()
            assert code in codes(report), damage
            assert not report.is_healthy
            repaired = [finding for finding in store.doctor(repair=True) if finding.code == code]
            assert [finding.repaired for finding in repaired] == [curable] * len(repaired), damage
            assert repaired, damage
            left = store.doctor()
            assert (code in codes(left)) is not curable, damage
            assert left.is_healthy or not curable, damage
        postgres_server.drop_database(url)
