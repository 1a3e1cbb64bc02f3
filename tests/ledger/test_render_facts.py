"""How a ledger reads under the thirteen headings: what comes first, what is counted, what is left to look up."""
from __future__ import annotations

import re

from sessionstore.domain import sections
from sessionstore.domain.ledger import Ledger, extract_ledger, render_facts
from sessionstore.domain.ledger.citations import cite, windows_over
from sessionstore.domain.policy import CompactionPolicy
from sessionstore.domain.transcript import Entry
from tests.counters import PieceCounter
from tests.ledger.dialects import DIALECTS, Turn, call, entries


def log_of(*turns: Turn) -> list[Entry]:
    return entries(DIALECTS["chat"](turns))


def render(
    ledger: Ledger, budget: int = 5_000, *, active: Entry | None = None, focus: str | None = None, omit: str = ""
) -> dict[str, str]:
    return render_facts(ledger, budget=budget, counter=PieceCounter(), active=active, focus=focus, omit=omit)


def busy_ledger(commands: int) -> Ledger:
    return extract_ledger(
        log_of(*(call("bash", "Exit code: 0\n", command=f"build target-{number} --with-option") for number in range(commands)))
    )


def test_seqs_are_cited_as_ranges_and_many_of_them_by_their_ends() -> None:
    assert cite((3,)) == "#3"
    assert cite((1, 2, 3, 7)) == "#1–#3, #7"
    assert cite((1, 3, 5, 7, 9)) == "#1 … #7, #9 (5 in all)"


def test_ranges_to_look_up_are_two_readings_wide_and_as_many_as_there_is_room_for() -> None:
    assert windows_over([(1, 2), (40, 40), (41, 41), (90, 95)], limit=5) == [(1, 40), (41, 41), (90, 95)]
    assert windows_over([(100, 101), (1, 1), (50, 50)], limit=2) == [(1, 1), (100, 101)]
    assert windows_over([(3, 900)], limit=1) == [(900, 900)]
    assert windows_over([(3, 4)], limit=0) == []


def test_the_active_task_is_verbatim_with_its_seq_and_is_not_said_again() -> None:
    log = log_of(("user", "start"), ("assistant", "ok"), ("user", "Never rename  `f`.\nFix INC-12."))
    texts = render(extract_ledger(log), active=log[2])
    assert texts[sections.ACTIVE_TASK] == "Never rename  `f`.\nFix INC-12. #2"
    assert "Never rename" not in "".join(texts[section] for section in sections.SECTIONS[1:])


def test_a_long_active_task_is_cut_at_a_thousand_tokens_and_says_where_it_goes_on() -> None:
    log = log_of(("user", "words and " * 2_000))
    task = render(extract_ledger(log), active=log[0])[sections.ACTIVE_TASK]
    assert task.startswith("words and words and")
    assert task.endswith("… [goes on: #0]")
    assert 800 <= PieceCounter().count(task) <= 1_000


def test_without_an_active_request_the_latest_in_the_ledger_is_the_task() -> None:
    ledger = extract_ledger(log_of(("user", "one"), ("assistant", "ok"), ("user", "two")))
    assert render(ledger)[sections.ACTIVE_TASK] == "two #2"


def test_what_does_not_fit_is_counted_exactly_with_its_range() -> None:
    texts = render(busy_ledger(300), budget=1_200)
    shown = texts[sections.COMPLETED_ACTIONS].count("`build target-")
    assert 10 < shown < 100
    assert texts[sections.COMPLETED_ACTIONS].splitlines()[-1].startswith(f"+ {300 - shown} more commands, #0–#")
    assert "read: #0–39 #40–" in texts[sections.CRITICAL_CONTEXT]


def test_under_a_small_budget_the_newest_actions_are_shown_in_the_order_of_their_numbers() -> None:
    lines = render(busy_ledger(300), budget=3_000)[sections.COMPLETED_ACTIONS].splitlines()
    numbers = [int(line.split(".")[0]) for line in lines if line[0].isdigit()]
    assert numbers == list(range(301 - len(numbers), 301))
    assert len(numbers) >= 3


def test_what_has_no_room_in_full_shares_a_line_with_one_range() -> None:
    lines = render(busy_ledger(300), budget=1_200)[sections.COMPLETED_ACTIONS].splitlines()
    shared = next(line for line in lines if line.startswith("- "))
    one = r"`build target-\d+ --with-option` → exit 0"
    assert re.fullmatch(rf"- (?:{one}; )+{one} #\d+–#\d+", shared)


def test_a_ledger_that_fits_is_shown_in_full() -> None:
    texts = render(busy_ledger(40))
    assert len(texts[sections.COMPLETED_ACTIONS].splitlines()) == 40
    assert texts[sections.CRITICAL_CONTEXT] == ""


