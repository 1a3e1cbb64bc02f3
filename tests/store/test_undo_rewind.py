"""Going back: over compactions, repeatedly, and without losing anything that was said since."""
from __future__ import annotations

import pytest

from sessionstore import InvalidTargetError, Session, SessionStore
from tests.store.conversations import SMALL, WINDOW, Message, compacted, counts_of, talk


def thrice_compacted(store: SessionStore) -> tuple[Session, list[list[Message]]]:
    """A lineage after three compactions with new messages in between, and the context that each of them closed."""
    session = store.create_session("a", context_window=WINDOW, system_prompt="You are a coder.")
    closed = []
    for turn in range(3):
        session.append(talk(20, start=20 * turn))
        closed.append(session.context())
        session = compacted(session).session
    return session, closed


def test_an_undo_brings_the_context_back_with_what_was_said_since(store: SessionStore) -> None:
    """LIN-9: without the summary, in order, in a generation of its own that flushes to nothing."""
    session = store.create_session("a", context_window=WINDOW, system_prompt="You are a coder.")
    said = talk(30)
    session.append(said)
    compacted(session).session.append(talk(4, start=30))
    undone = store.session("a~2").undo_compaction()
    assert (undone.id, undone.context()) == ("a~3", talk(34))
    assert undone.record().flush_cursor == 34
    assert (undone.record().edge, undone.record().basis_generation, undone.record().parent_generation) == ("undo", 1, 2)
    assert undone.system_prompt() == "You are a coder."
    assert undone.flush(talk(34)) == []
    assert undone.flush(talk(36)) == [35, 36]
    assert store.resume("a").id == "a~3"
    assert store.session("a~2").record().end_reason == "undo"


def test_undoing_again_goes_further_back_until_nothing_is_left_to_undo(store: SessionStore) -> None:
    """LIN-9: what was said after each compaction is in every later context, once."""
    session, closed = thrice_compacted(store)
    session.append(talk(2, start=60))
    for expected, since in ((closed[2], 60), (closed[1], 40), (closed[0], 20)):
        session = session.undo_compaction()
        assert session.context() == [*expected, *talk(62 - since, start=since)]
        assert session.record().flush_cursor == len(session.context())
    assert session.context() == talk(62)
    rows = counts_of(store)
    with pytest.raises(InvalidTargetError, match="no compaction is in force"):
        session.undo_compaction()
    assert counts_of(store) == rows


def test_messages_between_two_undos_are_kept(store: SessionStore) -> None:
    """LIN-9"""
    session, closed = thrice_compacted(store)
    session = session.undo_compaction()
    session.append(talk(1, start=90))
    session = session.undo_compaction()
    session.append(talk(1, start=91))
    assert session.context() == [*closed[1], *talk(20, start=40), *talk(2, start=90)]
    session = session.undo_compaction()
    assert session.context() == [*talk(60), *talk(2, start=90)]


def test_an_undo_through_an_old_handle_acts_on_the_tip(store: SessionStore) -> None:
    """LIN-1"""
    _, closed = thrice_compacted(store)
    undone = store.session("a").undo_compaction()
    assert (undone.id, undone.context()) == ("a~5", closed[2])


def test_compacting_an_undone_context_and_undoing_that(store: SessionStore) -> None:
    """LIN-9, LIN-2: the undone generation is never taken for the continuation."""
    session, _ = thrice_compacted(store)
    session = session.undo_compaction().undo_compaction()
    session.append(talk(4, start=60))
    before = session.context()
    again = compacted(session).session
    assert [row.kind for row in again.context_rows()].count("summary") == 1
    again.append(talk(2, start=64))
    assert again.undo_compaction().context() == [*before, *talk(2, start=64)]


def test_an_undone_context_is_not_compacted_again_at_once(store: SessionStore) -> None:
    """LIN-9: automatic compaction waits for new work, a manual one doesn't."""
    session = store.create_session("a", context_window=3_000)
    session.append(talk(30))
    undone = compacted(session).session.undo_compaction()
    assert undone.pressure(SMALL).due
    result = undone.compact(policy=SMALL, trigger="auto")
    assert (result.status, result.session.id) == ("noop", undone.id)
    undone.append(talk(2, start=30))
    assert undone.compact(policy=SMALL, trigger="auto").status == "committed"


