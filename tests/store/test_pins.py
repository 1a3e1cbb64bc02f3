"""Pins: a message that stays verbatim in every context, and comes back when it had left."""
from __future__ import annotations

import pytest

from sessionstore import InvalidTargetError, Session, SessionStore
from tests.store.conversations import WINDOW, compacted, talk
from tests.validity import faults


@pytest.fixture
def session(store: SessionStore) -> Session:
    """A session that is worth compacting, with a call and its result in the middle."""
    made = store.create_session("s", context_window=WINDOW)
    call = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    made.append(talk(10))
    made.append(
        [
            {"role": "user", "content": "list"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "a.py " * 40},
        ]
    )
    made.append(talk(20, start=10))
    return made


def seqs(session: Session) -> list[int]:
    return [row.seq for row in session.context_rows()]


def test_a_pinned_message_stays_through_every_compaction_until_it_is_unpinned(session: Session) -> None:
    """PIN-1"""
    session.pin(7)
    wanted = session.history(7, 7)[0].message
    for start in (100, 200):
        session = compacted(session).session
        assert wanted in session.context()
        session.append(talk(30, start=start))
    session.unpin(7)
    assert 7 not in seqs(compacted(session).session)


def test_a_message_that_left_the_context_comes_back_with_the_next_compaction(session: Session) -> None:
    """PIN-1"""
    session = compacted(session).session
    assert 7 not in seqs(session)
    session.pin(7)
    assert 7 not in seqs(session)
    session.append(talk(30, start=100))
    result = compacted(session)
    rows = result.session.context_rows()
    assert [row for row in rows if row.seq == 7] == session.history(7, 7)
    assert [row.kind for row in rows].count("summary") == 1
    assert seqs(result.session).index(7) < [row.kind for row in rows].index("summary")
    assert result.session.flush(result.messages) == []


def test_a_pinned_result_comes_back_with_its_call(session: Session) -> None:
    """PIN-1, PAIR-1"""
    session = compacted(session).session
    session.pin(12)
    session.append(talk(30, start=100))
    continuation = compacted(session).session
    assert [seq for seq in seqs(continuation) if seq in (10, 11, 12)] == [11, 12]
    rendered = continuation.render("openai")
    assert faults(rendered, "openai") == []
    assert any(message.get("content") == "a.py " * 40 for message in rendered)


def test_an_undone_compaction_keeps_what_was_pinned_meanwhile(session: Session) -> None:
    """PIN-1"""
    session = compacted(session).session
    session.append(talk(30, start=100))
    session = compacted(session).session
    session.pin(7)
    assert 7 in seqs(session.undo_compaction())


def test_going_back_before_a_pinned_message_unpins_it(session: Session, store: SessionStore) -> None:
    session.pin(3, 20)
    back = session.rewind(9)
    assert store.lineage("s").lineage.pins == (3,)
    back.append(talk(40, start=100))
    assert 20 not in seqs(compacted(back).session)


def test_only_messages_of_the_log_can_be_pinned(session: Session) -> None:
    continuation = compacted(session).session
    summary = next(row.seq for row in continuation.context_rows() if row.kind == "summary")
    for seq in (summary, -1, 10_000, 2**70):
        with pytest.raises(InvalidTargetError):
            continuation.pin(seq)