def test_constraints_come_before_actions_when_there_is_little_room() -> None:
    runs = [call("bash", "[exit 0]", command=f"run {number}") for number in range(80)]
    log = log_of(("user", "Never push to main."), ("assistant", "ok"), *runs)
    texts = render(extract_ledger([*log, Entry(999, "message", {"role": "user", "content": "go on"})]), budget=80)
    assert "Never push to main. #0" in texts[sections.CONSTRAINTS]


def test_a_focus_gets_most_of_the_budget() -> None:
    """The focus is one subject among three of equal weight."""
    turns = [
        call("bash", "Exit code: 0\n", command=f"tool {name} step-{number} --verbose")
        for number in range(80) for name in ("billing", "search", "mailer")
    ]
    ledger = extract_ledger(log_of(*turns))
    texts = render(ledger, budget=2_000, focus="the billing part")
    lines = texts[sections.COMPLETED_ACTIONS].splitlines()
    about = sum(PieceCounter().count(said) for line in lines for said in line.split("; ") if "billing" in said)
    assert 0.55 <= about / 2_000 <= 0.75
    assert any("mailer" in line for line in lines)


def test_what_the_narrative_states_is_not_repeated() -> None:
    log = log_of(("user", "Never push to main.\nAlways run the linter."), ("assistant", "ok"), ("user", "go"))
    ledger = extract_ledger(log)
    texts = render(ledger, omit="The user said: Never push to main. So be it.")
    assert texts[sections.CONSTRAINTS] == "- Always run the linter. #0"


def test_a_command_is_only_left_to_the_narrative_when_that_states_its_status() -> None:
    ledger = extract_ledger(log_of(call("bash", "Exit code: 4\n", command="npm test")))
    assert "exit 4" in render(ledger, omit="Then `npm test` was run.")[sections.COMPLETED_ACTIONS]
    assert render(ledger, omit="Then `npm test` → exit 4.")[sections.COMPLETED_ACTIONS] == ""


def test_only_the_latest_value_is_shown_anywhere() -> None:
    ledger = extract_ledger(
        log_of(
            ("user", "The budget cap is $300 in total."), ("assistant", "Noted."),
            ("user", "The budget cap is $450 in total."), ("assistant", "Noted."), ("user", "go on"),
        )
    )
    everything = "\n".join(render(ledger).values())
    assert "$450" in everything
    assert "$300" not in everything


def test_requests_that_are_the_same_stand_once_with_every_seq() -> None:
    ledger = extract_ledger(log_of(*[("user", "run the checks again"), ("assistant", "Green.")] * 3, ("user", "go")))
    assert render(ledger)[sections.GOAL].count("run the checks again") == 1


def test_a_request_that_nobody_answered_stands_under_the_pending_asks_though_it_binds() -> None:
    log = log_of(("user", "Fix INC-1."), ("assistant", "Done."), ("user", "Never use spaces."), ("user", "go"))
    texts = render(extract_ledger(log), active=log[-1])
    assert texts[sections.PENDING_ASKS] == "- “Never use spaces.” #2"


def test_lines_stand_in_the_same_order_whatever_the_budget() -> None:
    ledger = busy_ledger(40)
    wide = render(ledger, budget=9_000)[sections.COMPLETED_ACTIONS].splitlines()
    narrow = [line for line in render(ledger, budget=1_100)[sections.COMPLETED_ACTIONS].splitlines() if line[0].isdigit()]
    assert narrow == [line for line in wide if line in narrow]


def test_the_policy_says_how_much_of_the_request_is_quoted() -> None:
    request = Entry(0, "message", {"role": "user", "content": "Please look into it. " + "word " * 900})
    long, short = (
        render_facts(
            extract_ledger([request]),
            budget=4_000,
            counter=PieceCounter(),
            active=request,
            policy=CompactionPolicy(active_task_tokens=most),
        )["Active Task"]
        for most in (2_000, 100)
    )
    assert long.startswith(request.view.text.strip())
    assert PieceCounter().count(short) <= 100 + 10


def test_the_policy_says_how_much_goes_to_the_focus() -> None:
    said = [
        Entry(number, "message", {"role": "user", "content": f"Always keep the {what} of module_{number}.py as it is."})
        for number, what in enumerate(["billing", "weather"] * 60)
    ]
    shares = []
    for ratio in (0.3, 0.9):
        policy = CompactionPolicy(focus_ratio=ratio)
        texts = render_facts(extract_ledger(said), budget=1_200, counter=PieceCounter(), focus="billing", policy=policy)
        shares.append("\n".join(texts.values()).count("billing"))
    assert shares[0] < shares[1]