@pytest.mark.parametrize("seq", [0, 5, 19, 21, 40, 42, 61])
def test_a_rewind_cuts_the_newest_context_that_held_the_row(store: SessionStore, seq: int) -> None:
    """LIN-9: the row itself stays, nothing is deleted, and the next message goes behind it."""
    session, _ = thrice_compacted(store)
    log = session.history(0, 999)
    holding = next(
        handle for handle in (session, store.session("a~3"), store.session("a~2"), store.session("a"))
        if seq in {row.seq for row in handle.context_rows()}
    )
    rows = holding.context_rows()
    expected = [row.message for row in rows[: [row.seq for row in rows].index(seq) + 1]]
    rewound = session.rewind(seq)
    assert rewound.context() == expected
    assert (rewound.record().edge, rewound.record().flush_cursor) == ("rewind", len(expected))
    assert rewound.system_prompt() == holding.system_prompt()
    assert session.history(0, 999) == log
    assert rewound.append(talk(1, start=80)) == [log[-1].seq + 1]
    assert rewound.context() == [*expected, *talk(1, start=80)]


def test_a_rewind_can_itself_be_rewound_forward(store: SessionStore) -> None:
    """LIN-9: what a rewind left out is still there to go back to."""
    session = store.create_session("a")
    session.append(talk(10))
    session = session.rewind(3)
    session.append(talk(2, start=50))
    assert session.context() == [*talk(4), *talk(2, start=50)]
    forward = session.rewind(8)
    assert forward.context() == talk(9)
    assert forward.rewind(11).context() == [*talk(4), *talk(2, start=50)]
    assert forward.record().generation == 3


def test_a_rewind_behind_a_compaction_takes_its_summary_along(store: SessionStore) -> None:
    """LIN-9: and the compaction is still in force, so it can be undone."""
    session = store.create_session("a", context_window=WINDOW)
    session.append(talk(30))
    session = compacted(session).session
    session.append(talk(6, start=30))
    rewound = session.rewind(33)
    assert rewound.context() == session.context()[:-3]
    kinds = [row.kind for row in rewound.context_rows()]
    assert kinds.count("summary") == 1
    assert rewound.context_rows()[-1].seq == 33
    undone = rewound.undo_compaction()
    assert undone.context() == [*talk(30), *talk(3, start=30)]


def test_a_summary_or_a_missing_row_is_no_target(store: SessionStore) -> None:
    """LIN-9: refused without opening a generation."""
    session, _ = thrice_compacted(store)
    rows = counts_of(store)
    summaries = [row.seq for row in session.history(0, 999) if row.kind == "summary"]
    assert len(summaries) == 3
    for seq in (*summaries, -1, 63, 10_000):
        with pytest.raises(InvalidTargetError) as caught:
            session.rewind(seq)
        assert caught.value.seq == seq
    assert counts_of(store) == rows


def test_nothing_to_undo_is_a_typed_error(store: SessionStore) -> None:
    session = store.create_session("a")
    session.append(talk(4))
    for handle in (session, session.rewind(1)):
        with pytest.raises(InvalidTargetError, match="no compaction is in force"):
            handle.undo_compaction()


def test_a_rewind_before_every_compaction_leaves_none_in_force(store: SessionStore) -> None:
    """LIN-9"""
    session, _ = thrice_compacted(store)
    rewound = session.rewind(10)
    assert rewound.context() == talk(11)
    with pytest.raises(InvalidTargetError, match="no compaction is in force"):
        rewound.undo_compaction()


def test_going_back_while_a_compaction_runs_stops_its_commit(store: SessionStore) -> None:
    """LIN-3: one continuation a session, whoever comes first."""
    session = store.create_session("a", context_window=WINDOW)
    session.append(talk(30))

    def rewinding(_prompt: str) -> str:
        session.rewind(20)
        return "## Goal\nThe user wants the modules fixed; most of them are done by now."

    with pytest.raises(Exception, match="has ended") as caught:
        session.compact(policy=SMALL, summarizer=rewinding)
    assert type(caught.value).__name__ == "SessionEndedError"
    trace = store.lineage("a")
    assert [(row.session_id, row.edge) for row in trace.sessions] == [("a", "root"), ("a~2", "rewind")]
    assert [job.status for job in trace.compactions] == ["aborted"]
