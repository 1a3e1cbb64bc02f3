"""Databases of the first release, which kept a ledger in the row of its job: they are upgraded in place."""
from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import Connection, text

from sessionstore import SessionStore
from sessionstore.compaction.claiming import LEASE_SECONDS
from sessionstore.domain.ledger import Ledger
from sessionstore.storage.schema import HEAD
from sessionstore.storage.tables import metadata
from tests.conftest import Clock
from tests.databases import outside
from tests.first_release import FIRST, insert_plainly, make_first_release, rows_plainly
from tests.store.conversations import SMALL, WINDOW, compacted, talk

LEDGER = Ledger(()).to_json()
SUMMARY = "The modules were looked at."


def everything(connection: Connection) -> dict[str, list[dict[str, Any]]]:
    """The rows of every table, those of a job with its ledger, wherever that is kept."""
    there = {table.name for table in metadata.sorted_tables if connection.dialect.has_table(connection, table.name)}
    rows = {name: rows_plainly(connection, name) for name in there - {"ledgers"}}
    apart = rows_plainly(connection, "ledgers") if "ledgers" in there else []
    found = {(row["lineage_id"], row["job_id"]): row["ledger"] for row in apart}
    for job in rows["compactions"]:
        job.setdefault("ledger", found.get((job["lineage_id"], job["job_id"])))
    return rows


def revision(connection: Connection) -> str:
    return str(connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one())


@pytest.fixture
def older(database_url: str, clock: Clock) -> str:
    """What the first release left: a compaction that was committed, one that runs, and one that was handed back."""
    with SessionStore.open(database_url, clock=clock) as store:
        for name in ("committed", "running", "queued"):
            session = store.create_session(name, title=name, context_window=WINDOW, system_prompt="You help.")
            session.append(talk(30))
            session.task.set_goal("G")
        compacted(store.resume("committed"))
    make_first_release(database_url)
    now = int(clock.at * 1_000_000)
    job = {
        "job_id": "job", "generation": 1, "trigger": "manual", "policy": "{}", "head": "[]", "middle": "[[3,20]]", "tail": "[]",
        "summary": SUMMARY, "ledger": json.dumps(LEDGER), "summarizer": "model", "degraded": False, "warnings": "[]",
        "attempts": 1, "fencing_token": 1, "created_at": now,
    }  # fmt: skip
    lease = {"lease_owner": "somebody", "lease_expires_at": now + int(LEASE_SECONDS * 1_000_000), "started_at": now}
    with outside(database_url) as connection:
        assert revision(connection) == FIRST
        insert_plainly(connection, "compactions", {**job, **lease, "lineage_id": "running", "status": "running"})
        insert_plainly(connection, "compactions", {**job, "lineage_id": "queued", "status": "queued"})
    return database_url


def test_every_row_is_there_after_the_upgrade_and_the_ledgers_have_a_table_of_their_own(older: str, clock: Clock) -> None:
    """SCHEMA-1"""
    with outside(older) as connection:
        before = everything(connection)
    SessionStore.open(older, clock=clock).close()
    with outside(older) as connection:
        assert revision(connection) == HEAD
        assert everything(connection) == before
        assert "ledger" not in rows_plainly(connection, "compactions")[0]
        assert [row["lineage_id"] for row in rows_plainly(connection, "ledgers")] == ["committed", "queued", "running"]


def test_an_upgraded_database_is_the_one_that_the_code_expects(older: str, clock: Clock) -> None:
    """SCHEMA-1, OPS-1"""
    with SessionStore.open(older, clock=clock) as store:
        assert list(store.doctor()) == []
        assert set(store.lineage("running", ledgers=True).ledgers) == {"job"}


def test_a_compaction_after_the_upgrade_goes_on_from_the_ledger_before_it(older: str, clock: Clock) -> None:
    """NEST-2: what was known before is known after."""
    with SessionStore.open(older, clock=clock) as store:
        (known,) = store.lineage("committed", ledgers=True).ledgers.values()
        session = store.resume("committed")
        session.append(talk(30, start=40))
        ledger = compacted(session).ledger
    assert ledger is not None
    old = {(entry.kind, entry.key) for entry in Ledger.from_json(known).entries}
    assert len(old) > 5
    assert old <= {(entry.kind, entry.key) for entry in ledger.entries}


def test_jobs_that_were_live_are_taken_over_after_the_upgrade(older: str, clock: Clock) -> None:
    """ATOM-1: a job's holder may be gone; what waits is taken by who comes first."""
    with SessionStore.open(older, clock=clock) as store:
        assert compacted(store.resume("queued")).job_id == "job"
        clock.advance(LEASE_SECONDS + 1)
        assert store.resume("running").compact(policy=SMALL).status == "committed"
        first, second = store.lineage("running", ledgers=True).compactions
        assert (first.status, first.summary, second.status) == ("interrupted", SUMMARY, "committed")
        assert set(store.lineage("running", ledgers=True).ledgers) == {second.job_id}


def test_the_doctor_settles_a_job_that_was_abandoned_before_the_upgrade(older: str, clock: Clock) -> None:
    """ATOM-3, OPS-1: what it had extracted goes, its summary stays."""
    with SessionStore.open(older, clock=clock) as store:
        clock.advance(LEASE_SECONDS + 1)
        assert [finding.code for finding in store.doctor(repair=True)] == ["stale_job"]
        trace = store.lineage("running", ledgers=True)
        assert (trace.compactions[0].status, trace.compactions[0].summary) == ("interrupted", SUMMARY)
        assert trace.ledgers == {}
        assert list(store.doctor()) == []
