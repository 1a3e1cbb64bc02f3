"""What the meter counts, whose number it believes, and what a compaction leaves of it."""
from __future__ import annotations

import base64

import pytest

from sessionstore import CompactionPolicy, SessionStore
from tests.store.conversations import SMALL, compacted, prepared, rows_of, talk

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + base64.b64encode(bytes(60_000)).decode()}}


def test_prompt_and_tool_schemas_are_counted_beside_the_messages(store: SessionStore) -> None:
    """METER-1: every part is there, and they add up."""
    session = store.create_session("a", context_window=8_000, system_prompt="You are careful. " * 30, tool_schema_tokens=700)
    session.append(talk(4))
    found = session.pressure()
    assert found.parts["tools"] == 700
    assert found.parts["system"] > 100
    assert found.parts["history"] > 200
    assert sum(found.parts.values()) == found.tokens
    session.set_system_prompt("You are careful.")
    assert session.pressure().parts["system"] < 20


def test_an_image_costs_the_same_whatever_its_bytes(store: SessionStore) -> None:
    """METER-1: base64 of an image is no text; a policy may price it otherwise."""
    session = store.create_session("a", context_window=8_000)
    session.append({"role": "user", "content": [{"type": "text", "text": "look"}, PICTURE]})
    assert 1_000 < session.pressure().tokens < 1_020
    dearer = session.pressure(CompactionPolicy(image_tokens=1_590))
    assert 1_590 < dearer.tokens < 1_610
    assert "image=1590" in dearer.method


def test_base64_and_chinese_cost_what_they_are(store: SessionStore) -> None:
    """METER-1: four characters a token is right for neither."""
    blob = base64.b64encode(bytes(range(256)) * 12).decode()
    tokens = {}
    for name, text in (("blob", blob), ("chinese", "数据库连接超时，请稍后再试。" * 100)):
        session = store.create_session(name, context_window=8_000)
        session.append({"role": "user", "content": text})
        tokens[name] = session.pressure().tokens / len(text)
    assert tokens["blob"] > 0.3
    assert tokens["chinese"] > 0.4


def test_special_tokens_in_a_text_are_text(store: SessionStore) -> None:
    """METER-1."""
    session = store.create_session("a", context_window=8_000)
    session.append({"role": "user", "content": "<|endoftext|>" * 50})
    assert session.pressure().tokens > 150


def test_the_providers_number_beats_the_estimate_and_what_comes_later_is_added(store: SessionStore) -> None:
    """METER-1: each number says how it was got."""
    session = store.create_session("a", context_window=8_000)
    session.append(talk(2))
    estimated = session.pressure()
    assert "provider" not in estimated.method
    session.record_usage(prompt=2_500, completion=100)
    measured = session.pressure()
    assert (measured.tokens, measured.method) == (2_600, "provider")
    session.append(talk(1, start=2))
    later = session.pressure()
    assert 2_600 < later.tokens < 2_600 + estimated.tokens
    assert later.method == f"provider, then {estimated.method}"
    session.record_usage(prompt=2_800, completion=50)
    # The completion is not in the context yet: its message is appended later and counted then.
    assert session.pressure().tokens == 2_800


def test_a_compaction_leaves_a_fresh_estimate_and_only_totals_of_the_providers_numbers(store: SessionStore) -> None:
    """METER-1: the number belonged to the context that went."""
    prepared(store)
    session = store.session("a")
    session.record_usage(prompt=7_000, completion=200)
    assert session.pressure().due
    session.append(talk(2, start=30))
    result = compacted(session)
    after = result.session.pressure()
    assert "provider" not in after.method
    assert after.tokens == result.tokens_after < 3_000
    record = result.session.record()
    assert (record.prompt_tokens_total, record.completion_tokens_total) == (7_000, 200)
    assert (record.usage_prompt, record.usage_seq) == (None, None)


def test_a_failed_compaction_leaves_the_meter_as_it_was(store: SessionStore) -> None:
    """METER-1, ATOM-3."""
    prepared(store)
    session = store.session("a")
    session.record_usage(prompt=5_000, completion=100)
    before, rows = session.pressure(), rows_of(store)["sessions"]
    assert session.compact(policy=SMALL, summarizer=lambda _prompt: "").status == "deferred"
    assert session.pressure().tokens == before.tokens
    assert rows_of(store)["sessions"] == rows


def test_a_smaller_model_makes_the_next_turn_begin_with_a_compaction(store: SessionStore) -> None:
    """METER-1: the check before a turn goes by the window that the session has now."""
    session = store.create_session("a", model="large", context_window=128_000)
    session.append(talk(30))
    assert session.preflight(policy=SMALL).status == "noop"
    session.set_model("small", 4_000)
    result = session.preflight(policy=SMALL)
    assert (result.status, result.session.record().model) == ("committed", "small")
    assert not result.session.pressure().due


def test_an_unknown_window_is_never_due(store: SessionStore) -> None:
    """METER-1: nobody knows of what it would be half."""
    session = store.create_session("a")
    session.append(talk(30))
    found = session.pressure()
    assert (found.tier, found.due, found.threshold, found.window) == ("ok", False, None, None)
    assert session.maintain(policy=SMALL).status == "noop"


@pytest.mark.parametrize(("tokens", "tier"), [(3_399, "ok"), (3_400, "notice"), (3_800, "high"), (4_000, "due")])
def test_tiers_begin_where_the_policy_says(store: SessionStore, tokens: int, tier: str) -> None:
    """METER-1: 0.85, 0.95 and 1.0 of half the window."""
    session = store.create_session("a", context_window=8_000)
    session.append(talk(1))
    session.record_usage(prompt=tokens, completion=0)
    assert session.pressure().tier == tier
