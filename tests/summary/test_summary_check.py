"""What is no summary, and what is one although it looks odd."""
from __future__ import annotations

import pytest

from sessionstore.domain.summarizing import SummaryAnswer
from sessionstore.domain.summary_check import check_answer, clean_answer
from sessionstore.domain.summary_frame import PREFACE

SENTENCES = [
    f"Step {number} changed module {number * 7} because test {number * 3} failed on line {number * 11}." for number in range(60)
]
HISTORY = "\n\n".join(f"#{number} assistant\n{sentence}" for number, sentence in enumerate(SENTENCES))
LONG_REQUEST = " ".join(f"clause {number} says pay item {number * 13} before day {number * 5}." for number in range(120))


@pytest.mark.parametrize(("answer", "failure"), [
    (SummaryAnswer(""), "empty"),
    (SummaryAnswer(" \n\t"), "blank"),
    (SummaryAnswer("...\n---"), "blank"),
    (SummaryAnswer("## Goal\n\n## Blocked\n"), "blank"),
    (SummaryAnswer("", reasoning="let me plan the summary"), "reasoning_only"),
    (SummaryAnswer("<think>let me plan the summary</think>\n"), "reasoning_only"),
    (SummaryAnswer("<think>let me plan"), "reasoning_only"),
    (SummaryAnswer(PREFACE), "blank"),
    (SummaryAnswer("SUMMARY-BODY", finish_reason="length"), "truncated"),
    (SummaryAnswer("SUMMARY-BODY", finish_reason="MAX_TOKENS"), "truncated"),
    (SummaryAnswer("I cannot", finish_reason="content_filter"), "refused"),
    (SummaryAnswer("", tool_calls=({"name": "shell"},)), "tool_call"),
    (SummaryAnswer("I'll look first.", tool_calls=({"name": "shell"},)), "tool_call"),
    (SummaryAnswer("Error: connection refused"), "error_text"),
    (SummaryAnswer("openai.APIError: boom"), "error_text"),
    (SummaryAnswer("502 Bad Gateway"), "error_text"),
    (SummaryAnswer("Rate limit exceeded."), "error_text"),
    (SummaryAnswer("<!DOCTYPE html><html><body>Bad gateway</body></html>"), "error_text"),
    (SummaryAnswer('{"error": {"message": "overloaded"}}'), "error_text"),
    (SummaryAnswer('{"goal": "fix it"}'), "not_prose"),
    (SummaryAnswer('["a", "b"]'), "not_prose"),
    (SummaryAnswer("1302568497"), "not_prose"),
    (SummaryAnswer("```python\nprint('hello')\n```"), "not_prose"),
    (SummaryAnswer("import os\n\ndef main():\n    x = 1\n    return os.getpid()\n"), "not_prose"),
    (SummaryAnswer(HISTORY), "echo"),
    (SummaryAnswer("Here is what happened:\n" + " ".join(SENTENCES)), "echo"),
])
def test_no_summary_is_recognised_as_what_it_is(answer: SummaryAnswer, failure: str) -> None:
    """FAIL-1"""
    assert check_answer(answer, history=HISTORY, requests=["last"]) == failure


@pytest.mark.parametrize("text", [
    "SUMMARY-BODY",
    "Did X. Next Y.",
    "#3 #17 #40",
    "eu-9\nINC-7741",
    "修复了解析器。下一步：测试。",
    "## Goal\nNone.\n## Active Task\nFix it.",
    "Errors in the parser were fixed; 404 files were moved.",
    "Service unavailable pages are now cached.",
    "TypeError (#12) went away after the cast.",
    "## Blocked\nError: connection refused (#4)",
    "[Draft] The release is tagged.",
    "{braces} are used in templates.",
    "The fix:\n```python\nx = 1\n```\nwas applied.",
    "```markdown\n## Goal\nShip it.\n```",
    "<think>hm</think>\nThe tests pass.",
    "1. ran pytest -> exit 1\n2. changed a.py\n3. ran pytest -> exit 0\n4. committed",
    " ".join(SENTENCES[:4]),
])
def test_a_summary_is_accepted_however_short_or_plain(text: str) -> None:
    """FAIL-1"""
    assert check_answer(SummaryAnswer(text, finish_reason="stop"), history=HISTORY, requests=["last"]) is None


def test_the_words_of_one_request_may_be_quoted() -> None:
    history = HISTORY + "\n\n#61 user\n" + LONG_REQUEST
    for text in (LONG_REQUEST, f"The user asked: {LONG_REQUEST} The work has begun.", "last"):
        assert check_answer(SummaryAnswer(text), history=history, requests=["last", LONG_REQUEST]) is None
    assert check_answer(SummaryAnswer(LONG_REQUEST), history=history, requests=["last"]) == "echo"


def test_thoughts_fence_and_copied_preface_are_taken_off() -> None:
    assert clean_answer(f"<think>a</think>\n```md\n{PREFACE}\nCovers #1–#2.\n## Goal\nx\n```") == "## Goal\nx"
    assert clean_answer("plain") == "plain"
