"""The doctor: nothing to say of a healthy database, a code for every fault, and what it mends."""
from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from sessionstore import DoctorReport, SessionStore
from sessionstore.domain.health.finding import FINDING_CODES
from tests.conftest import Clock
from tests.counters import PieceCounter
from tests.doctor.planting import LINEAGE, answer, call, outside, plant_job, use_everything, without_unique_parents
from tests.store.conversations import SMALL, WINDOW, compacted, rows_of, talk


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "doctor.db"


@pytest.fixture
def doctored(path: Path, clock: Clock) -> Iterator[SessionStore]:
    """A store on a SQLite file, with a counter that costs nothing."""
    with SessionStore.open(f"sqlite:///{path}", clock=clock, counter=PieceCounter(), search_index=True) as store:
        yield store


@pytest.fixture
def chain(doctored: SessionStore) -> SessionStore:
    """The store with one lineage of three generations and a title."""
    session = doctored.create_session(LINEAGE, title="Fix auth", context_window=WINDOW, system_prompt="You are careful.")
    session.append(talk(30))
    session = compacted(session).session
    session.append(talk(20, start=30))
    session = compacted(session).session
    session.append(talk(2, start=50))
    doctored.create_session(OTHER)
    return doctored


def codes(report: DoctorReport) -> set[str]:
    return {finding.code for finding in report}


def test_a_database_in_which_everything_was_used_is_healthy(doctored: SessionStore) -> None:
    """OPS-1"""
    use_everything(doctored)
    before = rows_of(doctored)
    report = doctored.doctor()
    assert list(report) == []
    assert report.is_healthy
    assert report.lineages == 10
    assert rows_of(doctored) == before
    assert list(doctored.doctor(repair=True)) == []
    assert rows_of(doctored) == before


def test_it_is_healthy_on_every_kind_of_database(database_url: str, clock: Clock) -> None:
    """OPS-1, SCHEMA-1"""
    with SessionStore.open(database_url, clock=clock, counter=PieceCounter()) as store:
        use_everything(store)
        assert list(store.doctor(repair=True)) == []


def test_an_empty_database_is_healthy(doctored: SessionStore) -> None:
    assert list(doctored.doctor()) == []


