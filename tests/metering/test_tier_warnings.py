"""A tier is warned of once, whoever measures, until the context is really below it again."""
from __future__ import annotations

from sessionstore import Session, SessionStore
from tests.store.conversations import WINDOW, compacted, talk


def filled(session: Session, tokens: int) -> Session:
    """The session with a provider's number in it."""
    session.record_usage(prompt=tokens, completion=0)
    return session


def new_session(store: SessionStore) -> Session:
    """A session that could be compacted, with no number yet."""
    session = store.create_session("a", context_window=WINDOW)
    session.append(talk(30))
    return session


def test_a_tier_is_new_once_for_all_processes(store: SessionStore, database_url: str) -> None:
    """METER-1: and once more when the next one is reached."""
    session = filled(new_session(store), 3_500)
    assert session.pressure().is_new_tier
    assert not session.pressure().is_new_tier
    with SessionStore.open(database_url) as other:
        assert other.session("a").pressure().tier == "notice"
        assert not other.session("a").pressure().is_new_tier
        assert filled(other.session("a"), 3_900).pressure().is_new_tier
    assert not session.pressure().is_new_tier
    filled(session, 3_500)
    assert not session.pressure().is_new_tier
    assert session.record().warned_tier == "high"


def test_a_check_after_a_turn_warns_once(store: SessionStore) -> None:
    """METER-1: in the result's warnings, with the figures."""
    session = filled(new_session(store), 3_500)
    first, second = session.maintain(), session.maintain()
    assert (first.status, second.status) == ("noop", "noop")
    assert first.warnings == ("the context has 3,500 tokens (tier notice) and is compacted at 4,000",)
    assert second.warnings == ()


def test_a_compaction_clears_a_tier_only_when_the_new_context_is_below_it(store: SessionStore) -> None:
    """METER-1: the estimate of the new context decides."""
    session = filled(new_session(store), 4_500)
    assert session.pressure().is_new_tier
    below = compacted(session).session
    assert below.record().warned_tier == "ok"
    assert filled(below, 3_500).pressure().is_new_tier


def test_a_compaction_that_stays_above_a_tier_does_not_warn_again(store: SessionStore) -> None:
    """METER-1."""
    session = store.create_session("a", context_window=WINDOW, tool_schema_tokens=3_000)
    session.append(talk(30))
    assert session.pressure().is_new_tier
    assert session.record().warned_tier == "due"
    after = compacted(session).session
    assert after.pressure().tier != "ok"
    assert not after.pressure().is_new_tier


def test_another_model_is_warned_of_anew(store: SessionStore) -> None:
    """METER-1: the tier was one of the old window."""
    session = filled(new_session(store), 3_500)
    assert session.pressure().is_new_tier
    session.set_model("larger", 2 * WINDOW)
    assert session.pressure().tier == "ok"
    assert filled(session, 7_000).pressure().is_new_tier


def test_measuring_for_a_worker_takes_nobodys_warning(store: SessionStore) -> None:
    """METER-1: whoever works in the session is told, not the worker that looks for due ones."""
    session = filled(new_session(store), 3_500)
    assert store.hygiene() == []
    assert session.pressure().is_new_tier


def test_who_only_looks_leaves_a_tier_new_for_the_agent(store: SessionStore) -> None:
    session = filled(store.create_session("a", context_window=WINDOW), 3_500)
    assert session.pressure(peek=True).is_new_tier
    assert session.pressure(peek=True).is_new_tier
    assert session.pressure().is_new_tier
    assert not session.pressure(peek=True).is_new_tier
