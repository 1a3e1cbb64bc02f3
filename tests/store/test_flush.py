"""Flushing a whole list: each message once, and never a list that is not the context and something new."""
from __future__ import annotations

from typing import Any

import pytest

from sessionstore import InvalidMessageError, SessionStore, StaleCursorError
from tests.store.conversations import SMALL, WINDOW, Message, repetitive, rows_of, sent_work, statements, talk

NEXT = {"role": "user", "content": "next"}


def test_a_growing_list_is_stored_once_however_often_it_is_flushed(store: SessionStore) -> None:
    """FLUSH-1"""
    session = store.create_session("a")
    said = repetitive(40)
    for length in (0, 1, 1, 2, 7, 7, 7, 20, 40, 40):
        known = session.record().flush_cursor
        assert session.flush(said[:length]) == list(range(known, length))
        assert session.record().flush_cursor == length
    assert session.context() == said
    assert store.session("a").flush(said) == []


def test_equal_values_in_another_order_of_keys_are_the_same_message(store: SessionStore) -> None:
    """FLUSH-2: parsed values are compared, not text."""
    session = store.create_session("a")
    session.append_json('{ "content":"x", "n":1e2, "role":"user" }')
    same: Message = {"role": "user", "n": 100, "content": "x"}
    for handle in (session, store.session("a")):
        assert handle.flush([same]) == []
        assert handle.flush([same]) == []
    assert store.session("a").flush([same, NEXT]) == [1]


def test_an_odd_message_in_a_list_stores_nothing_of_it(store: SessionStore) -> None:
    """FLUSH-1: the cursor moves with the rows or not at all, and the handle remembers nothing of a failed flush."""
    session = store.create_session("a")
    said = talk(4)
    session.flush(said)
    before = rows_of(store)
    with pytest.raises(InvalidMessageError) as caught:
        session.flush([*said, NEXT, {"role": "user", "n": float("nan")}])
    assert caught.value.index == 5
    assert rows_of(store) == before
    assert session.flush([*said, NEXT]) == [4]


def test_a_system_prompt_at_the_head_is_no_message(store: SessionStore) -> None:
    """FLUSH-3, PROMPT-1: new, the same, replaced, and the old one after a compaction that rebuilt it."""
    session = store.create_session("a", context_window=WINDOW)
    said = talk(30)
    old = {"role": "system", "content": "You are a coder."}
    assert session.flush([old, *said]) == list(range(30))
    assert (session.system_prompt(), session.context()) == ("You are a coder.", said)
    before = rows_of(store)
    assert session.flush([old, *said]) == []
    assert rows_of(store) == before
    new = {"role": "developer", "content": "You are a careful coder."}
    assert store.session("a").flush([new, *said]) == []
    assert session.system_prompt() == "You are a careful coder."
    result = session.compact([new, *said], policy=SMALL)
    rebuilt = result.system_prompt
    assert rebuilt is not None
    assert rebuilt != "You are a careful coder."
    assert result.session.flush([new, *result.messages]) == []
    assert result.session.flush([old, *result.messages, NEXT]) == [31]
    assert result.session.system_prompt() == rebuilt
    assert result.session.flush([{"role": "system", "content": rebuilt}, *result.messages, NEXT]) == []
    assert session.system_prompt() == "You are a careful coder."


def test_a_prompt_in_parts_keeps_its_parts_when_its_text_is_flushed(store: SessionStore) -> None:
    """PROMPT-1"""
    session = store.create_session("a", system_prompt_parts={"identity": "You are a coder.", "skills": "You know git."})
    before = rows_of(store)["system_prompts"]
    assert session.flush([{"role": "system", "content": "You are a coder.\n\nYou know git."}]) == []
    assert rows_of(store)["system_prompts"] == before


@pytest.mark.parametrize("content", ["cut \ud83d off", "a\x00b", "", None, [], [{"type": "text", "text": "blocks"}]], ids=repr)
def test_an_odd_system_prompt_never_blocks_a_flush(store: SessionStore, content: object) -> None:
    """LOG-3"""
    session = store.create_session("a")
    for _ in range(2):
        session.flush([{"role": "system", "content": content}, NEXT])
    assert session.context() == [NEXT]
    session.render("openai")


def test_a_refused_flush_does_not_set_its_system_prompt(store: SessionStore) -> None:
    """FLUSH-2"""
    session = store.create_session("a", system_prompt="You are a coder.")
    session.append(talk(4))
    with pytest.raises(StaleCursorError):
        store.session("a").flush([{"role": "system", "content": "Another"}, NEXT])
    assert session.system_prompt() == "You are a coder."


def test_a_system_message_in_the_middle_is_a_message(store: SessionStore) -> None:
    said = [NEXT, {"role": "system", "content": "a note"}, NEXT]
    session = store.create_session("a")
    assert session.flush(said) == [0, 1, 2]
    assert session.context() == said
    assert session.flush(said) == []


def test_a_failed_compaction_leaves_the_list_and_the_session_as_they_were(store: SessionStore) -> None:
    """FLUSH-3, FLUSH-4: what was not flushed before is durable in the old session all the same."""
    session = store.create_session("a", context_window=WINDOW)
    said = talk(30)
    session.flush(said[:20])

    def broken(_prompt: str) -> str:
        raise ConnectionError("no route to the model")

    result = session.compact(said, policy=SMALL, summarizer=broken)
    assert result.status in ("deferred", "aborted")
    assert (result.session.id, result.messages, result.flush_cursor) == ("a", said, 30)
    assert session.context() == said
    assert session.flush([*said, NEXT]) == [30]


@pytest.mark.parametrize("head", [[], [{"role": "system", "content": "Be brief."}]])
def test_a_later_flush_reads_nothing_and_writes_as_an_append_does(
    sqlite_store: SessionStore, head: list[dict[str, Any]]
) -> None:
    """FLUSH-1: no comparison in the database but that of the cursor, once a handle has made a full one."""
    session = sqlite_store.create_session("a")
    messages = [*head, *talk(200)]
    session.flush(messages)
    with statements(sqlite_store) as sent:
        assert session.flush([*messages, NEXT]) == [200]
    assert [statement.partition(" ")[0] for statement in sent_work(sent)] == ["UPDATE", "INSERT"]


def test_a_prompt_that_changed_between_two_flushes_is_stored(store: SessionStore) -> None:
    """The short way of a later flush is for who has the prompt of the last one at the head of the list."""
    session = store.create_session("a")
    messages = talk(20)
    session.flush([{"role": "system", "content": "Be brief."}, *messages])
    session.flush([{"role": "system", "content": "Be thorough."}, *messages, NEXT])
    assert session.render("openai")[0] == {"role": "system", "content": "Be thorough."}
    assert session.context() == [*messages, NEXT]
