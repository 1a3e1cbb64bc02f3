"""A compaction is all or nothing, stores each body once, and stands in nobody's way."""
from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from sessionstore import (
    CompactionHooks,
    SessionStore,
)
from tests.store.conversations import SMALL, WINDOW, Message, compacted, counts_of, prepared, rows_of, talk

PROSE = "## Goal\nThe user wants every module fixed. Most of them are done; the last answers say what is left to do."
NEXT = {"role": "user", "content": "next"}


def test_ten_compactions_in_a_row_store_each_body_once(store: SessionStore) -> None:
    """LOG-1, NEST-1: rows grow by what was said and one summary each, and one summary is in the context."""
    session = store.create_session("a", context_window=WINDOW, system_prompt="You are a coder.")
    said: list[Message] = []
    for turn in range(10):
        new = talk(20, start=20 * turn)
        session.flush([*session.context(), *new])
        said += new
        session = compacted(session).session
        rows = session.context_rows()
        assert [row.kind for row in rows].count("summary") == 1
        assert len(rows) < 12
    counts = counts_of(store)
    assert (counts["messages"], counts["sessions"], counts["lineages"]) == (210, 11, 1)
    assert counts["compactions"] == 10
    assert counts["context_spans"] <= 11 * 5
    log = session.history(0, 999)
    assert [row.message for row in log if row.kind == "message"] == said
    bodies = Counter(row.body for row in log)
    assert max(bodies.values()) == 1
    summaries = [row.seq for row in log if row.kind == "summary"]
    assert len(summaries) == 10
    covered = {row.seq for row in session.expand(summaries[-1])}
    kept = {row.seq for row in session.context_rows()}
    assert covered | kept == {row.seq for row in log if row.kind == "message"} | {summaries[-1]}


def test_summaries_stay_of_bounded_size(store: SessionStore) -> None:
    """NEST-1"""
    session = store.create_session("a", context_window=WINDOW)
    sizes = []
    for turn in range(10):
        session.append(talk(24, start=24 * turn))
        result = compacted(session)
        session = result.session
        sizes.append(len(result.summary or ""))
    assert max(sizes) < 4 * SMALL.summary_min_tokens * 2


def test_a_continuation_inherits_what_the_root_was_given(store: SessionStore) -> None:
    """LIN-5, LIN-2: and the parent keeps its prompt and its context."""
    prepared(
        store, title="Fix", model="m", profile="anthropic", namespace="n", owner="ana", source="cli", metadata={"k": [1, None]},
        tool_schema_tokens=77, system_prompt_parts={"identity": "You are a coder.", "skills": "git"},
    )
    parent = store.session("a")
    parent.record_usage(prompt=900, completion=50)
    before, prompt, context = parent.record(), parent.system_prompt(), parent.context()
    child = compacted(parent).session.record()
    for name in ("model", "context_window", "profile", "metadata", "tool_schema_tokens", "prompt_tokens_total"):
        assert getattr(child, name) == getattr(before, name), name
    assert (child.parent_session_id, child.edge, child.usage_prompt) == ("a", "compaction", None)
    assert (parent.system_prompt(), parent.context()) == (prompt, context)
    after = parent.record()
    assert after == replace(before, ended_at=after.ended_at, end_reason="compaction", updated_at=after.updated_at)
    lineage = store.lineage("a").lineage
    assert (lineage.title, lineage.namespace, lineage.owner, lineage.source) == ("Fix", "n", "ana", "cli")
    assert store.resume("Fix", namespace="n").system_prompt() != prompt


def test_a_dry_run_changes_nothing(store: SessionStore) -> None:
    """ATOM-3: not a row of any table, not even a count."""
    session = store.create_session("a", context_window=WINDOW)
    said = talk(30)
    session.append(said)
    before = rows_of(store)
    result = session.compact([*said, NEXT], policy=SMALL, dry_run=True, summarizer=lambda _prompt: pytest.fail("asked a model"))
    assert rows_of(store) == before
    assert (result.job_id, result.session.id, result.messages) == (None, "a", said)
    assert result.plan is not None
    assert result.plan.middle_messages > 10


def test_messages_that_arrive_while_the_model_thinks_stay_in_the_context(store: SessionStore, database_url: str) -> None:
    """ATOM-4: through another store, without waiting, behind the tail; the job's watermark is before them."""
    prepared(store)
    late = talk(3, start=70)

    with SessionStore.open(database_url, busy_timeout=0.5) as other:

        def thinking(prompt: str) -> str:
            assert other.session("a").append(late[:2]) == [30, 31]
            assert other.resume("a").flush([*other.session("a").context(), late[2]]) == [32]
            assert late[0]["content"] not in prompt
            return PROSE

        result = compacted(store.session("a"), summarizer=thinking)
    assert result.messages[-3:] == late
    assert result.session.flush(result.messages) == []
    rows = result.session.context_rows()
    (job,) = store.lineage("a").compactions
    assert (job.watermark, job.summary_seq, [row.seq for row in rows[-3:]]) == (29, 33, [30, 31, 32])
    assert all(last <= 29 for _, last in job.middle)
    assert late[0]["content"] not in (result.summary or "")
    assert store.session("a").context()[-3:] == late


def test_a_hook_that_changes_what_it_is_shown_changes_nothing_stored(database_url: str) -> None:
    """LOG-4, LOG-1: neither the log nor the summary is made of what a hook did to its copy."""

    def vandal(messages: object) -> list[str]:
        for message in messages:  # type: ignore[attr-defined]  # a sequence of messages, spoilt on purpose
            message["content"] = "SPOILT"
        return ["a fact"]

    with SessionStore.open(database_url, hooks=CompactionHooks(flush_memories=vandal)) as store:
        said = prepared(store)
        result = compacted(store.session("a"))
        assert [row.message for row in result.session.history(0, 29)] == said
        assert "SPOILT" not in str(result.messages)
        assert "a fact" in (result.system_prompt or "")


def test_compacting_again_without_new_work_is_a_noop(store: SessionStore) -> None:
    """SHRINK-1: and changes nothing but its own job's row."""
    prepared(store)
    session = compacted(store.session("a")).session
    session.pressure()
    before = rows_of(store, without=frozenset({"compactions"}))
    for _ in range(2):
        result = session.compact(policy=SMALL)
        assert (result.status, result.session.id) == ("noop", "a~2")
        result.raise_for_status()
    assert rows_of(store, without=frozenset({"compactions"})) == before


def test_the_new_id_is_announced_after_the_commit(tmp_path: Path) -> None:
    """LIN-4: when the hook runs, the continuation is whole for everybody. A file of its own: two stores and a hook share it."""
    url = f"sqlite:///{tmp_path}/announced.db"
    seen: list[tuple[str, str, int]] = []

    def announce(old: str, new: str) -> None:
        with SessionStore.open(url) as other:
            seen.append((old, new, len(other.session(new).context())))
        raise RuntimeError("the hook's own trouble")

    with SessionStore.open(url, hooks=CompactionHooks(after_commit=announce)) as store:
        prepared(store)
        with pytest.raises(RuntimeError, match="own trouble"):
            store.session("a").compact(policy=SMALL)
        assert [(old, new) for old, new, _ in seen] == [("a", "a~2")]
        assert seen[0][2] == store.resume("a").record().flush_cursor
        assert [job.status for job in store.lineage("a").compactions] == ["committed"]
