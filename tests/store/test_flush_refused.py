"""A list that is not the stored context and something new is refused, however much of it is equal."""
from __future__ import annotations

import pytest

from sessionstore import ConflictError, Session, SessionEndedError, SessionStore, StaleCursorError
from tests.store.conversations import SMALL, WINDOW, Message, compacted, repetitive, rows_of, talk

NEXT = {"role": "user", "content": "next"}


def assert_refused(store: SessionStore, handle: Session, messages: list[Message]) -> StaleCursorError:
    """The list is refused as stale, and no row of any table was changed."""
    before = rows_of(store)
    with pytest.raises(StaleCursorError, match="nothing was written") as caught:
        handle.flush(messages)
    assert rows_of(store) == before
    return caught.value


def test_the_classic_bug(store: SessionStore) -> None:
    """FLUSH-2, FLUSH-3: a list of 200 messages is compacted to some 30, the next turn is saved, and the one after that."""
    session = store.create_session("a", context_window=WINDOW * 4)
    said = talk(200)
    session.flush(said)
    result = compacted(session, messages=said)
    messages = result.messages
    assert len(messages) < 31
    assert messages == result.session.context()
    assert result.session.record().flush_cursor == result.flush_cursor == len(messages)
    assert result.session.flush(messages) == []
    for turn in range(3):
        messages += talk(2, start=300 + 2 * turn)
        assert result.session.flush(messages) == [201 + 2 * turn, 202 + 2 * turn]
        assert result.session.flush(messages) == []
    assert store.resume("a").context() == messages
    assert_refused(store, result.session, said)


def test_a_list_that_shrank_is_refused_with_the_place(store: SessionStore) -> None:
    """FLUSH-2: before and after a good flush, also when all that is left is equal, and when nothing is left."""
    for said in (talk(20), [NEXT] * 20):
        session = store.create_session()
        session.append(said)
        for handle in (store.session(session.id), store.resume(session.id)):
            for length in (19, 1, 0):
                error = assert_refused(store, handle, said[:length])
                assert (error.cursor, error.length, error.first_difference) == (20, length, length)
            assert handle.flush(said) == []
            assert_refused(store, handle, said[:19])
            assert_refused(store, handle, [])


@pytest.mark.parametrize("place", [0, 7, 18, 19])
def test_a_list_that_differs_is_refused_with_the_first_difference(store: SessionStore, place: int) -> None:
    """FLUSH-2: through a handle that has not compared it yet."""
    said = talk(20)
    session = store.create_session("a")
    session.append(said)
    changed = [*said[:place], {**said[place], "content": "edited"}, *said[place + 1 :], NEXT]
    for handle in (store.session("a"), store.resume("a")):
        error = assert_refused(store, handle, changed)
        assert (error.cursor, error.first_difference) == (20, place)
    assert session.context() == said


@pytest.mark.parametrize(
    "change", [{"content": "edited"}, {"extra": None}, {"role": "tool"}], ids=["content", "a new key", "role"]
)
def test_a_changed_last_message_is_refused_after_a_good_flush(store: SessionStore, change: Message) -> None:
    """FLUSH-2"""
    said = talk(20)
    session = store.create_session("a")
    session.flush(said)
    assert_refused(store, session, [*said[:-1], {**said[-1], **change}, NEXT])
    assert_refused(store, session, [NEXT, *said])
    assert_refused(store, session, [*said[1:], NEXT, NEXT])
    assert session.flush([*said, NEXT]) == [20]


def test_a_handles_own_append_is_not_another_writers(store: SessionStore) -> None:
    """FLUSH-2: a list that lacks it has shrunk, and the error says where; one that has it goes on."""
    session = store.create_session("a")
    said = talk(6)
    session.flush(said[:3])
    session.append(said[3:])
    assert session.flush(said) == []
    session.append(NEXT)
    error = assert_refused(store, session, said)
    assert (error.cursor, error.length, error.first_difference) == (7, 6, 6)
    assert session.flush([*said, NEXT, NEXT]) == [7]


@pytest.mark.parametrize("tail", range(1, 14))
def test_an_old_list_of_equal_messages_never_passes_for_the_continuations(store: SessionStore, tail: int) -> None:
    """FLUSH-2: at every length of the tail, through a fresh handle, the result's, and after a good flush; also grown lists."""
    from dataclasses import replace

    said = repetitive(44)
    session = store.create_session("a", context_window=WINDOW)
    session.flush(said)
    policy = replace(SMALL, tail_messages=tail, min_tail_messages=1, head_messages=tail % 4)
    result = session.compact(policy=policy)
    if result.status != "committed":
        pytest.fail(f"{result.status}: {result.reason}")
    old = [said, [*said, NEXT], [*said, *repetitive(44)[-8:]], said[: len(result.messages)], said[: len(result.messages) + 3]]
    for messages in old:
        assert_refused(store, store.session("a~2"), messages)
        assert_refused(store, result.session, messages)
    grown = [*result.messages, *said[-6:]]
    for handle in (result.session, store.resume("a")):
        handle.flush(grown)
        assert handle.flush(grown) == []
        for messages in (*old, said[: len(grown)], said[: len(grown) + 1], said[-len(grown) :]):
            assert_refused(store, handle, messages)
    assert result.session.context() == grown