SESSION = f"lineage_id = '{LINEAGE}' AND generation"
OTHER = "other"
DAMAGE = [
    ("ended_without_child", f"UPDATE sessions SET end_reason = 'compaction', ended_at = 1 WHERE {SESSION} = 3", True),
    ("open_with_child", f"UPDATE sessions SET end_reason = NULL, ended_at = NULL WHERE {SESSION} = 1", True),
    ("half_ended", f"UPDATE sessions SET end_reason = 'idle' WHERE {SESSION} = 3", True),
    ("missing_parent", f"UPDATE sessions SET parent_generation = 9 WHERE {SESSION} = 3", True),
    ("missing_parent", f"UPDATE sessions SET parent_generation = NULL WHERE {SESSION} = 2", True),
    ("parent_cycle", f"UPDATE sessions SET parent_generation = 3 WHERE {SESSION} = 1", True),
    ("tip_mismatch", "UPDATE lineages SET tip_generation = 2", True),
    ("tip_mismatch", f"DELETE FROM sessions WHERE lineage_id = '{LINEAGE}'", False),
    ("sequence_gap", "DELETE FROM messages WHERE seq = 7", False),
    ("sequence_gap", "DELETE FROM messages WHERE seq < 2", False),
    ("sequence_gap", "UPDATE messages SET seq = 100 WHERE seq = (SELECT max(seq) FROM messages)", False),
    ("row_of_other_generation", "UPDATE messages SET generation = 2 WHERE seq = 5", False),
    ("span_outside_log", f"UPDATE context_spans SET last_seq = 900 WHERE {SESSION} = 2 AND ordinal = 0", False),
    ("span_outside_log", f"DELETE FROM context_spans WHERE {SESSION} = 3 AND last_seq IS NULL", False),
    ("row_twice_in_context", f"UPDATE context_spans SET first_seq = 0 WHERE {SESSION} = 2 AND ordinal = 2", False),
    ("cursor_outside_context", f"UPDATE sessions SET flush_cursor = 3 WHERE {SESSION} = 3", True),
    ("cursor_outside_context", f"UPDATE sessions SET flush_cursor = 300 WHERE {SESSION} = 1", True),
    ("tail_digest_stale", f"UPDATE sessions SET tail_digest = 'x' WHERE {SESSION} = 3", True),
    ("meter_ahead", f"UPDATE sessions SET usage_seq = 900, usage_prompt = 1 WHERE {SESSION} = 3", True),
    ("meter_ahead", f"UPDATE sessions SET context_tokens_seq = 900 WHERE {SESSION} = 3", True),
    ("reader_ahead", f"INSERT INTO readers VALUES ('{LINEAGE}', 'gateway', 3, 900, 3)", True),
    ("reader_ahead", f"INSERT INTO readers VALUES ('{LINEAGE}', 'gateway', 3, 1, 900)", True),
    ("dangling_pin", "UPDATE lineages SET pins = '[1,900]'", True),
    ("two_summaries", "UPDATE messages SET kind = 'summary' WHERE seq = (SELECT max(seq) FROM messages)", False),
    ("summary_without_ledger", "DELETE FROM ledgers", False),
    ("summary_without_ledger", "DELETE FROM compactions", False),
    ("dangling_origin", "UPDATE messages SET kind = 'rendition', origin_seq = 900 WHERE seq = 5", False),
    ("dangling_origin", "UPDATE messages SET kind = 'rendition', origin_seq = NULL WHERE seq = 5", False),
    ("prompt_missing", "DELETE FROM system_prompts", False),
    ("job_mismatch", "UPDATE compactions SET opened_generation = NULL", False),
    ("job_mismatch", "UPDATE compactions SET status = 'aborted'", False),
    ("job_mismatch", "UPDATE compactions SET summary_seq = 1", False),
    ("title_mismatch", "DELETE FROM titles", True),
    ("title_mismatch", "UPDATE titles SET title = 'Another'", True),
    ("title_mismatch", f"UPDATE titles SET lineage_id = '{OTHER}'", True),
    ("unreadable_body", "UPDATE messages SET body = '{\"role\": \"user\"' WHERE seq = 5", False),
    ("unreadable_body", "UPDATE messages SET body = 'x' WHERE seq = (SELECT max(seq) FROM messages)", False),
    ("unreadable_row", "UPDATE sessions SET metadata = '{'", False),
    ("orphan_rows", "DELETE FROM lineages", False),
    ("orphan_rows", f"INSERT INTO ledgers VALUES ('{LINEAGE}', 'gone', '{{}}')", False),
    ("orphan_rows", "INSERT INTO task_states VALUES ('gone', 1, 'goal', '[]', 1, 1)", False),
    ("search_index_stale", "DELETE FROM search_blocks", True),
    ("search_index_stale", "DROP TABLE search_index", True),
    ("schema_drift", "DROP INDEX ix_sessions_activity", True),
    ("schema_drift", "DROP TABLE memories", False),
    ("schema_drift", "CREATE TRIGGER noisy AFTER INSERT ON readers BEGIN SELECT 1; END", False),
    ("schema_drift", "ALTER TABLE readers ADD COLUMN colour TEXT", False),
]


@pytest.mark.parametrize(("code", "damage", "curable"), DAMAGE)
def test_each_fault_is_found_by_its_code_and_mended_where_that_needs_no_model(
    chain: SessionStore, path: Path, code: str, damage: str, curable: bool
) -> None:
    """OPS-1"""
    with outside(path) as connection:
        connection.execute(damage)
    report = chain.doctor()
    assert code in codes(report)
    assert not report.is_healthy
    assert not any(finding.repaired for finding in report)
    repaired = [finding for finding in chain.doctor(repair=True) if finding.code == code]
    assert [finding.repaired for finding in repaired] == [curable] * len(repaired)
    assert repaired
    left = chain.doctor()
    assert (code in codes(left)) is not curable
    if curable:
        assert left.is_healthy


def test_a_repair_brings_back_what_the_damage_hid(chain: SessionStore, path: Path) -> None:
    """The same context as before, and the next append goes to the tip."""
    context = chain.resume(LINEAGE).context()
    with outside(path) as connection:
        connection.execute("UPDATE lineages SET tip_generation = 1")
        connection.execute(f"UPDATE sessions SET end_reason = 'compaction' WHERE {SESSION} = 3")
        connection.execute(f"UPDATE sessions SET flush_cursor = 0, tail_digest = NULL WHERE {SESSION} = 3")
    report = chain.doctor(repair=True)
    assert codes(report) >= {"tip_mismatch", "ended_without_child", "cursor_outside_context"}
    assert report.is_healthy
    session = chain.resume(LINEAGE)
    assert session.context() == context
    assert session.flush([*context, *talk(1, start=80)])
    assert list(chain.doctor()) == []


