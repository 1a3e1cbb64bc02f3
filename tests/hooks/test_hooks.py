"""Hooks: facts are kept before anything is summarised, a veto stops it, what was kept shows in the prompt, not in the log."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from sessionstore import CompactionHooks, CompactionVetoedError, Session, SessionStore
from sessionstore.storage.memory_rows import memories_of
from tests.conftest import Clock
from tests.store.conversations import SMALL, compacted, prepared, rows_of, talk

FACT = "The user's staging database is called heron."
PROSE = "## Goal\nThe user wants every module fixed. Most of them are done; the last answers say what is left to do."


def facts_of(store: SessionStore) -> list[str]:
    """What is remembered of the conversation."""
    return [memory.fact for memory in store._database.read(lambda connection: memories_of(connection, "a"))]


def test_the_flush_comes_before_the_summary_and_gets_the_whole_context(database_url: str) -> None:
    """ATOM-4: no transaction is open meanwhile, so the hook may use the store itself."""
    asked: list[str] = []

    def flush(messages: Sequence[dict[str, Any]]) -> list[str]:
        asked.append(f"flush of {len(messages)}")
        assert messages == store.session("a").context()
        return [FACT]

    def summarize(_prompt: str) -> str:
        asked.append("summary")
        return PROSE

    with SessionStore.open(database_url, hooks=CompactionHooks(flush_memories=flush)) as store:
        prepared(store)
        compacted(store.session("a"), summarizer=summarize)
        assert asked == ["flush of 30", "summary"]


def test_a_kept_fact_is_in_the_rebuilt_prompt_and_nowhere_in_the_log(database_url: str) -> None:
    """PROMPT-1, LOG-1: the parent's prompt is as it was, and the fact is there once after the next compaction too."""
    with SessionStore.open(database_url, hooks=CompactionHooks(flush_memories=lambda _messages: [FACT])) as store:
        prepared(store, system_prompt="You fix modules.")
        session = store.session("a")
        result = compacted(session)
        assert session.system_prompt() == "You fix modules."
        for _ in range(2):
            prompt = result.session.system_prompt() or ""
            assert prompt.startswith("You fix modules.")
            assert prompt.count(FACT) == 1
            assert result.session.render("openai")[0]["content"].count(FACT) == 1
            assert "heron" not in repr(rows_of(store)["messages"])
            assert [row.kind for row in result.session.history(30, 30)] == ["summary"]
            result.session.append(talk(20, start=50))
            result = compacted(result.session)
        assert facts_of(store) == [FACT]


def test_no_facts_are_asked_for_a_compaction_that_does_not_happen(database_url: str) -> None:
    """ATOM-3: the decision comes first."""

    def flush(_messages: object) -> list[str]:
        pytest.fail("it was asked")

    with SessionStore.open(database_url, hooks=CompactionHooks(flush_memories=flush)) as store:
        session = store.create_session("a", context_window=128_000)
        session.append(talk(4))
        assert session.compact(policy=SMALL).status == "noop"
        assert session.maintain().status == "noop"
        assert session.compact(policy=SMALL, dry_run=True).status == "noop"


def test_facts_are_kept_when_the_attempt_ends_otherwise(database_url: str, clock: Clock) -> None:
    """ATOM-3: they are worth having, whatever became of the summary."""
    hooks = CompactionHooks(flush_memories=lambda _messages: [FACT])
    with SessionStore.open(database_url, hooks=hooks, clock=clock) as store:
        said = prepared(store)
        result = store.session("a").compact(policy=SMALL, summarizer=lambda _prompt: "")
        assert (result.status, result.messages) == ("deferred", said)
        assert facts_of(store) == [FACT]
        clock.advance(60)
        assert FACT in (compacted(store.session("a")).system_prompt or "")
        assert facts_of(store) == [FACT]


