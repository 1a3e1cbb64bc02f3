"""The statements of the hot paths: how many there are, which indexes the server takes, and that they touch one lineage."""
from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection

from sessionstore import SessionStore
from sessionstore.storage.gauge_rows import open_gauges
from sessionstore.storage.job_rows import expired_jobs, waiting_jobs
from tests.conftest import Clock
from tests.postgres.watching import Sent, kinds, plan_of, sent_by
from tests.store.conversations import WINDOW, compacted, talk

HELLO = {"role": "user", "content": "Hello."}

# Thousands of lineages with some messages each, and one job: enough for the planner to prefer an index by itself.
CROWD = """
INSERT INTO lineages SELECT 'crowd-' || n, namespace, owner, source, NULL, metadata, 1, pins, 0, NULL, NULL, NULL, NULL, NULL,
    created_at + n, NULL FROM lineages, generate_series(1, 3000) n WHERE lineage_id = 'model';
INSERT INTO system_prompts SELECT 'crowd-' || n, 'digest', 'Be brief.', '{}' FROM generate_series(1, 3000) n;
INSERT INTO sessions SELECT 'crowd-' || n, generation, NULL, NULL, edge, model, context_window, profile, 'digest', flush_cursor,
    next_seq, start_seq, tail_digest, 0, warned_tier, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, started_at, updated_at + n,
    NULL, NULL, metadata FROM sessions, generate_series(1, 3000) n WHERE lineage_id = 'model';
INSERT INTO context_spans SELECT 'crowd-' || n, 1, 0, 0, NULL FROM generate_series(1, 3000) n;
INSERT INTO messages SELECT 'crowd-' || n, seq, 1, role, kind, NULL, NULL, NULL, NULL, created_at, body
    FROM messages, generate_series(1, 3000) n WHERE lineage_id = 'model';
INSERT INTO compactions (lineage_id, job_id, generation, trigger, status, policy, head, middle, tail, degraded, warnings,
    attempts, fencing_token, created_at)
    SELECT 'crowd-' || n, 'job', 1, 'manual', 'noop', '{}', '[]', '[]', '[]', false, '[]', 1, 1, 1
    FROM generate_series(1, 3000) n;
"""


@pytest.fixture
def crowded(postgres_url: str, clock: Clock) -> Iterator[SessionStore]:
    """A store with three thousand conversations of ten messages, and statistics of them."""
    with SessionStore.open(postgres_url, clock=clock) as store:
        store.create_session("model", context_window=WINDOW).append(talk(10))

        def fill(connection: Connection) -> None:
            for statement in CROWD.split(";"):
                if statement.strip():
                    connection.exec_driver_sql(statement)

        store._database.write(fill)
        store._database.write(lambda c: c.exec_driver_sql("ANALYZE").close())
        yield store


def assert_of_one_lineage(store: SessionStore, sent: list[Sent], *, lineage: str) -> None:
    """Every statement finds its rows by an index whose condition begins with the lineage."""
    looked = [one for one in sent if one.text != "COMMIT" and not one.text.startswith("INSERT")]
    assert looked
    for one in looked:
        for node in plan_of(store, one):
            assert node["Node Type"] not in ("Seq Scan", "Sort"), (one.text, node)
            if "Index Name" in node:
                assert f"lineage_id = '{lineage}'" in str(node["Index Cond"]), (one.text, node)


def test_an_append_is_two_statements_and_a_commit(crowded: SessionStore) -> None:
    session = crowded.session("crowd-7")
    for messages in ([HELLO], talk(40)):
        with sent_by(crowded) as sent:
            session.append(messages)
        assert kinds(sent) == ["UPDATE", "INSERT", "COMMIT"]
        assert_of_one_lineage(crowded, sent, lineage="crowd-7")


def test_an_append_with_a_client_id_is_no_more(crowded: SessionStore) -> None:
    """IDEM-1: what was never seen is written without a look; only what was is looked up."""
    session = crowded.session("crowd-7")
    with sent_by(crowded) as sent:
        session.append(HELLO, client_id="x")
    assert kinds(sent) == ["UPDATE", "INSERT", "COMMIT"]
    with sent_by(crowded) as sent:
        assert session.append(HELLO, client_id="x") == [10]
    assert kinds(sent)[:2] == ["UPDATE", "INSERT"]
    assert kinds(sent)[-1] == "COMMIT"
    assert_of_one_lineage(crowded, sent, lineage="crowd-7")


