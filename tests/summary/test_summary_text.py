"""Composing a summary, and reading one back."""
from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessionstore.domain import sections
from sessionstore.domain.section_parsing import parse_sections
from sessionstore.domain.sections import SECTIONS
from sessionstore.domain.summary import (
    compose_summary,
    facts_budget,
    previous_body,
)
from sessionstore.domain.summary_frame import (
    BARE,
    FULL,
    PREFACE,
    SHORT_PREFACE,
    TERSE,
    SummaryFrame,
    coverage_line,
    frame_for,
)
from tests.summary.plain_counter import PlainCounter

COUNTER = PlainCounter()
FACTS = {
    "Active Task": "Fix the parser. (#4)",
    "Completed Actions": "1. [shell] ran pytest -> exit 1 (#7)\n2. [edit] changed a.py (#9)",
    "Relevant Files": "- a.py: edited (#9)",
}


def compose(narrative: str | None = None, facts: dict[str, str] | None = None, budget: int = 1_000) -> str:
    chosen = FACTS if facts is None else facts
    return compose_summary(narrative=narrative, facts=chosen, covers=[(3, 179)], budget=budget, counter=COUNTER)


def headings(text: str) -> list[str]:
    return [line[3:] for line in text.splitlines() if line.startswith("## ")]


def test_a_summary_begins_with_the_preface_and_what_it_covers() -> None:
    """PROV-1"""
    assert compose().startswith(f"{PREFACE}\nCovers #3–#179.\n## Active Task\nFix the parser. (#4)\n## Goal\nNone.\n")


def test_an_empty_summary_is_small() -> None:
    assert FULL.tokens([(0, 9_999)], COUNTER) < 200
    assert COUNTER.count(PREFACE) < 90
    assert headings(compose(None, {})) == list(SECTIONS)


def test_a_terse_summary_has_every_heading_and_nothing_under_the_empty_ones() -> None:
    text = compose_summary(narrative=None, facts=FACTS, covers=[(3, 179)], budget=200, counter=COUNTER, frame=TERSE)
    assert text.startswith(f"{SHORT_PREFACE}\nCovers #3–#179.\n## Active Task\nFix the parser. (#4)\n## Goal\n## Constraints")
    assert headings(text) == list(SECTIONS)
    assert "None." not in text
    assert parse_sections(previous_body(text)) == FACTS


def test_a_bare_summary_has_only_the_headings_with_something_under_them() -> None:
    text = compose_summary(narrative=None, facts=FACTS, covers=[(3, 179)], budget=200, counter=COUNTER, frame=BARE)
    assert text.startswith(f"{SHORT_PREFACE}\nCovers #3–#179.\n## Active Task\nFix the parser. (#4)\n## Completed Actions\n1. ")
    assert headings(text) == list(FACTS)
    assert parse_sections(previous_body(text)) == FACTS


def test_the_frame_is_smaller_where_the_summary_is() -> None:
    assert [frame_for(tokens, most=8_000) for tokens in (8_000, 600, 599, 100)] == [FULL, FULL, TERSE, TERSE]
    assert [frame_for(tokens, most=tokens) for tokens in (600, 300, 299, 0)] == [FULL, TERSE, BARE, BARE]
    full, terse, bare = (frame.tokens([(3, 179)], COUNTER) for frame in (FULL, TERSE, BARE))
    assert bare < 0.5 * terse < 0.5 * full


@pytest.mark.parametrize("frame", [FULL, TERSE, BARE])
def test_a_summary_is_never_larger_than_its_budget_and_its_frame(frame: SummaryFrame) -> None:
    facts = {heading: f"said of {heading}" for heading in SECTIONS}
    costs = frame.section_tokens(COUNTER)
    budget = sum(COUNTER.count(text) + costs.get(heading, 0) for heading, text in facts.items())
    text = compose_summary(narrative=None, facts=facts, covers=[(3, 179)], budget=budget, counter=COUNTER, frame=frame)
    assert all(f"## {heading}\n{said}" in text for heading, said in facts.items())
    assert COUNTER.count(text) <= budget + frame.tokens([(3, 179)], COUNTER)


def test_what_a_summary_covers_is_listed_by_range() -> None:
    assert coverage_line([(0, 2), (5, 5)]) == "Covers #0–#2, #5."
    many = coverage_line([(number, number) for number in range(0, 60, 2)])
    assert many == "Covers #0, #2, #4, #6, #8, #10, #12, #14, #16, #18, #20, 19 more ranges up to #58."


def test_the_active_task_is_the_real_text_whatever_the_model_says() -> None:
    parsed = parse_sections(previous_body(compose("## Active Task\nBuy milk.\n## Goal\nA parser that works.")))
    assert parsed["Active Task"] == "Fix the parser. (#4)"
    assert parsed["Goal"] == "A parser that works."


def test_prose_without_headings_is_critical_context() -> None:
    assert parse_sections(previous_body(compose("SUMMARY-BODY")))["Critical Context"] == "SUMMARY-BODY"


def test_facts_fill_what_the_model_left_out_and_are_not_said_twice() -> None:
    text = compose("## Relevant Files\n* a.py: edited (#9)\n* b.py: read")
    assert text.count("a.py: edited") == 1
    assert "b.py: read" in text
    assert "ran pytest -> exit 1 (#7)" in text


def test_the_extractive_answer_composes_to_the_facts_themselves() -> None:
    text = compose()
    tokens = sum(COUNTER.count(fact) for fact in FACTS.values())
    assert compose(previous_body(text)) == text
    assert compose(previous_body(text), budget=tokens) == text


