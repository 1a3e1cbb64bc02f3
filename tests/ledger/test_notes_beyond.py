"""A model's notes and the ledger have one room: what both say is said once, what only the notes say stays."""
from __future__ import annotations

import json

import pytest

from sessionstore import CompactionPolicy, SessionStore
from sessionstore.domain.ledger import Ledger, extract_ledger, notes_beyond
from tests.counters import PieceCounter
from tests.ledger.dialects import DIALECTS, call, entries
from tests.ledger.test_what_is_kept import leg


def beyond(notes: str) -> str:
    ledger = known()
    return notes_beyond(notes, ledger, shown="\n".join(entry.text for entry in ledger.entries))


def known() -> Ledger:
    turns = [
        ("user", "Before we start: Never drop the ledger_4 table without a backup."), ("assistant", "Understood."),
        call("write_file", "Wrote 20 bytes.", path="src/parts/part_4.py", content="x = 1\n"), ("assistant", "Written."),
        call("bash", "building\nexit code: 3", command="make build-4 TARGET=arm"), ("assistant", "It fails."),
    ]
    return extract_ledger(entries(DIALECTS["chat"](turns)))


@pytest.mark.parametrize("line", [
    "- src/parts/part_4.py was written.",
    "1. `make build-4 TARGET=arm` ended with exit code 3.",
    "Never drop the ledger_4 table without a backup.",
    "* Wrote src/parts/part_4.py, ran make build-4 TARGET=arm (exit 3)",
])
def test_a_line_that_only_repeats_facts_goes(line: str) -> None:
    assert beyond(f"## Critical Context\n{line}\n- The tides matter more than the berths.") == (
        "## Critical Context\n- The tides matter more than the berths."
    )


@pytest.mark.parametrize("line", [
    "- src/parts/part_4.py was written because the parser needs a module of its own.",
    "- `make build-4 TARGET=arm` ended with exit code 5.",
    "- Do not run make build-4 TARGET=arm.",
    "- The builds are slow.",
])
def test_a_line_that_says_anything_more_stays(line: str) -> None:
    assert beyond(line) == f"## Critical Context\n{line}"


def test_what_stands_under_a_heading_of_what_is_to_do_stays() -> None:
    notes = "## Blocked\n- make build-4 TARGET=arm\n## Remaining Work\n- src/parts/part_4.py"
    assert beyond(f"{notes}\n## Relevant Files\n- src/parts/part_4.py") == notes


def test_a_line_under_a_heading_stays_whose_fact_there_is_no_room_for() -> None:
    notes = "## Relevant Files\n- src/parts/part_4.py was written."
    assert notes_beyond(notes, known(), shown="- tests/part_5.py") == notes
    assert notes_beyond(notes, known(), shown="- src/parts/part_4.py") == ""


def test_notes_that_repeat_every_fact_cost_the_ledger_no_room(database_url: str) -> None:
    """NEST-2: a model that says again what the ledger has doesn't push any of it out."""
    expected: list[str] = []
    policy = CompactionPolicy(summary_min_tokens=1_300, summary_max_tokens=1_300)
    with SessionStore.open(database_url, counter=PieceCounter()) as store:
        session = store.create_session(context_window=12_000)
        for number in range(8):
            turns, facts = leg(number)
            expected += facts
            session.append(DIALECTS["chat"](turns))
            legs = [expected[at: at + 5] for at in range(0, len(expected), 5)]
            path, command, error, rule, customer = zip(*legs, strict=True)
            notes = [
                *(f"- {name} was written." for name in path), *(f"- `{line}` ended with exit code 3." for line in command),
                *(f"- It failed with {line}" for line in error), *(f"- {line}" for line in rule),
                *(f"- The customer is {name}." for name in customer),
            ]
            answer = "\n".join(["This is what was seen:", *notes])
            result = session.compact(summarizer=lambda _prompt, answer=answer: answer, policy=policy)
            assert result.status == "committed", result.reason
            assert "This is what was seen:" in (result.summary or "")
            session = result.session
        context = "\n".join(json.dumps(message, ensure_ascii=False) for message in session.context())
    assert [fact for fact in expected if fact not in context] == []