def test_two_continuations_of_one_session_are_a_fork(chain: SessionStore, path: Path) -> None:
    with outside(path) as connection:
        without_unique_parents(connection)
        connection.execute(f"UPDATE sessions SET parent_generation = 1 WHERE {SESSION} = 3")
    report = chain.doctor()
    assert {"fork", "schema_drift"} <= codes(report)


def test_a_session_is_not_reopened_while_somebody_holds_its_compaction(
    chain: SessionStore, path: Path, clock: Clock
) -> None:
    """Its holder may be about to write the continuation; once the lease has run out nobody can."""
    plant_job(path, generation=3, status="running", lease_expires_at=clock.at + 100)
    with outside(path) as connection:
        connection.execute(f"UPDATE sessions SET end_reason = 'compaction', ended_at = 1 WHERE {SESSION} = 3")
    assert [(one.code, one.repaired) for one in chain.doctor(repair=True)] == [("ended_without_child", False)]
    clock.advance(101)
    assert {(one.code, one.repaired) for one in chain.doctor(repair=True)} == {
        ("stale_job", True),
        ("ended_without_child", True),
    }
    assert list(chain.doctor()) == []


def test_a_queued_job_of_an_ended_session_is_stale(chain: SessionStore, path: Path) -> None:
    plant_job(path, generation=2, status="queued", lease_expires_at=None)
    assert codes(chain.doctor()) == {"stale_job"}
    assert chain.doctor(repair=True).is_healthy


def test_a_job_whose_lease_ran_out_is_stale_and_is_settled_as_interrupted(
    chain: SessionStore, path: Path, clock: Clock
) -> None:
    """ATOM-1"""
    plant_job(path, generation=3, status="running", lease_expires_at=clock.at + 100)
    assert list(chain.doctor()) == []
    clock.advance(101)
    assert codes(chain.doctor()) == {"stale_job"}
    assert chain.doctor(repair=True).is_healthy
    assert [job.status for job in chain.lineage(LINEAGE).compactions if job.job_id == "planted"] == ["interrupted"]
    assert list(chain.doctor()) == []


def test_a_queued_job_of_an_open_session_waits_and_is_no_fault(chain: SessionStore, path: Path, clock: Clock) -> None:
    plant_job(path, generation=3, status="queued", lease_expires_at=None)
    clock.advance(100_000)
    assert list(chain.doctor()) == []


def test_calls_and_results_without_a_partner_are_oddities_and_no_damage(doctored: SessionStore) -> None:
    """PAIR-3: a caller may write them, and every rendering mends them."""
    session = doctored.create_session(LINEAGE)
    session.append([call("dead"), *talk(2), answer("nobody"), *talk(2)])
    session.append([call("twice"), answer("twice"), call("twice"), answer("twice")])
    session.append([*talk(1), call("flying", "one", "two"), answer("flying")])
    report = doctored.doctor(repair=True)
    assert [(one.code, one.seq) for one in report] == [("call_without_result", 0), ("result_without_call", 3)]
    assert report.is_healthy


def test_a_damaged_page_is_reported_and_nothing_else_is_believed(chain: SessionStore, path: Path) -> None:
    chain.resume(LINEAGE).append(talk(200, start=60))
    chain.close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        page_size = connection.execute("PRAGMA page_size").fetchone()[0]
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'messages'").fetchone()[0]
    connection.close()
    with path.open("r+b") as file:
        file.seek((root - 1) * page_size)
        file.write(b"\xff" * 100)
    report = chain.doctor(repair=True)
    assert codes(report) == {"damaged_file"}
    assert not report.is_healthy


def test_every_code_of_a_fault_has_a_test() -> None:
    here = Path(__file__).read_text(encoding="utf-8")
    assert [code for code in FINDING_CODES if f'"{code}"' not in here] == []


def test_damage_in_one_lineage_hides_nothing_in_another(doctored: SessionStore, path: Path) -> None:
    """More lineages than a page holds; the first and the last are damaged."""
    for number in range(60):
        doctored.create_session(f"s{number:03}").append(talk(2))
    with outside(path) as connection:
        connection.execute("UPDATE sessions SET flush_cursor = 9 WHERE lineage_id IN ('s000', 's059')")
    report = doctored.doctor(repair=True)
    assert [(one.lineage_id, one.code, one.repaired) for one in report] == [
        ("s000", "cursor_outside_context", True),
        ("s059", "cursor_outside_context", True),
    ]
    assert report.lineages == 60


def test_small_policies_are_known_to_compact_the_chain(chain: SessionStore) -> None:
    assert [job.status for job in chain.lineage(LINEAGE).compactions] == ["committed", "committed"]
    assert SMALL.tail_messages == 4
