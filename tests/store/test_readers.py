"""Readers: each at its own durable place, told when the tip has moved to another session."""
from __future__ import annotations

import pytest

from sessionstore import SessionStore
from tests.store.conversations import WINDOW, compacted, talk


def test_a_reader_gets_each_message_once(store: SessionStore) -> None:
    """FLUSH-1 for readers: reading again without a commit gives the same batch."""
    session = store.create_session("a")
    said = talk(6)
    session.append(said[:4])
    reader = session.reader("gateway")
    first, again = reader.read(), reader.read()
    assert first.messages == again.messages == said[:4]
    assert (first.history_offset, first.rotated, first.last_seq, first.session_id) == (4, False, 3, "a")
    first.commit()
    assert reader.read().messages == []
    assert reader.read().history_offset == 4
    session.append(said[4:])
    second = reader.read()
    assert (second.messages, second.history_offset, second.last_seq) == (said[4:], 6, 5)
    second.commit()
    assert reader.read().messages == []


def test_an_empty_conversation_gives_an_empty_batch(store: SessionStore) -> None:
    reader = store.create_session("a").reader("r")
    batch = reader.read()
    assert (batch.messages, batch.history_offset, batch.rotated, batch.last_seq) == ([], 0, False, -1)
    batch.commit()
    assert reader.read().rotated is False


def test_two_readers_and_two_lineages_do_not_share_a_place(store: SessionStore) -> None:
    one, other = store.create_session("a"), store.create_session("b")
    one.append(talk(3))
    other.append(talk(2))
    one.reader("first").read().commit()
    assert one.reader("first").read().messages == []
    assert len(one.reader("second").read().messages) == 3
    assert len(other.reader("first").read().messages) == 2


def test_a_place_is_durable(database_url: str) -> None:
    with SessionStore.open(database_url) as store:
        session = store.create_session("a")
        session.append(talk(5))
        session.reader("r").read(limit=3).commit()
    with SessionStore.open(database_url) as store:
        batch = store.resume("a").reader("r").read()
        assert [row.seq for row in batch.rows] == [3, 4]


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_a_limit_cuts_the_batches_and_skips_nothing(store: SessionStore, limit: int) -> None:
    session = store.create_session("a")
    said = talk(7)
    session.append(said)
    reader = session.reader("r")
    seen = []
    while batch := reader.read(limit=limit).messages:
        assert len(batch) <= limit
        seen += batch
        reader.read(limit=limit).commit()
    assert seen == said


def test_a_rotation_begins_the_new_context_at_its_first_message(store: SessionStore) -> None:
    """DESIGN 4: offset 0 in the continuation, said once, while the place in the log does not move back."""
    session = store.create_session("a", context_window=WINDOW)
    session.append(talk(30))
    reader = session.reader("r")
    reader.read().commit()
    result = compacted(session)
    assert result.history_offset == 0
    batch = reader.read(limit=4)
    assert (batch.rotated, batch.session_id, batch.messages) == (True, "a~2", result.messages[:4])
    assert batch.last_seq >= 29
    assert reader.read(limit=4).rotated is True
    batch.commit()
    rest = store.resume("a").reader("r").read()
    assert (rest.rotated, rest.messages) == (False, result.messages[4:])
    rest.commit()
    result.session.append(talk(2, start=50))
    news = reader.read()
    assert (news.rotated, [row.seq for row in news.rows], news.last_seq) == (False, [31, 32], 32)


def test_a_reader_that_follows_the_log_misses_nothing_over_rotations(store: SessionStore) -> None:
    """DESIGN 4: with ``last_seq`` and ``history`` it sees each row of the log once, whatever was compacted or undone."""
    session = store.create_session("a", context_window=WINDOW)
    followed: list[int] = []

    def follow() -> None:
        batch = session.reader("exporter").read()
        first = followed[-1] + 1 if followed else 0
        followed.extend(row.seq for row in session.history(first, batch.last_seq))
        batch.commit()

    for turn in range(3):
        session.append(talk(20, start=20 * turn))
        follow()
        session = compacted(session).session
        follow()
    session = session.undo_compaction()
    session.append(talk(2, start=90))
    follow()
    assert followed == list(range(session.record().next_seq))


def test_a_batch_that_is_committed_after_a_rotation_does_not_hide_it(store: SessionStore) -> None:
    """DESIGN 4: the batch was of the parent, so the continuation is still new to the reader."""
    session = store.create_session("a", context_window=WINDOW)
    session.append(talk(30))
    reader = session.reader("r")
    reader.read(limit=2).commit()
    batch = reader.read(limit=10)
    result = compacted(session)
    batch.commit()
    after = reader.read()
    assert (after.rotated, after.messages) == (True, result.messages)


def test_two_rotations_at_once_are_one(store: SessionStore) -> None:
    session = store.create_session("a", context_window=WINDOW)
    session.append(talk(30))
    session.reader("r").read().commit()
    second = compacted(session).session
    second.append(talk(20, start=30))
    third = compacted(second)
    batch = session.reader("r").read()
    assert (batch.rotated, batch.session_id, batch.messages) == (True, "a~3", third.messages)


def test_an_undo_and_a_rewind_rotate_a_reader_too(store: SessionStore) -> None:
    session = store.create_session("a")
    said = talk(6)
    session.append(said)
    session.reader("r").read().commit()
    session.rewind(2)
    batch = session.reader("r").read()
    assert (batch.rotated, batch.messages, batch.session_id) == (True, said[:3], "a~2")
    assert batch.last_seq == 5


@pytest.mark.parametrize("name", ["x" * 100, "gate~way", "a\nb", "%", "你好"], ids=lambda name: repr(name[:9]))
def test_a_reader_may_have_any_name(store: SessionStore, name: str) -> None:
    session = store.create_session("a")
    session.append(talk(2))
    session.reader(name).read().commit()
    assert session.reader(name).read().messages == []
    assert len(session.reader(name + "x").read().messages) == 2