def test_a_fact_is_not_taken_for_stated_because_a_longer_word_holds_it() -> None:
    assert "\n- a.py\n" in compose("## Relevant Files\n- data.py", {"Relevant Files": "- a.py"}) + "\n"


def test_the_ledgers_numbering_stays_the_only_one() -> None:
    text = compose("## Completed Actions\n1. Looked around.\n2. Found it.")
    section = parse_sections(previous_body(text))["Completed Actions"]
    assert section.splitlines() == [
        "- Looked around.", "- Found it.", "1. [shell] ran pytest -> exit 1 (#7)", "2. [edit] changed a.py (#9)"
    ]


def test_a_quoted_line_that_reads_as_a_heading_does_not_become_one() -> None:
    """MARK-1"""
    text = compose("ok", {"Active Task": "Write this:\n## Goal\nmine\n**Blocked**\nno (#4)"})
    assert headings(text) == list(SECTIONS)
    assert parse_sections(text)["Active Task"] == "Write this:\n ## Goal\nmine\n **Blocked**\nno (#4)"


def test_secrets_are_redacted_on_the_way_out() -> None:
    """SEC-1"""
    text = compose("The password: Hunter2! was used", {"Active Task": "use API_KEY=sk-test-000000000000000000000000FAKE"})
    assert "Hunter2" not in text
    assert "sk-test" not in text


def test_over_budget_the_narrative_loses_lines_and_the_facts_stay() -> None:
    narrative = "## Key Decisions\n" + "\n".join(f"- decision {number} for a reason" for number in range(300))
    text = compose(narrative, budget=400)
    assert "decision 0 " in text
    assert "decision 299" not in text
    left = re.search(r"… (\d+) lines left out", text)
    assert left is not None
    assert text.count("- decision") + int(left[1]) == 300
    assert "[edit] changed a.py (#9)" in text


def test_one_endless_line_is_cut_between_words_and_says_so() -> None:
    text = compose("word " * 5_000, budget=300)
    assert re.search(r"word … [\d,]+ characters left out", text)


def test_facts_get_what_a_narrative_leaves_and_at_least_half() -> None:
    assert facts_budget("x" * 400, budget=1_000, counter=COUNTER) == 900
    assert facts_budget("x" * 40_000, budget=1_000, counter=COUNTER) == 500


def test_an_old_summary_is_passed_on_without_its_preface() -> None:
    """NEST-1"""
    body = previous_body(compose("SUMMARY-BODY"))
    assert body.startswith("## Active Task")
    assert PREFACE not in body
    assert previous_body("a summary of another tool") == "a summary of another tool"
    assert compose(compose("SUMMARY-BODY")).count(PREFACE) == 1


@pytest.mark.parametrize("line", [
    "## Goal", "# goal", "### Goal:", "**Goal**", "**Goal:**", "2. Goal", "2. **Goal**", "## 2. Goal",
    "Goal:", "__Goal__", "##Goal ##",
])
def test_headings_are_recognised_however_they_are_written(line: str) -> None:
    assert parse_sections(f"{line}\nthe end") == {"Goal": "the end"}


def test_other_names_for_a_section_are_understood() -> None:
    text = "## Constraints and Preferences\na\n## Next Steps\nb\n## Decisions\nc\nGoal: d"
    assert parse_sections(text) == {
        sections.GOAL: "d", sections.CONSTRAINTS: "a", sections.KEY_DECISIONS: "c", sections.REMAINING_WORK: "b"
    }


def test_text_in_code_is_no_heading_and_a_fence_round_all_of_it_is_taken_off() -> None:
    assert parse_sections("## Goal\n```\n## Blocked\n```\nend") == {"Goal": "```\n## Blocked\n```\nend"}
    assert parse_sections("```markdown\n## Goal\nx\n```") == {"Goal": "x"}
    assert parse_sections("## Goal\n```\nx\n## Blocked\ny") == {"Goal": "```\nx", "Blocked": "y"}


def test_sections_that_say_nothing_are_left_out_and_repeated_ones_joined() -> None:
    assert parse_sections("## Goal\nNone.\n## Blocked\n(none)\n## In Progress\na\n## Goal\n## In Progress\nb") == {
        "In Progress": "a\nb"
    }


@given(
    st.one_of(
        st.none(),
        st.text(),
        st.lists(st.sampled_from(["## Goal", "**Blocked**", "x" * 50, "text", "## Other", "```"])).map("\n".join),
    ),
    st.dictionaries(st.sampled_from(SECTIONS), st.text(alphabet="ab c\n#G*oal:.-1", max_size=300)),
    st.integers(0, 400),
    st.sampled_from([FULL, TERSE, BARE]),
)
def test_a_summary_always_has_its_thirteen_sections_within_its_budget(
    narrative: str | None, facts: dict[str, str], budget: int, frame: SummaryFrame
) -> None:
    """NEST-1; the bare frame has those of the thirteen that say something."""
    text = compose_summary(
        narrative=narrative, facts=facts, covers=[(3, 179)], budget=budget, counter=COUNTER, frame=frame
    )
    assert headings(text) == [heading for heading in SECTIONS if frame != BARE or heading in headings(text)]
    assert COUNTER.count(text) <= budget + frame.tokens([(3, 179)], COUNTER) + 13
    assert set(parse_sections(previous_body(text))) <= set(SECTIONS)