def test_the_flush_may_veto(database_url: str) -> None:
    """ATOM-3: nothing is summarised, nothing is kept, no strike is counted."""

    def refuse(_messages: object) -> list[str]:
        raise CompactionVetoedError("the memory service is away")

    with SessionStore.open(database_url, hooks=CompactionHooks(flush_memories=refuse)) as store:
        said = prepared(store)
        result = store.session("a").compact(policy=SMALL, summarizer=lambda _prompt: pytest.fail("asked a model"))
        assert (result.status, result.reason, result.messages) == ("aborted", "the memory service is away", said)
        with pytest.raises(CompactionVetoedError):
            result.raise_for_status()
        assert (facts_of(store), store.lineage("a").lineage.strikes) == ([], 0)


def test_after_the_commit_the_hook_can_read_the_continuation(database_url: str) -> None:
    """LIN-4: the new id is announced when the continuation is there, and only then."""
    told: list[tuple[str, str, bool]] = []

    def announce(session_id: str, continuation_id: str) -> None:
        tip: Session = store.resume(session_id)
        told.append((session_id, continuation_id, tip.id == continuation_id))

    with SessionStore.open(database_url, hooks=CompactionHooks(after_commit=announce)) as store:
        prepared(store)
        store.session("a").compact(policy=SMALL, summarizer=lambda _prompt: "")
        assert told == []
        result = compacted(store.session("a"))
        assert told == [("a", "a~2", True)]
        assert result.session.compact(policy=SMALL).status == "noop"
        assert len(told) == 1


def test_what_the_last_hook_raises_reaches_the_caller_of_a_compaction_that_stands(database_url: str) -> None:
    """LIN-4, ATOM-1."""

    def fail(_session_id: str, _continuation_id: str) -> None:
        raise ConnectionError("the bus is down")

    with SessionStore.open(database_url, hooks=CompactionHooks(after_commit=fail)) as store:
        prepared(store)
        with pytest.raises(ConnectionError, match="the bus is down"):
            store.session("a").compact(policy=SMALL)
        trace = store.lineage("a")
        assert [job.status for job in trace.compactions] == ["committed"]
        assert store.resume("a").id == "a~2"


@pytest.mark.parametrize("given", ["one fact", b"one fact", {"fact": 1}, 1, [1], ["a fact", None]])
def test_a_flush_that_answers_no_list_of_facts_is_refused_by_name(database_url: str, given: Any) -> None:
    """ATOM-3: a text is a sequence too, and was kept a character a fact."""
    with SessionStore.open(database_url, hooks=CompactionHooks(flush_memories=lambda _messages: given)) as store:
        said = prepared(store)
        with pytest.raises(TypeError, match="flush_memories answered"):
            store.session("a").compact(policy=SMALL)
        assert (facts_of(store), store.session("a").context(), store.resume("a").id) == ([], said, "a")
        assert [job.status for job in store.lineage("a").compactions] == ["aborted"]


def test_half_a_character_in_a_fact_is_kept_as_what_can_be_stored(database_url: str) -> None:
    hooks = CompactionHooks(flush_memories=lambda _messages: ("a \ud83d", "b\x00"))
    with SessionStore.open(database_url, hooks=hooks) as store:
        prepared(store)
        compacted(store.session("a"))
        assert facts_of(store) == ["a \ufffd", "b\ufffd"]


def test_a_prompt_builder_that_answers_nothing_changes_nothing(database_url: str) -> None:
    """PROMPT-1: the system prompt is not lost in silence, and no fact is kept of a compaction that was not."""

    def build(_context: object) -> Any:
        """A builder without a return statement."""

    hooks = CompactionHooks(build_system_prompt=build, flush_memories=lambda _messages: [FACT])
    with SessionStore.open(database_url, hooks=hooks) as store:
        prepared(store, system_prompt="You fix modules.")
        with pytest.raises(TypeError, match="build_system_prompt answered a NoneType"):
            store.session("a").compact(policy=SMALL)
        assert (store.resume("a").id, store.session("a").system_prompt(), facts_of(store)) == ("a", "You fix modules.", [])
