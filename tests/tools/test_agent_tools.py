"""The five tools of an agent: their schemas for each provider, and results that a model can read, whatever it asked."""
from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from sessionstore import AsyncSessionStore, Session, SessionStore
from sessionstore.agent_tools import TOOL_NAMES, run_tool, run_tool_async, tool_schemas
from tests.store.conversations import WINDOW, compacted, talk

NAMES = ["task_set_goal", "todo_write", "todo_update", "history_search", "history_read"]


@pytest.fixture
def session(store: SessionStore) -> Session:
    """A session that was compacted once: message 10 is in no context any more."""
    made = store.create_session("s", context_window=WINDOW)
    made.append([*talk(10), {"role": "user", "content": "the port is 48213"}, *talk(20, start=10)])
    return compacted(made).session


def result_of(session: Session, name: str, arguments: Any) -> Any:
    return json.loads(run_tool(session, name, arguments))


def test_there_are_five_tools_in_the_form_of_each_provider() -> None:
    assert list(TOOL_NAMES) == NAMES
    chat, blocks, items = tool_schemas("openai"), tool_schemas("anthropic"), tool_schemas("responses")
    assert [tool["function"]["name"] for tool in chat] == NAMES
    assert {tool["type"] for tool in chat} == {tool["type"] for tool in items} == {"function"}
    assert [tool["name"] for tool in blocks] == [tool["name"] for tool in items] == NAMES
    for one, two, three in zip(chat, blocks, items, strict=True):
        schema = one["function"]["parameters"]
        assert schema == two["input_schema"] == three["parameters"]
        assert schema["type"] == "object"
        assert set(schema["required"]) <= set(schema["properties"])
        assert one["function"]["description"] == two["description"] == three["description"] != ""
    json.dumps([chat, blocks, items])


def test_changing_a_schema_changes_no_other() -> None:
    tool_schemas("openai")[0]["function"]["parameters"].clear()
    assert tool_schemas("openai")[0]["function"]["parameters"]["required"] == ["goal"]


def test_an_unknown_dialect_is_refused() -> None:
    with pytest.raises(ValueError, match="gemini"):
        tool_schemas("gemini")  # type: ignore[arg-type]  # the point of the test


def test_goal_and_todos_are_set_and_come_back(session: Session) -> None:
    """STATE-1"""
    result_of(session, "task_set_goal", '{"goal": "Make it safe"}')
    todos = [{"id": "1", "content": "read", "status": "completed"}, {"id": "2", "content": "fix", "status": "pending"}]
    result_of(session, "todo_write", {"todos": todos})
    shown = result_of(session, "todo_update", {"id": 2, "status": "in_progress", "content": "fix it"})
    assert shown == {"goal": "Make it safe", "todos": [todos[0], {"id": "2", "content": "fix it", "status": "in_progress"}]}
    assert session.task.todos == shown["todos"]
    assert "fix it" in session.render()[0]["content"]
    assert result_of(session, "task_set_goal", {"goal": ""})["goal"] is None


def test_history_that_was_summarised_away_is_searched_and_read_word_for_word(session: Session) -> None:
    found = result_of(session, "history_search", {"query": "port 48213"})
    assert [hit["message"] for hit in found["hits"]] == [10]
    read = result_of(session, "history_read", {"messages": "#9-#11"})
    assert [message["message"] for message in read["messages"]] == [9, 10, 11]
    assert read["messages"][1]["text"] == "the port is 48213"


def test_a_search_says_how_to_go_on(session: Session) -> None:
    first = result_of(session, "history_search", {"query": "module", "limit": 4})
    assert len(first["hits"]) == 4
    last = first["hits"][-1]["message"]
    assert f"before={last}" in first["more"]
    second = result_of(session, "history_search", {"query": "module", "limit": "4", "before": last})
    assert max(hit["message"] for hit in second["hits"]) < last
    assert "note" in result_of(session, "history_search", {"query": "module nowhere"})


def test_reading_gives_at_most_twenty_messages_and_names_the_next(session: Session) -> None:
    read = result_of(session, "history_read", {"messages": "2-30"})
    assert [message["message"] for message in read["messages"]] == list(range(2, 22))
    assert read["more"] == "22-30"
    last = result_of(session, "history_read", {"messages": "25-99999999"})
    assert "more" not in last
    assert last["messages"][-1]["message"] == session.record().next_seq - 1