def test_an_old_list_never_passes_for_a_pruned_context(store: SessionStore) -> None:
    """FLUSH-2: a continuation that holds renditions and no summary, as long as its parent and equal but for them."""
    from sessionstore import CompactionPolicy

    said: list[Message] = [{"role": "user", "content": "run it"}]
    for number in range(12):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "terminal", "arguments": '{"command":"npm test"}'}}
        said += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": f"run {number}\n" + "line of output\n" * 60},
        ]
    said += [{"role": "user", "content": "continue"}, {"role": "assistant", "content": "ok"}] * 3
    session = store.create_session("a", context_window=WINDOW)
    session.flush(said)
    policy = CompactionPolicy(head_messages=1, tail_messages=4, summarize=False)
    result = compacted(session, policy=policy)
    assert len(result.messages) == len(said)
    for handle in (store.session("a~2"), result.session):
        assert_refused(store, handle, [*said, NEXT])
        assert handle.flush(result.messages) == []
        assert_refused(store, handle, [*said, NEXT])


def test_a_flush_to_a_compacted_session_says_what_is_unsaved(store: SessionStore) -> None:
    """FLUSH-2, FLUSH-4: and rebase carries it over once."""
    session = store.create_session("a", context_window=WINDOW)
    said = talk(30)
    session.flush(said)
    late = store.session("a")
    result = compacted(session)
    new = talk(2, start=50)
    for handle in (late, session):
        with pytest.raises(SessionEndedError, match="rebase") as caught:
            handle.flush([*said, *new])
        assert (caught.value.continuation_id, caught.value.flush_cursor) == ("a~2", len(result.messages))
        assert caught.value.unsaved == new
    assert store.resume("a").context() == result.messages
    tip, messages = late.rebase([*said, *new])
    assert (tip.id, messages) == ("a~2", [*result.messages, *new])
    assert tip.flush(messages) == []
    again, same = late.rebase(said)
    assert (again.id, same) == ("a~2", messages)
    with pytest.raises(StaleCursorError):
        late.rebase([NEXT, *said])


def test_a_rebase_that_is_repeated_carries_nothing_over_twice(store: SessionStore) -> None:
    """FLUSH-1: a writer that did not see the first answer asks again with the same list."""
    session = store.create_session("a", context_window=WINDOW)
    said = talk(30)
    session.flush(said)
    compacted(session)
    new = talk(2, start=50)
    _, messages = session.rebase([*said, *new])
    _, again = session.rebase([*said, *new])
    assert again == messages


def test_a_flush_goes_on_behind_an_automatic_end_and_not_behind_a_deliberate_one(store: SessionStore) -> None:
    """FLUSH-2"""
    session = store.create_session("a")
    session.flush([NEXT])
    session.end("idle")
    assert session.flush([NEXT, NEXT]) == [1]
    assert session.record().end_reason is None
    session.end("user")
    with pytest.raises(SessionEndedError, match="reopen") as caught:
        session.flush([NEXT, NEXT, NEXT])
    assert (caught.value.continuation_id, caught.value.unsaved) == (None, [NEXT])


def test_two_handles_with_the_same_list(store: SessionStore) -> None:
    """CONC-1, FLUSH-1: what one has written is nothing new to the other."""
    first, second = store.create_session("a"), store.session("a")
    messages: list[Message] = []
    for turn in range(5):
        messages += repetitive(4)[2:]
        assert first.flush(messages) == [2 * turn, 2 * turn + 1]
        assert second.flush(messages) == []
        first, second = second, first
    assert first.context() == messages


def test_two_agents_with_different_lists(store: SessionStore) -> None:
    """CONC-1: the later one gets a typed conflict and nothing of its list is stored."""
    base = repetitive(12)
    store.create_session("a").flush(base)
    first, second, third = store.session("a"), store.session("a"), store.session("a")
    for handle in (first, second, third):
        assert handle.flush(base) == []
    assert first.flush([*base, {"role": "user", "content": "mine"}]) == [12]
    for longer in (1, 2, 5):
        with pytest.raises(ConflictError, match="nothing was written") as caught:
            second.flush([*base, *[{"role": "user", "content": "yours"}] * longer])
        assert (caught.value.expected, caught.value.found) == (12, 13)
    third.append({"role": "user", "content": "appended"})
    with pytest.raises(ConflictError):
        first.flush([*base, {"role": "user", "content": "mine"}, NEXT])
    assert [message["content"] for message in store.session("a").context()[12:]] == ["mine", "appended"]


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def test_two_turns_through_one_handle_are_both_stored_or_one_is_refused(store: SessionStore) -> None:
    """CONC-1, FLUSH-2: two threads share a handle, and their turns end with the same word."""
    session = store.create_session("a")
    base = [user("go")]
    session.flush(base)
    assert session.flush([*base, user("turn of one"), user("ok")]) == [1, 2]
    assert assert_refused(store, session, [*base, user("turn of the other"), user("ok")]).first_difference == 1


def test_a_list_from_before_a_rewind_is_refused(store: SessionStore) -> None:
    """FLUSH-2: a rewound context holds no summary to tell it by."""
    old = [user(text) for text in ("a", "ok", "b", "ok", "c", "d")]
    session = store.create_session("a")
    session.flush(old)
    session = session.rewind(1)
    session.flush([*session.context(), user("x"), user("ok")])
    assert assert_refused(store, session, old).first_difference == 2
