"""What is asked of a compaction that makes no sense, or must not be repeated: refused by name, or made harmless."""

from __future__ import annotations

from typing import Any

import pytest

from sessionstore import CompactionPolicy, ConflictError, SessionStore
from tests.store.conversations import SMALL, compacted, prepared

PROSE = "## Goal\nThe user wants every module fixed. Most of them are done; the last answers say what is left to do."


def test_a_secret_in_a_focus_is_neither_stored_nor_told(store: SessionStore) -> None:
    """SEC-1."""
    prepared(store)
    asked: list[str] = []

    def summarize(prompt: str) -> str:
        asked.append(prompt)
        return PROSE

    compacted(store.session("a"), focus="the login with password=hunter2secretX", summarizer=summarize)
    trace = store.lineage("a")
    assert trace.compactions[0].focus == "the login with password=[REDACTED:password]"
    assert "hunter2secretX" not in repr(trace) + repr(asked)


def test_half_a_character_in_a_focus_is_stored_as_what_can_be(store: SessionStore) -> None:
    prepared(store)
    compacted(store.session("a"), focus="the login \ud83d")
    assert store.lineage("a").compactions[0].focus == "the login \ufffd"


def test_an_unknown_trigger_is_refused_with_the_known_ones(store: SessionStore) -> None:
    """ATOM-3: nothing is claimed or flushed for it."""
    said = prepared(store)
    trigger: Any = "bogus"
    with pytest.raises(ValueError, match="manual, auto, preflight, hygiene, offline"):
        store.session("a").compact([*said, {"role": "user", "content": "x"}], policy=SMALL, trigger=trigger)
    assert (store.session("a").context(), store.lineage("a").compactions) == (said, [])


@pytest.mark.parametrize("given", [-1, 1.5, True, "7", None])
def test_a_usage_that_is_no_number_of_tokens_is_refused(store: SessionStore, given: Any) -> None:
    """METER-1."""
    prepared(store)
    session = store.session("a")
    before = session.pressure(peek=True)
    for usage in ({"prompt": given, "completion": 0}, {"prompt": 100, "completion": given}):
        with pytest.raises(ValueError, match=r"^(prompt|completion) is "):
            session.record_usage(**usage)
    assert session.pressure(peek=True) == before


@pytest.mark.parametrize("change", ["pin", "set_model"])
def test_a_change_of_settings_meanwhile_is_told_as_what_it_is(store: SessionStore, change: str) -> None:
    """ATOM-3."""
    prepared(store)

    def changing(_prompt: str) -> str:
        other = store.session("a")
        other.pin(10) if change == "pin" else other.set_model("small", context_window=4_000)
        return PROSE

    with pytest.raises(ConflictError, match=r"settings of session 'a' .* changed .* Compact it again") as caught:
        store.session("a").compact(policy=SMALL, summarizer=changing)
    assert "cursor" not in str(caught.value)
    assert (caught.value.expected, caught.value.found) == (30, 30)


@pytest.mark.parametrize(
    "numbers",
    [
        {"head_messages": 1.5},
        {"tail_messages": 2.5},
        {"tail_messages": -1},
        {"tail_tokens": 100.0},
        {"min_tail_messages": True},
        {"keep_user_turns": 0},
        {"keep_user_turns": -1},
        {"summary_max_tokens": "8000"},
        {"max_strikes": None},
        {"min_saving": float("nan")},
        {"trigger_ratio": True},
        {"tail_ratio": "0.2"},
    ],
)
def test_a_policy_of_numbers_that_make_no_sense_is_refused(numbers: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(numbers))} is "):
        CompactionPolicy(**numbers)
