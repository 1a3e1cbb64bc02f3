"""The goal and the todos of a conversation: versioned, validated, shown every turn, out of every compaction's reach."""
from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from sessionstore import InvalidTaskError, SessionEndedError, SessionStore, Todo
from tests.store.conversations import WINDOW, compacted, talk

TODOS = [
    {"id": "1", "content": "Read the code", "status": "completed"},
    {"id": "2", "content": "Write the fix", "status": "in_progress"},
    {"id": "3", "content": "Tell the user", "status": "pending"},
    {"id": "4", "content": "Rewrite it all", "status": "cancelled"},
]


def test_goal_and_todos_are_read_back_as_they_were_written(store: SessionStore) -> None:
    task = store.create_session("s").task
    assert (task.goal, task.todos, task.state().version) == (None, [], 0)
    task.set_goal("Make the login safe")
    task.write_todos(TODOS)
    assert task.goal == "Make the login safe"
    assert task.todos == TODOS
    assert store.resume("s").task.state().todos[1] == Todo("2", "Write the fix", "in_progress")


def test_every_change_is_a_new_version_and_older_ones_stay(store: SessionStore) -> None:
    session = store.create_session("s")
    session.task.set_goal("one")
    session.task.set_goal("two")
    assert session.task.write_todos(TODOS).version == 3
    stored = store._database.read(lambda c: c.execute(text("SELECT version, goal FROM task_states ORDER BY version")).all())
    assert [tuple(row) for row in stored] == [(1, "one"), (2, "two"), (3, "two")]


def test_updating_a_todo_changes_that_one_only(store: SessionStore) -> None:
    task = store.create_session().task
    task.write_todos(TODOS)
    task.update_todo("2", "completed")
    task.update_todo("3", "in_progress", "Tell the user and the team")
    assert [todo["status"] for todo in task.todos] == ["completed", "completed", "in_progress", "cancelled"]
    assert task.todos[2]["content"] == "Tell the user and the team"


def test_whole_numbers_and_absent_ids_and_statuses_are_filled_in(store: SessionStore) -> None:
    task = store.create_session().task
    task.write_todos([{"content": "a"}, {"id": 1, "content": "b", "status": "completed"}, {"content": "c"}])
    assert task.todos == [
        {"id": "2", "content": "a", "status": "pending"},
        {"id": "1", "content": "b", "status": "completed"},
        {"id": "3", "content": "c", "status": "pending"},
    ]
    task.update_todo(1, "pending")
    assert task.todos[1]["status"] == "pending"


@pytest.mark.parametrize(
    ("todos", "reason"),
    [
        ([{"id": "1", "content": "a"}, {"id": 1, "content": "b"}], "twice"),
        ([{"id": "1", "content": "a", "status": "done"}], "status"),
        ([{"id": "1", "content": "a", "status": None}], "status"),
        ([{"id": "1", "content": "a", "status": ["pending"]}], "status"),
        ([{"id": "1", "content": "  "}], "empty"),
        ([{"id": "", "content": "a"}], "empty"),
        ([{"id": True, "content": "a"}], "id"),
        ([{"id": "1"}], "content"),
        ([{"id": "1", "content": "a", "due": "today"}], "due"),
        (["a"], "object"),
        ("abc", "list"),
        ({"id": "1"}, "list"),
        ([{"id": "1", "content": "x" * 3_000}], "2,000"),
        ([{"content": "x"}] * 201, "200"),
    ],
)
def test_a_list_that_is_not_right_is_refused_whole(store: SessionStore, todos: Any, reason: str) -> None:
    task = store.create_session().task
    task.write_todos(TODOS)
    with pytest.raises(InvalidTaskError, match=reason):
        task.write_todos(todos)
    assert task.todos == TODOS


def test_a_todo_that_is_not_there_is_named_with_those_that_are(store: SessionStore) -> None:
    task = store.create_session().task
    task.write_todos(TODOS)
    with pytest.raises(InvalidTaskError, match=r"'9'.*1, 2, 3, 4"):
        task.update_todo("9", "completed")


def test_text_that_no_column_can_hold_is_stored_all_the_same(store: SessionStore) -> None:
    task = store.create_session().task
    task.set_goal("a\ud800b\x00c")
    task.write_todos([{"id": "\udfff", "content": "x\x00y"}])
    assert task.goal == "a\ufffdb\ufffdc"
    assert task.todos == [{"id": "\ufffd", "content": "x\ufffdy", "status": "pending"}]


def test_the_rendered_system_prompt_shows_goal_and_all_todos_every_turn(store: SessionStore) -> None:
    """STATE-1"""
    session = store.create_session("s", context_window=WINDOW, system_prompt="You help.")
    session.append(talk(30))
    session.task.set_goal("Make the login safe")
    session.task.write_todos(TODOS)
    continuation = compacted(session).session
    again = compacted(continuation, messages=[*continuation.context(), *talk(30, start=30)]).session
    for handle in (continuation, again, store.resume("s")):
        prompt = handle.render()[0]
        assert prompt["role"] == "system"
        assert prompt["content"].startswith("You help.")
        assert "Make the login safe" in prompt["content"]
        for todo in TODOS:
            assert f"{todo['id']}. {todo['content']} ({todo['status']})" in prompt["content"]
    assert again.system_prompt() is not None
    assert "Make the login safe" not in str(again.system_prompt())
    log = [row.message for row in again.history(0, 10_000)]
    assert not any("Rewrite it all" in str(message) for message in log)


def test_in_a_message_only_the_open_todos_are_shown_after_the_tail(store: SessionStore) -> None:
    session = store.create_session(system_prompt="You help.")
    session.append([{"role": "user", "content": "go"}, {"role": "assistant", "content": "going"}])
    session.task.set_goal("G")
    session.task.write_todos(TODOS)
    rendered = session.render("openai", task_state_in="message")
    assert rendered[0]["content"] == "You help."
    assert rendered[1:3] == session.context()
    shown = rendered[-1]["content"]
    assert "Write the fix" in shown
    assert "Tell the user" in shown
    assert "Read the code" not in shown
    assert len(session.context()) == 2


def test_while_a_call_is_in_flight_the_todos_stand_in_the_prompt_in_any_case(store: SessionStore) -> None:
    session = store.create_session()
    call = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    session.append([{"role": "user", "content": "go"}, {"role": "assistant", "content": None, "tool_calls": [call]}])
    session.task.write_todos(TODOS)
    rendered = session.render("openai", task_state_in="message")
    assert "Write the fix" in rendered[0]["content"]
    assert not any("Write the fix" in str(message) for message in rendered[1:])


def test_closing_a_conversation_on_purpose_ends_its_task(store: SessionStore) -> None:
    session = store.create_session()
    session.task.set_goal("G")
    session.end("finished")
    with pytest.raises(SessionEndedError):
        session.task.set_goal("H")
    assert session.task.goal == "G"
    session.reopen()
    session.task.set_goal("H")
    assert session.task.goal == "H"


def test_a_session_that_ended_by_itself_is_reopened_by_a_change(store: SessionStore) -> None:
    session = store.create_session()
    session.end("idle")
    session.task.set_goal("G")
    assert session.record().end_reason is None


def test_a_wrong_change_does_not_reopen_anything(store: SessionStore) -> None:
    session = store.create_session()
    session.end("idle")
    with pytest.raises(InvalidTaskError):
        session.task.update_todo("1", "completed")
    assert session.record().end_reason == "idle"


def test_the_task_of_another_conversation_is_another_one(store: SessionStore) -> None:
    store.create_session("a").task.set_goal("G")
    assert store.create_session("b").task.goal is None
