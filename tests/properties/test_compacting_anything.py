"""Properties of compactions through the store, over random transcripts in three dialects and mixed ones."""
from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessionstore import CompactionPolicy, CompactionResult, Session, SessionStore
from sessionstore.domain.closed_sets import Profile
from sessionstore.domain.ledger import EMPTY_LEDGER
from tests.counters import PieceCounter
from tests.ledger.test_ledger_properties import assert_kept
from tests.properties.conversing import FEW, SYSTEM, last_requests, new_session, policies, stretches, work
from tests.properties.outside_validator import refusal
from tests.validity import faults

Message = dict[str, Any]
PROFILES: tuple[Profile, ...] = get_args(Profile)


@pytest.fixture
def shared(database_url: str) -> Iterator[SessionStore]:
    """One store for all examples of a test, whose counter needs no vocabulary."""
    with SessionStore.open(database_url, counter=PieceCounter()) as store:
        yield store


def narrate(prompt: str) -> str:
    """Prose of a model, to whom only text can be sent that is text."""
    prompt.encode("utf-8")
    return "## Goal\nThe user wants slow modules made faster. Most of them are done; the last answers say what is left to do."


def assert_valid(session: Session) -> None:
    """What is handed out can be sent to any provider."""
    for profile in PROFILES:
        rendered = session.render(profile)
        assert faults(rendered, profile) == [], profile
        if profile == "strict":
            assert refusal(rendered) is None


def assert_within_budget(result: CompactionResult[Session]) -> None:
    """Smaller by a tenth, and no more than what had to stay with a summary of the planned size; or nothing was written."""
    if result.status != "committed":
        assert result.status in ("noop", "stuck"), result.reason
        assert result.tokens_after == result.tokens_before
        return
    plan = result.plan
    assert plan is not None
    assert result.tokens_after <= 0.9 * result.tokens_before
    assert result.session.pressure(CompactionPolicy(image_tokens=50)).tokens == result.tokens_after
    if result.summary is not None:
        assert result.tokens_after <= plan.kept_tokens + plan.summary_budget + growth_of(result)


def growth_of(result: CompactionResult[Session]) -> int:
    """Tokens of the note that a first compaction adds to the system prompt, at most."""
    return PieceCounter().count(result.system_prompt or "") - PieceCounter().count(SYSTEM)


@FEW
@given(
    said=st.lists(stretches(), min_size=2, max_size=4),
    request=last_requests(),
    after=work(),
    policy=policies(),
    summarizer=st.sampled_from([None, narrate]),
    profile=st.sampled_from(PROFILES),
)
def test_what_is_handed_out_is_valid_and_the_last_request_is_in_it(
    shared: SessionStore,
    said: list[list[Message]],
    request: Message,
    after: list[Message],
    policy: CompactionPolicy,
    summarizer: Callable[[str], str] | None,
    profile: Profile,
) -> None:
    """PAIR-1, PAIR-2, PAIR-3, ROLE-1, LAST-1, SHRINK-1, LOG-4."""
    session = new_session(shared, profile=profile)
    written = [*(message for stretch in said for message in stretch), request, *after]
    given_list = copy.deepcopy(written)
    session.append(given_list)
    result = session.compact(policy=policy, summarizer=summarizer)
    assert given_list == written
    assert_within_budget(result)
    assert_valid(result.session)
    assert request in result.messages
    rows = result.session.context_rows()
    place = next(index for index, row in enumerate(rows) if row.message == request)
    assert not any(row.kind == "summary" for row in rows[place:])
    assert request in result.session.render("openai")
    assert [row.message for row in result.session.history(0, len(written) - 1)] == written


@FEW
@given(said=st.lists(stretches(), min_size=2, max_size=4), policy=policies())
def test_compacting_again_without_new_work_changes_nothing(
    shared: SessionStore, said: list[list[Message]], policy: CompactionPolicy
) -> None:
    """SHRINK-1: whatever the first one did, and also by force."""
    session = new_session(shared)
    session.append([message for stretch in said for message in stretch])
    first = session.compact(policy=policy)
    for force in (False, True):
        again = first.session.compact(policy=policy, force=force)
        assert again.status == ("noop" if first.status == "committed" else first.status)
        assert (again.session.id, again.messages) == (first.session.id, first.messages)


@FEW
@given(said=stretches(), policy=policies(), profile=st.sampled_from(PROFILES))
def test_pruning_again_finds_nothing_left_to_prune(
    shared: SessionStore, said: list[Message], policy: CompactionPolicy, profile: Profile
) -> None:
    """PRUNE-1, SHRINK-1: pruning is idempotent and never grows."""
    session = new_session(shared, profile=profile)
    session.append([*said, *said])
    pruning = replace(policy, summarize=False, min_saving=0.0, min_tail_messages=0, tail_messages=1, head_messages=0)
    first = session.compact(policy=pruning)
    assert first.tokens_after <= first.tokens_before
    assert_valid(first.session)
    first.session.append({"role": "user", "content": "ok"})
    again = first.session.compact(policy=pruning)
    assert again.messages[: len(first.messages) - 1] == first.messages[:-1]


@FEW
@given(stretch=st.lists(stretches(), min_size=2, max_size=3), policy=policies())
def test_ten_compactions_keep_every_fact_and_every_original(
    shared: SessionStore, stretch: list[list[Message]], policy: CompactionPolicy
) -> None:
    """NEST-1, NEST-2, PROV-1: the ledger only grows, and ``expand`` gives exactly what is no longer in the context."""
    session = new_session(shared)
    ledger, written, committed = EMPTY_LEDGER, list[Message](), 0
    for generation in range(10):
        new = stretch[generation % len(stretch)]
        session.append(new)
        written += new
        result = session.compact(policy=policy)
        assert_within_budget(result)
        session = result.session
        if result.status != "committed" or result.ledger is None:
            continue
        committed += 1
        assert_kept(ledger, result.ledger)
        ledger = result.ledger
        rows = session.context_rows()
        (summary,) = [row for row in rows if row.kind == "summary"]
        staying = {row.seq if row.origin_seq is None else row.origin_seq for row in rows}
        log = [row for row in session.history(0, session.record().next_seq - 1) if row.kind == "message"]
        assert [row.message for row in log] == written
        assert session.expand(summary.seq) == [row for row in log if row.seq not in staying]
    assert_valid(session)
    assert committed
