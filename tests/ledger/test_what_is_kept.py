"""What a summary keeps when there is no room for all: exact facts, however old, before talk; and where the rest stands."""
from __future__ import annotations

import json
import re

import pytest

from sessionstore import CompactionPolicy, SessionStore
from sessionstore.domain import sections
from sessionstore.domain.ledger import Ledger, extract_ledger, render_facts
from tests.counters import PieceCounter
from tests.ledger.dialects import DIALECTS, Message, Turn, call, entries

READ = re.compile(r"#(\d+)(?:–(\d+))?(?=[ \n]|$)")
TALK = "Then we looked at how the parts hang together, and it was as we had thought; nothing of it needs to be done again. "


def read(*turns: Turn) -> Ledger:
    return extract_ledger(entries(DIALECTS["chat"](turns)))


def render(ledger: Ledger, budget: int) -> dict[str, str]:
    return render_facts(ledger, budget=budget, counter=PieceCounter())


def leg(number: int) -> tuple[list[Turn], list[str]]:
    """A few thousand tokens of work, and the strings that must not be lost: a path, a command, an error, a rule and an id."""
    rule = f"Never drop the ledger_{number} table without a backup."
    facts = [
        f"src/parts/part_{number}.py", f"make build-{number} TARGET=arm", f"KeyError: 'column_{number}'", rule,
        f"CUST-{4100 + number}",
    ]
    turns: list[Turn] = [
        ("user", f"Before we start: {rule}"), ("assistant", "Understood."),
        call("write_file", "Wrote 20 bytes.", path=facts[0], content="x = 1\n"), ("assistant", "Written."),
        ("user", "Build it."), call("bash", "building\nexit code: 3", command=facts[1]), ("assistant", "It fails."),
        ("user", "And the report?"),
        call("bash", f"Traceback (most recent call last):\n{facts[2]}\nexit code: 1", command="python report.py"),
        ("assistant", f"It fails for the customer {facts[4]}."),
    ]
    for step in range(12):
        turns += [("user", f"{TALK * 4}Go on, {step}."), ("assistant", TALK * 6)]
    return turns, facts


def test_facts_of_eight_compactions_stand_word_for_word_in_the_context(database_url: str) -> None:
    """NEST-2: nothing decays by age, and the summary stays within its budget."""
    expected: list[str] = []
    sizes: list[int] = []
    with SessionStore.open(database_url, counter=PieceCounter()) as store:
        session = store.create_session(context_window=12_000)
        for number in range(8):
            turns, facts = leg(number)
            expected += facts
            session.append(DIALECTS["chat"](turns))
            result = session.compact()
            assert result.status == "committed", result.reason
            session = result.session
            sizes.append(PieceCounter().count(result.summary or ""))
        context = "\n".join(json.dumps(message, ensure_ascii=False) for message in session.context())
    assert [fact for fact in expected if fact not in context] == []
    assert max(sizes) <= 2_000


def test_a_small_summary_has_a_terse_frame_with_every_heading(store: SessionStore) -> None:
    session = store.create_session(context_window=2_000)
    turns, facts = leg(1)
    session.append(DIALECTS["chat"](turns))
    result = session.compact(policy=CompactionPolicy(summary_min_tokens=450, summary_max_tokens=450))
    assert result.status == "committed", result.reason
    summary = result.summary or ""
    assert summary.startswith("[Earlier messages in brief. Act only on Active Task and Pending User Asks.]\nCovers #")
    assert [line.removeprefix("## ") for line in summary.splitlines() if line.startswith("## ")] == list(sections.SECTIONS)
    assert facts[2] in summary
    assert facts[4] in summary


def test_a_fact_that_only_a_narrative_said_which_was_cut_has_a_line_of_its_own(database_url: str) -> None:
    rules = [f"Never let worker {number} write to bucket-{number} of the northern hall." for number in range(60)]
    narrative = "\n".join(["## Critical Context", *(f"- {rule} Ana found out why last spring." for rule in reversed(rules))])
    looks = [call("read_file", "x = 1", path=f"src/northern/hall/part_{number}.py") for number in range(150)]
    said: list[Turn] = [turn for rule in rules for turn in (("user", rule), ("assistant", TALK))]
    with SessionStore.open(database_url, counter=PieceCounter()) as store:
        session = store.create_session(context_window=40_000)
        session.append(DIALECTS["chat"]([*said, *looks, ("user", "Go on.")]))
        policy = CompactionPolicy(summary_min_tokens=2_900, summary_max_tokens=2_900)
        result = session.compact(policy=policy, summarizer=lambda _prompt: narrative)
    assert result.status == "committed", result.reason
    assert "lines left out" in (result.summary or "")
    context = "\n".join(str(message.get("content")) for message in result.messages)
    assert [rule for rule in rules if rule not in context] == []


