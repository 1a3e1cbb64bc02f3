"""The memory flush with a model: asked once, facts kept once, and no failure of it stops a compaction."""
from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sessionstore import CompactionHooks, ModelMemoryFlush, Session, SessionStore, SummarizerError
from sessionstore.operations.reading import lineage_of
from sessionstore.storage.memory_rows import memories_of
from tests.conftest import Clock
from tests.models.conftest import Making
from tests.models.model_server import Behaviour, ModelServer, fails, hangs, refuses_schemas, says, sends
from tests.models.transcript import LAST_REQUEST, POLICY, begin, work

FACTS = ["Ana owns the order parser.", "Dates are always written in English."]


@pytest.fixture
def flushing(tmp_path: Path, clock: Clock, openai_summarizer: Making) -> Iterator[SessionStore]:
    """A store whose memories a model flushes."""
    hooks = CompactionHooks(flush_memories=ModelMemoryFlush(openai_summarizer("memory", timeout=0.5), most=5))
    with SessionStore.open(f"sqlite:///{tmp_path}/flush.db", clock=clock, hooks=hooks) as opened:
        yield opened


def kept(store: SessionStore) -> list[str]:
    def read(connection: Any) -> list[str]:
        assert lineage_of(connection, "orders").lineage_id == "orders"
        return [memory.fact for memory in memories_of(connection, "orders")]

    return store._database.read(read)


def compacted(session: Session) -> Session:
    result = session.compact(policy=POLICY)
    assert result.status == "committed", result.reason
    return result.session


def test_facts_are_asked_for_once_by_schema_and_shown_in_the_rebuilt_prompt(
    flushing: SessionStore, server: ModelServer
) -> None:
    server.will(says(json.dumps({"facts": [*FACTS, FACTS[0].upper(), "password: Hunter2Hunter2!"]})))
    session = begin(flushing)
    session.set_system_prompt("You are careful.")
    tip = compacted(session)
    (asked,) = server.asked
    assert asked.wants_schema
    assert LAST_REQUEST in asked.prompt
    assert kept(flushing)[:2] == FACTS
    assert len(kept(flushing)) == 3
    prompt = tip.system_prompt() or ""
    assert all(fact in prompt for fact in FACTS)
    assert "Hunter2" not in prompt
    assert all("careful" not in str(message) and FACTS[0] not in str(message) for message in tip.context())


def test_without_schemas_lines_are_as_good(flushing: SessionStore, server: ModelServer) -> None:
    server.will(refuses_schemas(says("Here they are:\n- " + "\n2. ".join(FACTS) + "\n- None")))
    compacted(begin(flushing))
    assert kept(flushing) == FACTS


def test_what_is_known_is_told_and_not_kept_again(flushing: SessionStore, server: ModelServer) -> None:
    server.will(says(json.dumps({"facts": FACTS})), says(json.dumps({"facts": [FACTS[1].lower(), "A third fact."]})))
    tip = compacted(begin(flushing))
    tip.append(work())
    compacted(tip)
    assert kept(flushing) == [*FACTS, "A third fact."]
    assert FACTS[0] not in server.asked[0].prompt
    assert FACTS[0] in server.asked[1].prompt


@pytest.mark.parametrize(("behaviour", "kind"), [
    (hangs, "timeout"),
    (fails(500), "server_error"),
    (fails(401), "bad_key"),
    (sends(b"<html>"), "invalid_reply"),
    (says(""), "empty"),
    (says('{"facts": ["half a fa', finish="length"), "truncated"),
    (says("", tool="remember"), "tool_call"),
    (says("Error: no such model"), "error_text"),
])
def test_a_model_that_fails_keeps_nothing_from_being_compacted(
    flushing: SessionStore, server: ModelServer, behaviour: Behaviour, kind: str
) -> None:
    """FAIL-1"""
    server.will(behaviour)
    result = begin(flushing).compact(policy=POLICY)
    assert result.status == "committed"
    assert any("memory flush" in warning and kind in warning for warning in result.warnings)
    assert flushing.lineage("orders").compactions[-1].warnings == result.warnings
    assert kept(flushing) == []


@pytest.mark.parametrize("answer", ["None", json.dumps({"facts": []}), "There is nothing worth keeping.", "1302568497", "{}"])
def test_an_answer_without_facts_keeps_none(flushing: SessionStore, server: ModelServer, answer: str) -> None:
    server.will(says(answer))
    assert begin(flushing).compact(policy=POLICY).status == "committed"
    assert kept(flushing) == []


def test_a_long_conversation_is_shortened_for_it_but_its_newest_request_stays(
    server: ModelServer, openai_summarizer: Making
) -> None:
    """SUMIN-1"""
    server.will(says(json.dumps({"facts": FACTS})))
    flush = ModelMemoryFlush(openai_summarizer(window=1_800, reasoning_tokens=1))
    assert flush(work(padding=200)) == tuple(FACTS)
    (asked,) = server.asked
    assert LAST_REQUEST in asked.prompt
    assert len(asked.prompt) / 5 + asked.payload["max_tokens"] <= 1_800


def test_any_function_will_do() -> None:
    assert ModelMemoryFlush(lambda _prompt: "- A fact.")(work()) == ("A fact.",)
    assert ModelMemoryFlush(lambda _prompt: "- A fact.")([]) == ()
    with pytest.raises(SummarizerError):
        ModelMemoryFlush(lambda _prompt: "")(work())
