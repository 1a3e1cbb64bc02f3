"""Forks: a copy of a conversation up to a row, complete by itself, with every number as it was."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sessionstore import (
    CompactionHooks,
    InvalidTargetError,
    Session,
    SessionExistsError,
    SessionNotFoundError,
    SessionStore,
    TitleTakenError,
)
from tests.conftest import Clock
from tests.store.conversations import WINDOW, compacted, rows_of, talk

OWN = frozenset({"readers", "alembic_version"})


@pytest.fixture
def twice(database_url: str, clock: Clock) -> Iterator[Session]:
    """A session that was compacted twice, with a pin, a task, memories and a title."""
    hooks = CompactionHooks(flush_memories=lambda messages: [f"fact of {len(messages)}"])
    with SessionStore.open(database_url, clock=clock, hooks=hooks) as store:
        session = store.create_session(
            "s",
            title="Fix auth",
            context_window=WINDOW,
            system_prompt="You help.",
            owner="ana",
            metadata={"k": 1},
            namespace="n",
        )
        session.append(talk(30), client_id=[f"c{index}" for index in range(30)])
        session.pin(5)
        session.task.set_goal("first")
        session = compacted(session).session
        session.task.set_goal("second")
        session.append(talk(30, start=30))
        yield compacted(session).session


def lineage_rows(store: SessionStore, lineage_id: str) -> dict[str, list[tuple[object, ...]]]:
    """Every row of a lineage but what belongs to the store, its id taken out."""
    found = {}
    for name, rows in rows_of(store, without=OWN).items():
        place = 2 if name == "titles" else 0
        found[name] = [(*row[:place], "X", *row[place + 1 :]) for row in rows if row[place] == lineage_id]
    return found


def test_a_whole_fork_has_every_row_of_the_original(twice: Session, database_url: str) -> None:
    """LIN-9"""
    with SessionStore.open(database_url) as store:
        fork = twice.fork("f")
        ours, theirs = lineage_rows(store, "s"), lineage_rows(store, "f")
        # A lease belongs to whoever held it, a title to one lineage.
        assert {name for name in ours if ours[name] != theirs[name]} == {"lineages", "titles", "compactions"}
        jobs = [[replace(job, lineage_id="", lease_owner=None) for job in store.lineage(id_).compactions] for id_ in "sf"]
        assert jobs[0] == jobs[1]
        assert len(jobs[0]) == 2
        assert fork.id == "f~3"
        assert fork.context() == twice.context()
        assert fork.render() == twice.render()
        assert [row.seq for row in fork.history(0, 1_000)] == [row.seq for row in twice.history(0, 1_000)]
        assert fork.expand(_summary(fork)) == twice.expand(_summary(twice))
        lineage = store.lineage("f").lineage
        assert (lineage.relation, lineage.forked_from, lineage.pins) == ("fork", "s", (5,))
        assert lineage.forked_from_seq == twice.record().next_seq - 1
        assert (lineage.namespace, lineage.owner, lineage.metadata, lineage.title) == ("n", "ana", {"k": 1}, "Fix auth (2)")
        assert fork.task.goal == "second"


def _summary(session: Session) -> int:
    return next(row.seq for row in session.context_rows() if row.kind == "summary")


def test_no_row_of_the_original_is_touched(twice: Session, database_url: str) -> None:
    with SessionStore.open(database_url) as store:
        before = lineage_rows(store, "s")
        twice.fork("f", at_seq=12)
        twice.fork("g")
        assert lineage_rows(store, "s") == before


def test_a_fork_before_a_compaction_begins_with_the_context_of_that_time(twice: Session) -> None:
    """LIN-9: it crosses compaction boundaries."""
    fork = twice.fork("f", at_seq=20)
    assert fork.id == "f"
    assert fork.context() == talk(30)[:21]
    assert fork.record().flush_cursor == 21
    assert fork.history(21, 1_000) == []
    assert fork.append({"role": "user", "content": "on"}) == [21]
    assert fork.flush([*talk(30)[:21], {"role": "user", "content": "on"}]) == []


def test_a_fork_inside_a_continuation_has_its_summary_and_what_it_stands_for(twice: Session) -> None:
    summary = next(row.seq for row in twice.history(0, 1_000) if row.kind == "summary")
    fork = twice.fork("f", at_seq=summary + 3)
    assert fork.id == "f~2"
    assert [row.kind for row in fork.context_rows()].count("summary") == 1
    assert fork.context_rows()[-1].seq == summary + 3
    assert fork.expand(summary) == twice.expand(summary)
    assert fork.undo_compaction().context()[:30] == talk(30)


def test_a_fork_of_a_rewound_session_can_take_either_way(store: SessionStore) -> None:
    session = store.create_session("s")
    session.append(talk(10))
    tip = session.rewind(5)
    tip.append(talk(2, start=50))
    assert store.resume("s").fork("new").context() == [*talk(10)[:6], *talk(2, start=50)]
    assert store.resume("s").fork("old", at_seq=9).context() == talk(10)
    assert store.resume("s").fork("cut", at_seq=10).context() == [*talk(10)[:6], *talk(1, start=50)]


def test_both_live_on_by_themselves(twice: Session, database_url: str) -> None:
    fork = twice.fork("f")
    fork.append({"role": "user", "content": "here"})
    twice.append({"role": "user", "content": "there"})
    with SessionStore.open(database_url) as store:
        context = fork.context()
        store.delete("s")
        assert fork.context() == context
        assert compacted(fork, messages=[*context, *talk(30, start=90)]).session.context()
        with pytest.raises(SessionNotFoundError):
            store.resume("s")


def test_deleting_the_fork_leaves_the_original(twice: Session, database_url: str) -> None:
    context = twice.context()
    twice.fork("f", at_seq=20)
    with SessionStore.open(database_url) as store:
        before = lineage_rows(store, "s")
        store.delete("f")
        assert lineage_rows(store, "s") == before
    assert twice.context() == context


def test_a_fork_is_open_although_the_original_was_closed(store: SessionStore) -> None:
    session = store.create_session("s")
    session.append(talk(4))
    session.end("finished")
    fork = session.fork()
    fork.append({"role": "user", "content": "on"})
    assert fork.record().end_reason is None
    assert len(fork.context()) == 5
    assert session.record().end_reason == "finished"


def test_a_fork_copies_the_cursor_of_client_ids(twice: Session) -> None:
    """IDEM-1"""
    assert twice.fork("f", at_seq=20).append({"role": "user", "content": "again"}, client_id="c7") == [7]


def test_an_empty_session_can_be_forked(store: SessionStore) -> None:
    fork = store.create_session("s", system_prompt="You help.").fork("f")
    assert fork.context() == []
    assert fork.system_prompt() == "You help."
    assert fork.append({"role": "user", "content": "x"}) == [0]


def test_a_fork_is_never_taken_for_the_continuation(twice: Session, database_url: str) -> None:
    """LIN-2"""
    twice.fork("f")
    with SessionStore.open(database_url) as store:
        assert store.resume("s").id == "s~3"
        assert store.resume("Fix auth").id == "s~3"


def test_pins_and_memories_beyond_the_fork_stay_behind(twice: Session, database_url: str) -> None:
    twice.pin(25)
    twice.fork("f", at_seq=10)
    with SessionStore.open(database_url) as store:
        assert store.lineage("f").lineage.pins == (5,)
        assert lineage_rows(store, "f")["memories"] == []
        assert len(lineage_rows(store, "s")["memories"]) == 2


def test_what_cannot_be_forked_is_a_typed_error_and_writes_nothing(twice: Session, database_url: str) -> None:
    with SessionStore.open(database_url) as store:
        before = rows_of(store)
        for seq in (-1, 10_000, 2**70):
            with pytest.raises(InvalidTargetError):
                twice.fork("f", at_seq=seq)
        with pytest.raises(SessionExistsError):
            twice.fork("s")
        with pytest.raises(TitleTakenError):
            twice.fork("f", title="Fix auth")
        with pytest.raises(ValueError, match="cannot be a session id"):
            twice.fork("f~2")
        assert rows_of(store) == before


def test_an_export_of_a_fork_is_an_equal_lineage_elsewhere(twice: Session, database_url: str, tmp_path: Path) -> None:
    """LIN-8"""
    twice.fork("f", at_seq=40)
    with SessionStore.open(database_url) as store, SessionStore.open(f"sqlite:///{tmp_path}/other.db") as other:
        other.import_lines("".join(store.export("f", lineage=True)).splitlines())
        ours, theirs = lineage_rows(store, "f"), lineage_rows(other, "f")
        assert {**ours, "message_tokens": []} == {**theirs, "message_tokens": []}