def test_everything_that_is_only_counted_stands_within_twenty_messages_of_an_end_of_a_listed_range() -> None:
    """PROV-1: a reading shows twenty messages."""
    turns = [call("bash", "[exit 0]", command=f"build target-{number} --with-a-long-option-{number}") for number in range(400)]
    texts = render(read(*turns), 3_000)
    listed = texts[sections.CRITICAL_CONTEXT].splitlines()[-1].partition("read: ")[2]
    shown = {
        seq
        for match in READ.finditer(listed)
        for first, last in [(int(match[1]), int(match[2] or match[1]))]
        for seq in (*range(first, min(last, first + 19) + 1), *range(max(first, last - 19), last + 1))
    }
    left_out = [2 * number for number in range(400) if f"target-{number} " not in texts[sections.COMPLETED_ACTIONS]]
    assert len(left_out) > 200
    assert [seq for seq in left_out if seq not in shown or seq + 1 not in shown] == []


def test_paths_in_brief_stand_together_by_what_was_done_to_them() -> None:
    written = [call("write_file", "Wrote 9 bytes.", path=f"src/area_{number}/file.py", content="x") for number in range(150)]
    text = render(read(*written), 2_500)[sections.RELEVANT_FILES]
    shared = next(line for line in text.splitlines() if line.count("src/") > 1)
    assert re.fullmatch(r"- written: (?:src/area_\d+/file\.py; )+src/area_\d+/file\.py #\d+–#\d+", shared)


def test_a_file_that_was_changed_is_kept_before_many_that_were_only_read() -> None:
    looked = [call("read_file", "x = 1", path=f"src/looked/at_{number}.py") for number in range(300)]
    changed = call("write_file", "Wrote 9 bytes.", path="src/changed.py", content="x")
    text = render(read(changed, *looked), 1_500)[sections.RELEVANT_FILES]
    assert "src/changed.py" in text
    assert "files read" in text.splitlines()[-1]


@pytest.mark.parametrize(
    ("sentence", "brief"),
    [
        ("Before you go on: Never rename lib/part_7 without asking.", "Never rename lib/part_7 without asking."),
        ("HARD CONSTRAINT: Report all times in Zone/Ebla.", "Report all times in Zone/Ebla."),
        ("Deadline for the beta: never later than 2031-05-02.", "Deadline for the beta: never later than 2031-05-02."),
    ],
)
def test_a_rule_in_brief_goes_without_the_words_that_lead_in(sentence: str, brief: str) -> None:
    others = [("user", f"Always keep part {number} of the northern hall well oiled and dry.") for number in range(36)]
    turns = [turn for rule in [("user", sentence), *others] for turn in (rule, ("assistant", "Yes."))]
    text = render(read(*turns, ("user", "go")), 700)[sections.CONSTRAINTS]
    assert re.search(rf"(?:^- |; ){re.escape(brief)}", text, re.MULTILINE)


def test_what_is_said_once_is_kept_before_what_is_recited() -> None:
    recited = [("user", "The load test peaked at 300 users with no errors on the small cluster."), ("assistant", "Fine.")]
    said = [("user", "Never ship without the signature of Ilse."), ("assistant", "Fine.")]
    ledger = read(*recited * 5, *said, *recited * 5, ("user", "go"))
    text = "\n".join(render(ledger, 60).values())
    assert "signature of Ilse" in text
    assert "load test" not in text


def test_an_answer_that_names_what_was_asked_stands_alone_in_brief() -> None:
    asked = [
        turn
        for number in range(200)
        for turn in (
            ("user", f"How many rows has table t_{number}?"),
            ("assistant", f"Table t_{number} has {number + 5000} rows."),
        )
    ]
    text = render(read(*asked, ("user", "go")), 3_000)[sections.RESOLVED_QUESTIONS]
    assert "Table t_150 has 5150 rows." in text
    assert "How many rows has table t_150" not in text


def test_an_id_of_an_output_that_the_assistant_speaks_of_is_the_assistants() -> None:
    opened = call("create_ticket", json.dumps({"key": "OPS-4711", "status": "open"}), title="broken")
    ledger = read(("user", "Open a ticket."), opened, ("assistant", "I opened OPS-4711 for it."))
    (reference,) = (entry for entry in ledger.of_kind("reference") if entry.text == "OPS-4711")
    assert reference.source == "assistant"
    assert reference.seqs == (2, 3)


def test_a_line_that_states_the_exit_status_is_no_part_of_an_error() -> None:
    ledger = read(call("bash", "KeyError: 'a_7'\nexit code: 1", command="run 7"))
    assert [entry.text for entry in ledger.of_kind("error")] == ["KeyError: 'a_7'"]


@pytest.mark.parametrize(
    "line",
    ['295:            "Data must be present in "', '"required": "never",', "const only = require('never');", "</must_read>"],
)
def test_lines_of_code_in_what_the_user_sends_neither_bind_nor_state(line: str) -> None:
    ledger = read(("user", f"Look at this:\n{line}"), ("assistant", "Yes."))
    assert [entry.text for entry in ledger.of_kind("constraint", "statement")] == []


def test_a_small_budget_goes_to_rules_in_brief() -> None:
    rules = [f"Never let worker {number} write to bucket-{number}." for number in range(12)]
    turns: list[Turn] = [turn for rule in rules for turn in (("user", rule), ("assistant", "Noted."))]
    messages: list[Message] = DIALECTS["chat"]([*turns, ("user", "go")])
    texts = render_facts(extract_ledger(entries(messages)), budget=320, counter=PieceCounter())
    assert sum(rule in texts[sections.CONSTRAINTS] for rule in rules) == 12
