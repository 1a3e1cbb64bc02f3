"""Asking a summariser of either form."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sessionstore.domain.section_parsing import parse_sections
from sessionstore.domain.summarizing import SummaryAnswer, SummaryRequest, input_limit_of, name_of, window_of
from sessionstore.errors import SummarizerError
from sessionstore.summarizers import CallableSummarizer, ExtractiveSummarizer, ask

FACTS = {"Goal": "Ship it.", "Blocked": "", "Active Task": "Fix. (#3)"}
REQUEST = SummaryRequest("PROMPT", "history", None, None, 100, FACTS, 1, 1)


def raising(error: BaseException) -> Callable[[str], str]:
    def summarize(_prompt: str) -> str:
        raise error

    return summarize


def test_a_function_gets_the_prompt_and_an_object_the_request() -> None:
    assert ask(lambda prompt: f"summary of {prompt}", REQUEST) == SummaryAnswer("summary of PROMPT")
    wrapped = CallableSummarizer(lambda prompt: SummaryAnswer(prompt, finish_reason="stop"), name="mine", window=8_000)
    assert ask(wrapped, REQUEST) == SummaryAnswer("PROMPT", finish_reason="stop")
    assert (name_of(wrapped), window_of(wrapped), input_limit_of(wrapped)) == ("mine", 8_000, None)


def test_names_and_limits_are_read_from_whatever_has_them() -> None:
    def my_summary(prompt: str) -> str:
        return prompt

    assert (name_of(my_summary), window_of(my_summary)) == ("my_summary", None)
    assert name_of(ExtractiveSummarizer()) == "extractive"


def test_the_extractive_summariser_answers_with_the_facts_and_always_the_same() -> None:
    answer = ask(ExtractiveSummarizer(), REQUEST)
    assert parse_sections(answer.text) == {"Active Task": "Fix. (#3)", "Goal": "Ship it."}
    assert ask(ExtractiveSummarizer(), REQUEST) == answer


@pytest.mark.parametrize(("error", "kind"), [
    (RuntimeError("boom"), "failed"),
    (RuntimeError("context too long"), "context_too_long"),
    (ValueError("This model's maximum context length is 8192 tokens"), "context_too_long"),
    (ValueError("prompt is too long: 210000 tokens > 200000 maximum"), "context_too_long"),
    (RuntimeError("too many tokens"), "context_too_long"),
    (TimeoutError(), "timeout"),
    (RuntimeError("Request timed out."), "timeout"),
    (ConnectionRefusedError(), "unreachable"),
    (RuntimeError("Error code: 429 - too many requests"), "rate_limited"),
    (RuntimeError("Error code: 401 - invalid key"), "bad_key"),
    (RuntimeError("the model refused to answer"), "refused"),
])
def test_an_exception_becomes_a_typed_error(error: Exception, kind: str) -> None:
    """FAIL-1"""
    with pytest.raises(SummarizerError) as caught:
        ask(raising(error), REQUEST)
    assert caught.value.kind == kind
    assert type(error).__name__ in caught.value.reason
    assert caught.value.__cause__ is error


def test_a_key_in_the_message_of_an_exception_goes_no_further() -> None:
    """SEC-1"""
    with pytest.raises(SummarizerError) as caught:
        ask(raising(RuntimeError("Incorrect API key provided: sk-proj-0123456789abcdefABCDEF")), REQUEST)
    assert "sk-proj" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_summarizer_error_passes_as_it_is_and_an_interrupt_too() -> None:
    own = SummarizerError("no", kind="refused")
    with pytest.raises(SummarizerError) as caught:
        ask(raising(own), REQUEST)
    assert caught.value is own
    with pytest.raises(KeyboardInterrupt):
        ask(raising(KeyboardInterrupt()), REQUEST)


async def answering_later(prompt: str) -> str:
    return prompt


@pytest.mark.parametrize("answer", [None, 12, {"text": "x"}, b"bytes"])
def test_an_answer_that_is_no_text_is_a_failure(answer: Any) -> None:
    """FAIL-1"""
    with pytest.raises(SummarizerError) as caught:
        ask(lambda _prompt: answer, REQUEST)
    assert type(answer).__name__ in caught.value.reason


def test_a_coroutine_and_a_thing_that_cannot_be_asked_are_failures() -> None:
    unknown: Any = answering_later
    with pytest.raises(SummarizerError, match="coroutine"):
        ask(unknown, REQUEST)
    unknown = 5
    with pytest.raises(SummarizerError, match="no summariser"):
        ask(unknown, REQUEST)
