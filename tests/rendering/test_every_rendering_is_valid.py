"""Properties of renderings over random transcripts in all dialects."""

from __future__ import annotations

import copy
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessionstore.domain.closed_sets import Profile
from sessionstore.domain.rendering import USER_BRIDGE, render_context
from sessionstore.domain.transcript import Entry, view_message
from tests.transcripts import contexts
from tests.validity import faults

PROFILES: tuple[Profile, ...] = get_args(Profile)


@pytest.mark.parametrize("profile", PROFILES)
@given(entries=contexts())
@settings(max_examples=100, deadline=None)
def test_every_rendering_is_valid_for_its_profile(profile: Profile, entries: list[Entry]) -> None:
    """PAIR-1, PAIR-2, PAIR-3, ROLE-1."""
    rendering = render_context(entries, profile=profile, system_prompt="You are an agent.", task_text="Goal: x")
    assert faults(rendering.messages, profile) == []
    assert len(rendering.sources) == len(rendering.messages)


@given(entries=contexts(), profile=st.sampled_from(PROFILES))
@settings(max_examples=100, deadline=None)
def test_rendering_changes_nothing_and_gives_the_same_again(entries: list[Entry], profile: Profile) -> None:
    """LOG-4, ROLE-1."""
    before = copy.deepcopy([entry.message for entry in entries])
    first = render_context(entries, profile=profile, system_prompt=None)
    again = [Entry(entry.seq, entry.kind, copy.deepcopy(entry.message)) for entry in entries]
    assert render_context(again, profile=profile, system_prompt=None) == first
    assert [entry.message for entry in entries] == before


@given(entries=contexts(), profile=st.sampled_from(PROFILES), words=st.sampled_from(["what now?", " spaced ", "Größe\nzwei"]))
@settings(max_examples=100, deadline=None)
def test_the_last_users_message_is_rendered_verbatim_and_last(entries: list[Entry], profile: Profile, words: str) -> None:
    """LAST-1."""
    request = Entry(seq=9_000, kind="message", message={"role": "user", "content": words})
    rendering = render_context([*entries, request], profile=profile, system_prompt="s")
    assert rendering.messages[-1] == {"role": "user", "content": words}
    assert rendering.sources[-1] == (9_000,)


@given(entries=contexts(max_turns=5), profile=st.sampled_from(PROFILES))
@settings(max_examples=100, deadline=None)
def test_what_every_user_said_is_in_the_rendering(entries: list[Entry], profile: Profile) -> None:
    """LAST-1."""
    rendering = render_context(entries, profile=profile, system_prompt=None)
    said = [view_message(message).text for message in rendering.messages if view_message(message).role == "user"]
    for entry in entries:
        if entry.is_request:
            assert entry.view.text.strip() in "\n".join(said)


@given(entries=contexts(), profile=st.sampled_from(PROFILES))
@settings(max_examples=100, deadline=None)
def test_bridges_are_the_only_messages_that_no_row_or_call_asked_for(entries: list[Entry], profile: Profile) -> None:
    """ROLE-1."""
    rendering = render_context(entries, profile=profile, system_prompt=None)
    for message, sources in zip(rendering.messages, rendering.sources, strict=True):
        if not sources and message.get("role") == "user" and isinstance(message["content"], str):
            assert message["content"] == USER_BRIDGE or message["content"] == "Reference only: what came before."
