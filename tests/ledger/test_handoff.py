"""A hand-written transcript of an agent at work, and what the next agent has to read in its facts."""
from __future__ import annotations

from itertools import pairwise

import pytest

from sessionstore.domain import sections
from sessionstore.domain.ledger import EMPTY_LEDGER, extract_ledger, render_facts
from tests.counters import PieceCounter
from tests.ledger.dialects import entries
from tests.ledger.handoff_transcript import messages

LOG = entries(messages())


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return render_facts(extract_ledger(LOG), budget=3_000, counter=PieceCounter(), active=LOG[-1])


def test_it_is_a_transcript_of_about_sixty_messages() -> None:
    assert 50 <= len(LOG) <= 65


@pytest.mark.parametrize(
    ("section", "line"),
    [
        (sections.ACTIVE_TASK, "Thanks. Now run everything and update the changelog for version 2.4.1. #51"),
        (sections.GOAL, "Customers are charged twice when the gateway times out (ticket PAY-2291). Find out why and fix it."),
        (sections.CONSTRAINTS, "- Never call the live gateway. #0"),
        (sections.CONSTRAINTS, "- No, only stop it. #19"),
        (sections.CONSTRAINTS, "- Use at most 3 attempts. #19"),
        (sections.CONSTRAINTS, "- Go on, and keep the stub under 40 lines. #45"),
        (sections.COMPLETED_ACTIONS, "3. `pytest -q tests/test_retry.py` → exit 0: 15 passed in 2.04s (before: exit 1 #13) "),
        (sections.COMPLETED_ACTIONS, "`python scripts/affected.py --since 2031-04-02` → exit 0: 417 rows #16"),
        (sections.COMPLETED_ACTIONS, "edited /srv/shop/billing/charge.py #29"),
        (sections.ACTIVE_STATE, "- Branch: fix/double-charge #"),
        (sections.ACTIVE_STATE, "- Last commit: 9c41e7a Send an idempotency key #34"),
        (sections.ACTIVE_STATE, "- Working directory: /srv/shop #"),
        (sections.ACTIVE_STATE, "- Last test run: `pytest -q tests/test_double_charge.py` → exit 2"),
        (sections.ACTIVE_STATE, "since the last commit (2 files, newest first): /srv/shop/tests/stubs.py, /srv/shop/tests/t"),
        (sections.IN_PROGRESS, "- Write a regression test #"),
        (sections.BLOCKED, "- ModuleNotFoundError: No module named 'responses' (from `pytest -q tests/test_double_charge.py`)"),
        (sections.BLOCKED, "- ERROR: Could not find a version that satisfies the requirement responses==0.25.3 (from `pip"),
        (sections.KEY_DECISIONS, "- I'll use an idempotency key instead of a lock because the gateway already honours the I"),
        (sections.RESOLVED_QUESTIONS, "- Which orders are affected? → 417 orders since 2031-04-02 are affected, all from b"),
        (sections.RESOLVED_QUESTIONS, "- Should the fix refund them too? → No, only stop it. Refunds are done by finance."),
        (sections.RELEVANT_FILES, "- /srv/shop/billing/retry.py (edited, read) #10, #27"),
        (sections.RELEVANT_FILES, "- /srv/shop/tests/stubs.py (written) #46"),
        (sections.REMAINING_WORK, "- Update the changelog #"),
        (sections.CRITICAL_CONTEXT, "The sandbox is now at https://sandbox2.gateway.invalid/v3. #35"),
        (sections.CRITICAL_CONTEXT, "Root cause: `retry()` posts again after a timeout without an idempotency key. #14"),
        (sections.CRITICAL_CONTEXT, "Resolved #32: FAILED tests/test_retry.py::test_timeout_charges_once - AssertionError: "),
    ],
)
def test_the_facts_stand_under_their_headings_with_their_seqs(texts: dict[str, str], section: str, line: str) -> None:
    """PROV-1."""
    assert line in texts[section]


def test_what_was_replaced_or_done_is_not_shown_as_current(texts: dict[str, str]) -> None:
    everything = "\n".join(text for text in texts.values())
    assert "https://sandbox.gateway.invalid" not in everything
    assert "Reproduce the double charge" not in texts[sections.REMAINING_WORK] + texts[sections.IN_PROGRESS]
    assert texts[sections.PENDING_ASKS] == ""


def test_reading_it_in_five_generations_gives_the_same_text(texts: dict[str, str]) -> None:
    """NEST-2: calls and results are never parted, as a compaction never parts them."""
    ledger = EMPTY_LEDGER
    cuts = [0, 9, 20, 31, 46, len(LOG)]
    for first, last in pairwise(cuts):
        ledger = extract_ledger(LOG[first:last], previous=ledger)
    later = render_facts(ledger, budget=3_000, counter=PieceCounter(), active=LOG[-1])
    differences = [section for section in sections.SECTIONS if later[section] != texts[section]]
    assert differences == []
