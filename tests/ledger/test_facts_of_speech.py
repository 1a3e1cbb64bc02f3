"""What people and the model say leaves in the ledger: requests, constraints, values, decisions, questions, references."""
from __future__ import annotations

import pytest

from sessionstore.domain.ledger import FactKind, Ledger, extract_ledger
from sessionstore.domain.transcript import Entry
from tests.ledger.dialects import DIALECTS, Turn, call, entries


def read(*turns: Turn) -> Ledger:
    return extract_ledger(entries(DIALECTS["chat"](turns)))


def texts(ledger: Ledger, kind: FactKind) -> list[str]:
    return [entry.text for entry in ledger.of_kind(kind)]


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_every_request_is_kept_verbatim_with_the_answer_that_ended_its_turn(dialect: str) -> None:
    turns: list[Turn] = [
        ("user", "Fix the  parser,\nplease."),
        ("assistant", "I'll look at it."),
        call("bash", "[exit 0]", command="ls"),
        ("assistant", "The parser is fixed."),
        ("user", "Now the lexer"),
    ]
    first, second = extract_ledger(entries(DIALECTS[dialect](turns))).of_kind("request")
    assert (first.text, first.seqs) == ("Fix the  parser,\nplease.", (0,))
    assert (first.closed_by, first.outcome) == (4, "The parser is fixed.")
    assert (second.text, second.closed_by) == ("Now the lexer", None)


def test_equal_requests_are_two_requests() -> None:
    ledger = read(("user", "continue"), ("assistant", "ok"), ("user", "continue"))
    assert [entry.seqs for entry in ledger.of_kind("request")] == [(0,), (2,)]


def test_of_a_very_long_request_the_rest_is_named_by_its_seq() -> None:
    text = read(("user", "x" * 10_000)).of_kind("request")[0].text
    assert text.startswith("x" * 4_000)
    assert text.endswith("[6,000 more characters: #0]")


def test_a_summary_is_no_request_and_adds_nothing() -> None:
    """MARK-1: the stored kind says so; a user's text that looks like one is a request."""
    text = "# Summary\nNever use port 8080. Decided to use tabs."
    assert extract_ledger([Entry(3, "summary", {"role": "user", "content": text})]).entries == ()
    assert texts(extract_ledger([Entry(3, "message", {"role": "user", "content": text})]), "request") == [text]


@pytest.mark.parametrize(
    "sentence",
    [
        "Never push to main without a review.",
        "You must keep the public API stable",
        "Please don’t touch the migrations folder.",
        "I prefer tabs over spaces.",
        "Use at most two workers.",
        "Make sure that the tests pass on Windows.",
        "Die Antwort darf nicht länger als drei Sätze sein.",
        "Bitte keine neuen Abhängigkeiten hinzufügen.",
        "N'utilise jamais de variables globales.",
        "Il faut garder la compatibilité avec Python 3.9.",
        "Nunca borres los archivos de registro.",
        "Usa solo la biblioteca estándar.",
        "Никогда не меняй схему базы данных.",
        "Нужно сохранить обратную совместимость.",
        "请不要修改数据库结构。",
        "必须使用中文回答。",
        "テストを必ず実行してください。",
        "外部ライブラリは使わないでください。",
        "SAFETY RULE: stop and escalate. Ask a human first.",
    ],
)
def test_a_sentence_of_the_user_that_binds_is_a_constraint_verbatim(sentence: str) -> None:
    """LANG-1."""
    ledger = read(("user", f"Let us begin.\n{sentence}\nThanks!"))
    assert texts(ledger, "constraint") == [sentence]


@pytest.mark.parametrize("text", ["Please fix the login page", "I don't know why it fails", "I want you to analyse the report"])
def test_a_plain_request_is_no_constraint(text: str) -> None:
    assert texts(read(("user", text)), "constraint") == []


def test_what_a_harness_says_in_the_users_role_is_marked_so() -> None:
    ledger = read(("user", "<system-reminder>You must always use the todo tool.</system-reminder>"))
    assert {entry.source for entry in ledger.entries} == {"bulk"}


def test_values_that_the_user_gives_are_statements() -> None:
    ledger = read(("user", "Region is eu-9 and the ticket is INC-7741.\nthe weather is nice\nFACT: Owner: Ana Lima"))
    assert texts(ledger, "statement") == ["Region is eu-9 and the ticket is INC-7741.", "FACT: Owner: Ana Lima"]


def test_an_error_that_the_user_pastes_is_an_error() -> None:
    assert texts(read(("user", "it says\nTypeError: x is not a function\n    at f (a.js:3:1)")), "error") == [
        "TypeError: x is not a function"
    ]


def test_decisions_and_findings_of_the_assistant_keep_their_reasons() -> None:
    ledger = read(
        ("user", "go"),
        ("assistant", "I'll use SQLite instead of Redis: it needs no server. Root cause: `parse()` drops a row.\nI chose:"),
    )
    assert texts(ledger, "decision") == ["I'll use SQLite instead of Redis: it needs no server."]
    assert texts(ledger, "finding") == ["Root cause: `parse()` drops a row."]


def test_a_question_gets_its_answer_from_whoever_answers() -> None:
    ledger = read(
        ("user", "Which port does it use?"),
        ("assistant", "It listens on port 8123.\n\nShall I change it?"),
        ("user", "yes, to 9000"),
    )
    mine, theirs = ledger.of_kind("question")
    assert (mine.text, mine.closed_by) == ("Which port does it use?", 1)
    assert mine.outcome.startswith("It listens on port 8123.")
    assert (theirs.text, theirs.source, theirs.outcome) == ("Shall I change it?", "assistant", "yes, to 9000")


