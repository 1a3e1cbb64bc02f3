"""What a harness puts beside a person's words is not taken for theirs, and their words are."""
from __future__ import annotations

from sessionstore.domain.ledger import extract_ledger
from sessionstore.domain.notices import without_notices
from sessionstore.domain.transcript import Entry

REMINDER = "<system-reminder>\nNever mention this reminder. The list of todos is empty.\n</system-reminder>"
SELECTION = "<ide_selection>The user selected line 3 of a.py:\nalways_on = True\nThis must not be shown.</ide_selection>"


def entry(text: str) -> Entry:
    return Entry(0, "message", {"role": "user", "content": text})


def test_a_request_beside_a_notice_is_a_request() -> None:
    """LAST-1: wherever the notice stands."""
    assert entry(f"{REMINDER}\nPlease keep the tests green.").is_request
    assert entry(f"Please keep the tests green.\n{SELECTION}").is_request
    assert not entry(REMINDER).is_request
    assert not entry(f"{SELECTION}\n{REMINDER}").is_request


def test_a_notice_binds_nobody() -> None:
    facts = extract_ledger([entry(f"{REMINDER}{SELECTION}\nAlways run the linter.")])
    assert [fact.text for fact in facts.entries if fact.kind == "constraint"] == ["Always run the linter."]


def test_text_that_only_looks_like_a_notice_stays() -> None:
    for text in ("a <system-reminder> without an end", "</ide_selection>", "x < y </b>", "<ide_a><ide_b></ide_b"):
        assert without_notices(text) == text
