"""What of a talk is kept: what somebody tells, the opening goal, answers with what they answer; what only asks goes first."""
from __future__ import annotations

import json

import pytest

from sessionstore.domain import sections
from sessionstore.domain.ledger import FactKind, Ledger, extract_ledger, render_facts
from tests.counters import PieceCounter
from tests.ledger.dialects import DIALECTS, Turn, call, entries


def read(*turns: Turn) -> Ledger:
    return extract_ledger(entries(DIALECTS["chat"](turns)))


def render(ledger: Ledger, budget: int = 4_000) -> dict[str, str]:
    return render_facts(ledger, budget=budget, counter=PieceCounter())


def texts(ledger: Ledger, kind: FactKind) -> list[str]:
    return [entry.text for entry in ledger.of_kind(kind)]


def references(ledger: Ledger, form: str) -> list[str]:
    return [entry.text for entry in ledger.of_kind("reference") if entry.about == form]


@pytest.mark.parametrize(
    "sentence",
    [
        "Ortega picks us up at 13:50.",
        "I'm starting him on metformin since Tuesday.",
        "My neighbour Ilse turns 33 that day.",
        "The extract lies in /srv/exports/q3.parquet.",
        "Dr Roux sees her on 20 March.",
        "Petra is on call tonight.",
        "The innkeeper gave us the password 'pollen'.",
        "Raise it to 605 MB.",
        "El contrato lo firma Quispe.",
        "Die Bestellnummer lautet VT-99.",
        "会议定在11:10。",
        "田中部長が承認します。",
    ],
)
def test_what_a_person_tells_with_a_name_a_time_or_a_number_is_a_fact_that_the_user_gave(sentence: str) -> None:
    ledger = read(("user", sentence))
    assert sentence in [*texts(ledger, "statement"), *texts(ledger, "constraint")]


@pytest.mark.parametrize(
    "text", ["Fix the parser in src/a.py.", "Please add 3 rows to it.", "Tell me more about Rome.", "Thanks, great!"]
)
def test_an_order_for_one_deed_and_small_talk_are_no_fact_that_the_user_gave(text: str) -> None:
    assert texts(read(("user", text)), "statement") == []


def test_requests_that_only_ask_leave_before_what_somebody_told() -> None:
    turns: list[Turn] = [("user", "Help me with the logbook of the boat."), ("assistant", "Gladly.")]
    for number in range(60):
        turns += [("user", f"Thanks. What do we know about the rope {number}?"), ("assistant", "Little.")]
        if number == 20:
            turns += [("user", "Forget the oak, we're having larch."), ("assistant", "Fine.")]
    goal = render(read(*turns), 1_400)[sections.GOAL]
    assert "we're having larch" in goal
    assert "logbook" in goal
    assert "rope 58" in goal
    assert goal.count("rope") < 20


def test_a_goal_that_entered_the_ledger_late_is_still_the_first() -> None:
    """What stands in front of a summary stays out of the ledger until the next one."""
    opening = "We have to find out why the lock leaks, and write down what we do on the way to the bottom of it, step by step."
    turns: list[Turn] = [("user", opening), ("assistant", "Let me see.")]
    for number in range(40):
        turns += [("user", f"What about gate {number}?"), ("assistant", "It is as it was.")]
    log = entries(DIALECTS["chat"](turns))
    ledger = extract_ledger(log, previous=extract_ledger(log[2:]))
    for budget in (300, 1_200):
        assert opening in render(ledger, budget)[sections.GOAL]


def test_a_question_answered_with_a_question_has_no_answer_to_show() -> None:
    ledger = read(
        ("user", "Hello."), ("assistant", "Where shall we start?"), ("user", "Okay. Where did we leave the form?"),
        ("assistant", "On the desk. Shall I fetch it?"), ("user", "Yes, please."), ("assistant", "Here."), ("user", "Bye"),
    )
    resolved = render(ledger)[sections.RESOLVED_QUESTIONS]
    assert "Where shall we start?" not in resolved
    assert "Shall I fetch it? → Yes, please." in resolved


def test_a_courtesy_is_no_decision_and_a_table_or_a_condition_no_finding() -> None:
    ledger = read(
        ("user", "Go."), ("assistant", "I'll keep that confidential."), ("user", "On."),
        ("assistant", "row 6 | abc | 0.58 | It turns out that Oslo is far\nIf the Kiel note turns out to matter, we return."),
    )
    assert texts(ledger, "decision") == []
    assert texts(ledger, "finding") == []


def test_paths_and_papers_that_the_assistant_names_are_kept() -> None:
    ledger = read(("user", "Go."), ("assistant", "It is in Contracts/osprey/draft.docx, see doi 10.6518/jtg.26504."))
    assert references(ledger, "path") == ["Contracts/osprey/draft.docx"]
    assert references(ledger, "id") == ["10.6518/jtg.26504"]
    shown = "".join(render(ledger).values())
    assert "Contracts/osprey/draft.docx" in shown


def test_a_path_of_a_file_that_was_worked_on_is_not_listed_again() -> None:
    written = call("write_file", "ok", path="/w/src/app.py", content="x")
    ledger = read(("user", "Go."), written, ("assistant", "I wrote src/app.py."))
    assert "src/app.py" not in render(ledger)[sections.CRITICAL_CONTEXT]


@pytest.mark.parametrize(
    ("text", "form", "junk"),
    [
        ("commit in trace 4acb15ca-7058-4db7-9061-deb8e9e78ec4", "commit", "4acb15ca"),
        ("Write to audit-42d0c@collect.example", "id", "audit-42d0c"),
        ("4. A light soup\n3. A salad", "number", "4. A"),
    ],
)
def test_a_piece_of_something_else_is_no_reference(text: str, form: str, junk: str) -> None:
    assert junk not in references(read(("user", "Go."), ("assistant", text)), form)


def test_a_number_in_an_object_is_not_told_with_the_object_before_it() -> None:
    found = references(read(("user", "Go."), ("assistant", 'rows {"seat": 1, "free": false}, {"price": 12345')), "number")
    assert found == ['"price": 12345']


def test_what_a_log_names_as_fatal_is_an_error_though_the_log_goes_on() -> None:
    log = "03:11:58 LOG checkpoint\n03:12:01 FATAL: slots are reserved for osprey\n03:12:01 LOG shutting down"
    ledger = read(("user", "Go."), call("read_logs", log, service="db"), ("assistant", "I see."))
    assert texts(ledger, "error") == ["03:12:01 FATAL: slots are reserved for osprey"]


def test_what_a_tool_says_it_made_is_told_in_brief() -> None:
    saved = call("save_game", "stored as slot kestrel_969", name="evening")
    turns: list[Turn] = [("user", "Save it."), saved, ("assistant", "Saved.")]
    for number in range(40):
        turns += [("user", f"And room {number}?"), call("look_around", json.dumps({"room": number})), ("assistant", "Dark.")]
    assert "kestrel_969" in render(read(*turns), 500)[sections.COMPLETED_ACTIONS]
