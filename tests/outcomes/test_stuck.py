"""What cannot shrink is said at once, by name; what is fine is left alone; what was often compacted is warned of."""
from __future__ import annotations

from dataclasses import replace

import pytest

from sessionstore import CompactionHooks, CompactionPolicy, CompactionStuckError, SessionStore
from tests.store.conversations import SMALL, WINDOW, compacted, prepared, talk


def unasked(_given: object) -> str:
    """A model, or a hook, that nobody may ask."""
    pytest.fail("it was asked")


def test_one_giant_request_is_stuck_and_named(database_url: str) -> None:
    """STUCK-1: before any model or hook is asked, and again at the next attempt, without a strike."""
    with SessionStore.open(database_url, hooks=CompactionHooks(flush_memories=unasked)) as store:
        session = store.create_session("a", context_window=WINDOW)
        session.append([*talk(2), {"role": "user", "content": "Sort these numbers: " + "17 4 9 " * 3_000}, *talk(1, start=9)])
        for result in (session.compact(summarizer=unasked, policy=SMALL), session.maintain(summarizer=unasked)):
            assert (result.status, result.session.id) == ("stuck", "a")
            assert "#2 (user, tail)" in result.reason
            with pytest.raises(CompactionStuckError, match="start a new session"):
                result.raise_for_status()
        assert store.lineage("a").lineage.strikes == 0
        assert session.record().next_seq == 4


def test_pins_and_tool_schemas_that_fill_the_window_are_named(store: SessionStore) -> None:
    """STUCK-1."""
    session = store.create_session("a", context_window=WINDOW, tool_schema_tokens=5_000)
    session.append(talk(8))
    result = session.compact(summarizer=unasked, policy=SMALL)
    assert (result.status, "system prompt and tool schemas with 5,000 tokens" in result.reason) == ("stuck", True)
    other = store.create_session("b", context_window=1_000)
    seqs = other.append(talk(12))
    other.pin(*seqs)
    pinned = other.compact(summarizer=unasked, policy=SMALL)
    assert (pinned.status, "pinned" in pinned.reason) == ("stuck", True)


def test_a_context_below_its_threshold_with_nothing_to_give_is_a_noop(store: SessionStore) -> None:
    """STUCK-1: it is not stuck, since it isn't full."""
    session = store.create_session("a", context_window=128_000)
    session.append([{"role": "user", "content": "Sort these numbers: " + "17 4 9 " * 2_000}])
    result = session.compact(summarizer=unasked)
    assert result.status == "noop"
    result.raise_for_status()


def test_the_second_compaction_and_every_later_one_warns(store: SessionStore) -> None:
    """NEST-1: accuracy degrades with each; the first has nothing to warn of."""
    prepared(store)
    session = store.session("a")
    warned = []
    for number in range(3):
        result = compacted(session)
        warned.append([warning for warning in result.warnings if "accuracy" in warning])
        session = result.session
        session.append(talk(20, start=100 * (number + 1)))
    assert warned[0] == []
    assert ["compacted once before" in warning for warning in warned[1]] == [True]
    assert ["compacted 2 times before" in warning for warning in warned[2]] == [True]


def test_exactly_the_least_saving_commits(store: SessionStore) -> None:
    """SHRINK-1: what is saved is measured first, and then asked for to the token."""
    session = store.create_session("a", context_window=WINDOW)
    session.append({"role": "user", "content": "Read it."})
    call = {"id": "c", "type": "function", "function": {"name": "terminal", "arguments": '{"command":"ls"}'}}
    session.append([{"role": "assistant", "content": None, "tool_calls": [call]},
                    {"role": "tool", "tool_call_id": "c", "content": "file\n" * 400}, *talk(6)])  # fmt: skip
    tried = session.fork("measured").compact(policy=CompactionPolicy(summarize=False, keep_tool_results=0, head_messages=0))
    assert tried.status == "committed"
    saved = (tried.tokens_before - tried.tokens_after) / tried.tokens_before
    asked = {"summarize": False, "keep_tool_results": 0, "head_messages": 0}
    more = session.compact(policy=CompactionPolicy(**asked, min_saving=saved + 0.001))  # type: ignore[arg-type]  # fields
    assert more.status == "aborted"
    assert session.compact(policy=CompactionPolicy(**asked, min_saving=saved - 1e-9)).status == "committed"  # type: ignore[arg-type]  # fields


def test_a_compaction_that_saves_enough_and_stays_over_the_threshold_says_so(store: SessionStore) -> None:
    """STUCK-1: the head alone is too large for the window; the summary isn't made larger than the least one as well."""
    session = store.create_session("a", context_window=WINDOW)
    session.append([{"role": "user", "content": "These are the rules. " + "17 4 9 " * 1_500}, *talk(300, start=1)])
    result = session.compact(policy=SMALL)
    assert result.status == "committed"
    assert result.tokens_after > WINDOW * SMALL.trigger_ratio
    assert result.plan is not None
    assert result.plan.summary_budget == SMALL.summary_min_tokens
    assert [warning for warning in result.warnings if f"the new context has {result.tokens_after:,} tokens" in warning]


def test_a_compaction_that_ends_below_the_threshold_has_no_such_warning(store: SessionStore) -> None:
    prepared(store)
    assert [warning for warning in compacted(store.session("a")).warnings if "threshold" in warning] == []


def test_a_summary_alone_is_not_summarised_again(store: SessionStore) -> None:
    """NEST-1: with nothing else between head and tail there is nothing to do, and no model is asked."""
    prepared(store)
    session = compacted(store.session("a")).session
    session.append(talk(3, start=200))
    result = session.compact(summarizer=unasked, policy=replace(SMALL, tail_messages=len(session.context())))
    assert result.status == "noop"


def test_compactions_that_were_undone_are_not_counted_in_the_warning(store: SessionStore) -> None:
    prepared(store)
    session = store.session("a")
    for number in range(3):
        session = compacted(session).session.undo_compaction()
        session.append(talk(4, start=100 + 10 * number))
    session = compacted(session).session
    session.append(talk(20, start=200))
    (warning,) = [warning for warning in compacted(session).warnings if "accuracy" in warning]
    assert "compacted once before" in warning


@pytest.mark.parametrize("window", [0, -5])
def test_a_window_without_a_token_in_it_is_refused(store: SessionStore, window: int) -> None:
    with pytest.raises(ValueError, match="context_window"):
        store.create_session("b", context_window=window)
    session = store.create_session("a")
    with pytest.raises(ValueError, match="context_window"):
        session.set_model("m", window)
    with pytest.raises(ValueError, match="context_window"):
        session.compact(context_window=window)


@pytest.mark.parametrize("given", [{"trigger_ratio": 7}, {"trigger_ratio": 0}, {"tail_ratio": -0.1}, {"head_messages": -1}])
def test_a_policy_that_makes_no_sense_is_refused(given: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(given))):
        CompactionPolicy(**given)  # type: ignore[arg-type]  # whatever the test asks