def test_a_huge_message_is_shortened_and_can_be_read_to_its_end(session: Session) -> None:
    text = "".join(f"{number:06d}\n" for number in range(20_000))
    (seq,) = session.append({"role": "user", "content": text})
    read, offset = "", 0
    while True:
        (message,) = result_of(session, "history_read", {"messages": seq, "offset": offset})["messages"]
        read += message["text"]
        offset = len(read)
        if "shortened" not in message:
            break
        assert f"offset={offset}" in message["shortened"]
        assert len(message["text"]) <= 40_000
    assert read == text
    together = result_of(session, "history_read", {"messages": f"{seq - 3}-{seq}"})
    assert sum(len(message["text"]) for message in together["messages"]) <= 40_000
    assert ["shortened" in message for message in together["messages"]] == [False, False, False, True]


BAD = [
    ("history_read", "{", "JSON"),
    ("history_read", "[]", "object"),
    ("history_read", "", "needs messages"),
    ("history_read", {"messages": "five"}, "number"),
    ("history_read", {"messages": "9-3"}, "ends before"),
    ("history_read", {"messages": "1-3", "offset": 5}, "one message"),
    ("history_read", {"messages": "100000"}, "no message"),
    ("history_read", {"messages": "9" * 18}, "no message"),
    ("history_read", {"messages": True}, "number"),
    ("history_read", {"messages": "1", "offset": "x"}, "whole number"),
    ("history_read", {"messages": "1", "extra": 1}, "no argument extra"),
    ("history_search", {"query": 5}, "text"),
    ("history_search", {"query": "x", "limit": [1]}, "whole number"),
    ("todo_write", {"todos": "x"}, "list"),
    ("todo_write", {"todos": [{"id": "1", "content": "a", "status": "done"}]}, "in_progress"),
    ("todo_write", {}, "needs todos"),
    ("todo_update", {"id": "9", "status": "completed"}, "no todo"),
    ("todo_update", {"id": {"a": 1}, "status": "completed"}, "id"),
    ("task_set_goal", {"goal": ["a"]}, "text"),
    ("task_set_goal", '{"goal": "' + "x" * 20_000 + '"}', "10,000"),
    ("task_set_goal", "[" * 100_000, "JSON"),
    ("bash", {"command": "ls"}, "history_read"),
]


@pytest.mark.parametrize(("name", "arguments", "told"), BAD)
def test_whatever_a_model_gets_wrong_is_told_in_the_result(session: Session, name: str, arguments: Any, told: str) -> None:
    before = session.task.state()
    result = result_of(session, name, arguments)
    assert list(result) == ["error"]
    assert told in result["error"]
    assert session.task.state() == before


def test_limits_beyond_the_allowed_are_the_allowed(session: Session) -> None:
    assert len(result_of(session, "history_search", {"query": "module", "limit": 10**30})["hits"]) == 20
    assert result_of(session, "history_search", {"query": "module", "before": -5})["hits"] == []


def test_a_conversation_that_was_closed_says_so(session: Session) -> None:
    session.end("finished")
    assert "ended" in result_of(session, "task_set_goal", {"goal": "x"})["error"]
    assert result_of(session, "history_read", {"messages": "10"})["messages"]


def test_a_lone_surrogate_never_leaves(session: Session) -> None:
    (seq,) = session.append({"role": "user", "content": "a \ud800 zulu"})
    run_tool(session, "history_read", {"messages": str(seq)}).encode("utf-8")
    run_tool(session, "history_search", {"query": "zulu"}).encode("utf-8")


def test_the_async_front_runs_the_same_tools(database_url: str) -> None:
    async def work() -> tuple[Any, Any]:
        async with AsyncSessionStore.open(database_url) as store:
            session = await store.create_session("s")
            await session.append({"role": "user", "content": "the needle"})
            found = json.loads(await run_tool_async(session, "history_search", {"query": "needle"}))
            await session.task.set_goal("G")
            fork = await session.fork("f")
            return found["hits"][0]["message"], (await fork.task.goal, await session.task.todos)

    assert asyncio.run(work()) == (0, ("G", []))
