"""The ledger of a compaction: written once and apart from its job, read only where it is needed."""
from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sessionstore import CompactionHooks, SessionStore
from sessionstore.compaction import job as job_module
from sessionstore.compaction.claiming import prolong
from sessionstore.domain.ledger import Ledger
from tests.store.conversations import SMALL, WINDOW, compacted, prepared, rows_of, statements, talk

NOTES = "## Goal\nSay what is wrong with each module.\n\n## Progress\nThe modules were looked at and changed one by one."


def model(_prompt: str) -> str:
    return NOTES


def test_it_is_written_once_and_read_by_the_next_compaction_alone(sqlite_store: SessionStore) -> None:
    """NEST-2: whatever else happens to a job, its ledger is not touched."""
    session = sqlite_store.create_session("a", context_window=WINDOW)
    session.append(talk(30))
    with statements(sqlite_store) as first:
        result = compacted(session, summarizer=model)
    assert [one.split("(")[0].strip() for one in first if "ledgers" in one] == ["INSERT INTO ledgers"]
    result.session.append(talk(30, start=40))
    with statements(sqlite_store) as second:
        again = compacted(result.session, summarizer=model)
    assert [one.split()[0] for one in second if "ledgers" in one] == ["SELECT", "INSERT"]
    with statements(sqlite_store) as looked:
        trace = sqlite_store.lineage("a")
        sqlite_store.resume("a").expand(trace.compactions[1].summary_seq or 0)
        sqlite_store.resume("a").compact(policy=SMALL, dry_run=True)
        sqlite_store._database.write(lambda c: prolong(c, replace(trace.compactions[0], status="running"), now=0.0))
    assert [one for one in looked if "ledger" in one] == []
    found = sqlite_store.lineage("a", ledgers=True).ledgers
    assert {job: Ledger.from_json(ledger) for job, ledger in found.items()} == {
        result.job_id: result.ledger,
        again.job_id: again.ledger,
    }


def test_a_result_that_comes_when_its_call_is_gone_completes_the_facts_of_the_call(store: SessionStore) -> None:
    """NEST-2: over two compactions, the second of which has only the result."""
    session = store.create_session("a", context_window=WINDOW)
    function = {"name": "bash", "arguments": '{"command": "make all"}'}
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": function}]}
    session.append([*talk(10), call, *talk(20, start=20)])
    first = compacted(session)
    assert first.ledger is not None
    assert [(fact.text, fact.outcome) for fact in first.ledger.of_kind("command")] == [("make all", "")]
    late = {"role": "tool", "tool_call_id": "c1", "content": "Exit code: 2\nmake: *** [all] Error 2"}
    first.session.append([late, *talk(30, start=50)])
    ledger = compacted(first.session).ledger
    assert ledger is not None
    assert [fact.outcome.split(":")[0] for fact in ledger.of_kind("command")] == ["exit 2"]
    assert [fact.about for fact in ledger.of_kind("error")] == ["`make all`"]


def test_an_attempt_that_saves_too_little_leaves_none(database_url: str) -> None:
    """ATOM-3, SHRINK-1: a prompt that grows is known only when the summary is there."""
    hooks = CompactionHooks(build_system_prompt=lambda _context: "Take care of everything. " * 2_000)
    with SessionStore.open(database_url, hooks=hooks) as store:
        prepared(store)
        store.session("a").pressure()
        without = frozenset({"compactions", "lineages"})
        before = rows_of(store, without=without)
        result = store.session("a").compact(policy=SMALL, summarizer=model)
        assert result.status == "aborted"
        assert "looked at and changed" in (store.lineage("a").compactions[0].summary or "")
        assert rows_of(store, without=without) == before


def test_an_attempt_that_breaks_off_leaves_its_summary_and_the_next_one_extracts_the_facts_again(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ATOM-3, NEST-2"""
    prepared(store)
    session = store.session("a")
    session.pressure()
    with monkeypatch.context() as patched:
        patched.setattr(job_module, "commit_draft", _fails)
        with pytest.raises(ZeroDivisionError):
            session.compact(policy=SMALL, summarizer=model)
    assert store.lineage("a", ledgers=True).ledgers == {}
    result = session.compact(policy=SMALL, summarizer=lambda _prompt: pytest.fail("a model was asked again"))
    assert result.status == "committed"
    assert result.ledger is not None
    assert len(result.ledger.entries) > 10
    assert Ledger.from_json(store.lineage("a", ledgers=True).ledgers[result.job_id or ""]) == result.ledger


def _fails(*_arguments: object, **_options: object) -> None:
    raise ZeroDivisionError


def test_an_export_has_it_in_the_row_of_its_job_as_the_first_release_wrote_it(store: SessionStore, tmp_path: Path) -> None:
    """LIN-8: so an export of any release can be read by any other."""
    prepared(store)
    result = compacted(store.session("a"))
    lines = list(store.export("a", lineage=True))
    records = [json.loads(line) for line in lines]
    (job,) = [record["row"] for record in records if record.get("table") == "compactions"]
    assert "ledgers" not in {record.get("table") for record in records}
    assert records[0]["rows"] == len(records) - 1
    with SessionStore.open(f"sqlite:///{tmp_path}/other.db") as other:
        report = other.import_lines(lines, name="a.jsonl")
        assert not report.damaged
        assert rows_of(other)["ledgers"] == [("a", result.job_id, job["ledger"])]
        assert list(other.export("a", lineage=True)) == lines


def test_a_fork_and_a_deletion_take_it_along(store: SessionStore) -> None:
    """LIN-7, LIN-9"""
    prepared(store)
    compacted(store.session("a"))
    fork = store.resume("a").fork(id="b")
    whole, copied = (store.lineage(name, ledgers=True).ledgers for name in ("a", "b"))
    assert whole
    assert copied == whole
    store.delete("a")
    assert store.lineage("b", ledgers=True).ledgers == whole
    fork.append(talk(30, start=40))
    assert compacted(fork).status == "committed"
    assert list(store.doctor()) == []