def test_an_append_is_one_statement_more_where_the_search_index_is_on(crowded: SessionStore) -> None:
    """Also for many messages, and for a flush."""
    SessionStore.open(crowded.url, search_index=True).close()
    session = crowded.session("crowd-7")
    session.append(HELLO)  # the index of the conversation catches up
    for messages in ([HELLO], talk(40)):
        with sent_by(crowded) as sent:
            session.append(messages, client_id=[f"{len(messages)} {place}" for place in range(len(messages))])
        assert kinds(sent) == ["UPDATE", "INSERT", "INSERT", "COMMIT"]
        assert_of_one_lineage(crowded, sent, lineage="crowd-7")
    said = session.context()
    session.flush(said)
    with sent_by(crowded) as sent:
        session.flush([*said, HELLO])
    assert kinds(sent) == ["UPDATE", "INSERT", "INSERT", "COMMIT"]
    assert [hit.seq for hit in crowded.search("hello", lineage="crowd-7", limit=1)] == [len(said)]


def test_a_later_flush_is_no_more_than_an_append(crowded: SessionStore) -> None:
    session = crowded.session("crowd-7")
    said = session.context()
    session.flush(said)
    said.append(HELLO)
    with sent_by(crowded) as sent:
        session.flush(said)
    assert kinds(sent) == ["UPDATE", "INSERT", "COMMIT"]
    assert_of_one_lineage(crowded, sent, lineage="crowd-7")


def test_a_context_and_its_end_are_one_round_trip_each(crowded: SessionStore) -> None:
    """READ-1, after a compaction too, when the context is several spans."""
    long = crowded.create_session("long", context_window=WINDOW)
    long.append(talk(60))
    several = compacted(long).session
    crowded._database.write(lambda c: c.exec_driver_sql("ANALYZE").close())
    for session in (crowded.session("crowd-7"), several):
        for read in (session.context, session.context_rows, lambda held=session: held.last(3)):
            with sent_by(crowded) as sent:
                assert read()
            assert [(kind, one.alone) for kind, one in zip(kinds(sent), sent, strict=True)] == [("SELECT", True)]
    for node in plan_of(crowded, sent[0]):
        assert node["Node Type"] != "Seq Scan", node


def test_the_end_of_a_context_reads_no_more_rows_than_it_gives(crowded: SessionStore) -> None:
    """READ-1, from each span: before a compaction and after it."""
    long = crowded.create_session("long", context_window=WINDOW)
    long.append(talk(400))
    sessions = [long, compacted(long).session]
    crowded._database.write(lambda c: c.exec_driver_sql("ANALYZE").close())
    for session in sessions:
        with sent_by(crowded) as sent:
            assert session.last(5) == session.context()[-5:]
        nodes = [node for node in plan_of(crowded, sent[0], carried_out=True) if node.get("Relation Name") == "messages"]
        assert nodes
        assert all(node["Actual Rows"] <= 5 for node in nodes)


def test_a_context_is_looked_up_by_lineage(crowded: SessionStore) -> None:
    session = crowded.session("crowd-7")
    with sent_by(crowded) as sent:
        session.context()
        session.last(2)
        session.history(2, 5)
    for one in sent:
        for node in plan_of(crowded, one):
            assert node["Node Type"] != "Seq Scan", (one.text, node)
            if "Index Name" in node:
                assert "lineage_id = " in str(node["Index Cond"]), (one.text, node)


def test_an_id_resolves_by_index(crowded: SessionStore) -> None:
    with sent_by(crowded) as sent:
        assert crowded.resume("crowd-1234").id == "crowd-1234"
    assert len(sent) <= 4
    assert_of_one_lineage(crowded, sent, lineage="crowd-1234")


def test_a_listing_and_the_scan_for_due_sessions_walk_the_index_of_tips(crowded: SessionStore) -> None:
    """They look at many lineages, a page at a time, and at no message."""
    with sent_by(crowded) as sent:
        assert len(crowded.list_sessions(limit=20)) == 20
        assert len(crowded._database.read(lambda c: open_gauges(c, None, limit=20))) == 20
    assert len(sent) == 2
    for one in sent:
        plan = plan_of(crowded, one)
        assert [node["Relation Name"] for node in plan if node.get("Index Name") == "ix_sessions_activity"] == ["sessions"]
        assert not [node for node in plan if node["Node Type"] in ("Seq Scan", "Sort")], plan
        assert not [node for node in plan if node.get("Relation Name") == "messages"]


def test_a_worker_looks_at_live_jobs_only(crowded: SessionStore) -> None:
    with sent_by(crowded) as sent:
        crowded._database.read(lambda c: waiting_jobs(c, now=0.0, limit=10))
        crowded._database.read(lambda c: expired_jobs(c, now=0.0, limit=10))
    for one in sent:
        named = [node.get("Index Name") for node in plan_of(crowded, one) if node.get("Relation Name") == "compactions"]
        assert named == ["uq_compactions_live"], one.text


def test_a_claim_looks_at_one_lineage(crowded: SessionStore) -> None:
    session = crowded.session("crowd-7")
    with sent_by(crowded) as sent:
        assert session.compact().status == "noop"
    claiming = sent[: kinds(sent).index("COMMIT")]
    for one in claiming:
        if one.text.startswith("INSERT"):
            continue
        for node in plan_of(crowded, one):
            assert node["Node Type"] != "Seq Scan", (one.text, node)