def test_a_question_asked_through_a_tool_is_answered_by_its_result() -> None:
    ledger = read(call("AskUserQuestion", "User chose: blue", questions=[{"question": "Which colour?", "options": []}]))
    question = ledger.of_kind("question")[0]
    assert (question.text, question.outcome, question.closed_by) == ("Which colour?", "User chose: blue", 1)


def test_only_the_last_answer_says_what_is_left() -> None:
    ledger = read(
        ("user", "go"), ("assistant", "Done with a.py. Next: the lexer tests."),
        ("user", "go on"), ("assistant", "Lexer done. Still to do: the docs page."),
    )
    assert [(entry.text, entry.closed_by) for entry in ledger.of_kind("next")] == [
        ("Next: the lexer tests.", 3), ("Still to do: the docs page.", None)
    ]


@pytest.mark.parametrize(
    ("text", "form", "found"),
    [
        ("see https://example.invalid/a?b=1.", "url", "https://example.invalid/a?b=1"),
        ("the ticket is ABC-123", "id", "ABC-123"),
        ("closes issue #42 at last", "id", "issue #42"),
        ("upstream pallets/flask#5123 has it", "id", "pallets/flask#5123"),
        ("run 5f0c4a2e-1111-4222-8333-9a9a9a9a9a9a failed", "id", "5f0c4a2e-1111-4222-8333-9a9a9a9a9a9a"),
        ("request req_8f3a21 timed out", "id", "req_8f3a21"),
        ("since commit deadbe3f it fails", "commit", "deadbe3f"),
        ("it runs at db.internal:5432", "host", "db.internal:5432"),
        ("bind 127.0.0.1:8080 then", "host", "127.0.0.1:8080"),
        ("the API on port 8123", "port", "the API on port 8123"),
        ("needs requests==2.31.0 now", "version", "requests==2.31.0"),
        ("tag v1.4.2 first", "version", "v1.4.2"),
        ("the cap is $512 a day", "number", "the cap is $512"),
        ("p95 latency of 412 ms", "number", "p95 latency of 412 ms"),
        ("she takes 40 mg", "number", "she takes 40 mg"),
        ("还剩9633件。", "number", "还剩9633件"),
    ],
)
def test_references_in_what_is_said_are_kept_exactly(text: str, form: str, found: str) -> None:
    ledger = read(("assistant", text))
    assert found in [entry.text for entry in ledger.of_kind("reference") if entry.about == form]


def test_a_flood_of_links_in_an_output_is_bounded_and_the_same_links_in_a_request_are_not() -> None:
    links = "\n".join(f"https://example.invalid/{number}" for number in range(50))
    assert len(read(call("fetch", links, url="x")).of_kind("reference")) < 10
    assert len(read(("user", links)).of_kind("reference")) == 50


@pytest.mark.parametrize(
    ("older", "newer", "replaced"),
    [
        ("The budget cap is $300 in total.", "The budget cap is $450 in total.", True),
        ("The server listens on port 8080.", "The server now listens on port 9000.", True),
        ("Please answer in Formal style.", "The preferred answer style is Casual.", True),
        ("The production database runs in eu-1.", "The staging database runs in us-2.", False),
        ("The billing service port is 8080.", "The search service port is 9090.", False),
        ("The timeout is 30 seconds.", "The timeout is 30 seconds.", False),
        ("Never log passwords of users.", "Never log more than 10 lines of output.", False),
        ("Never delete the template_116 module of the shop.", "Never change the inventory_118 module of the shop.", False),
        ("Never use more than 3 workers of the pool.", "Never use more than 5 workers of the pool.", True),
        ("Use at most 12 workers in the mail pool.", "Use at most 14 workers in the search pool.", False),
        ("Only Ilse Maar may approve releases.", "Only Bert Loos may approve releases.", True),
        ("Never wake Ilse Maar at night.", "Never wake Bert Loos at night.", False),
        ("Only Ilse may approve ticket 116.", "Only Bert may approve ticket 156.", False),
        ("Always keep part 5 in one piece.", "Always keep part 6 in one piece.", False),
        ("Please use port 8080 only.", "Please use port 9090 only.", True),
        ("Before I forget: Only Ilse may sign.", "One more thing: Only Bert may sign for 3 days.", False),
        ("FACT: The launch deadline is 2031-04-02.", "Update: the launch date moved to 05-03 (May 3).", True),
        ("Project budget cap is $800 in total.", "From now on keep project spend under five hundred dollars.", True),
        ("Project budget cap is $800 in total.", "From now on keep the travel budget under 500 dollars.", False),
        ("The project codename is EBLA-417.", "We are calling the project MARI-220 now.", True),
        ("The release date is 2031-04-02.", "The launch of the site is now on 2031-06-01.", False),
        ("Always report all times in UTC.", "From now on, report all times in Pacific time.", True),
    ],
)
def test_a_later_value_replaces_an_earlier_one_of_the_same_thing_only(older: str, newer: str, replaced: bool) -> None:
    ledger = read(("user", older), ("assistant", "Noted."), ("user", newer))
    first = next(entry for entry in ledger.of_kind("constraint", "statement") if entry.text == older)
    assert first.closed_by == (2 if replaced else None)
