"""A history asked about in many pieces: each question looks at its own piece, and at the whole only once for all of them."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from sessionstore import SessionStore
from sessionstore.domain import answer_suspicions, language_guess, summary_check
from sessionstore.domain.summarizing import SummaryRequest
from sessionstore.domain.summary_prompt import INSTRUCTIONS
from tests.models.transcript import POLICY, notes

TURNS = 300
LONG_NOTES = notes(key_decisions=" ".join(f"Decision {number} was taken because of reason {number}." for number in range(40)))
"""Long enough to be compared with what the user wrote."""


@dataclass
class Scripted:
    """Answers with notes, and remembers what it was given."""

    input_tokens: int
    name: str = "scripted"
    window: int = 32_000
    given: list[str] = field(default_factory=list)

    def summarize(self, request: SummaryRequest) -> str:
        self.given.append(request.history)
        return LONG_NOTES


@pytest.fixture
def guessed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text whose language is guessed."""
    return _watched(monkeypatch, "language_of", language_guess, answer_suspicions)


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text that is taken apart to be compared with another."""
    return _watched(monkeypatch, "_runs", summary_check)


def _watched(monkeypatch: pytest.MonkeyPatch, name: str, *modules: Any) -> list[str]:
    seen: list[str] = []
    inner = getattr(modules[0], name)

    def watched(text: str, **arguments: Any) -> Any:
        seen.append(text)
        return inner(text, **arguments)

    for module in modules:
        monkeypatch.setattr(module, name, watched)
    return seen


@pytest.mark.parametrize(("input_tokens", "pieces"), [(4_000, 3), (500, 20)])
def test_what_depends_on_the_whole_conversation_is_found_once(
    store: SessionStore, guessed: list[str], compared: list[str], input_tokens: int, pieces: int
) -> None:
    """SUMIN-1"""
    session = store.create_session("long", model="big", context_window=100_000)
    said = []
    for turn in range(TURNS):
        said.append({"role": "user", "content": f"Please look at step {turn}, and tell me what it does with an empty list."})
        said.append({"role": "assistant", "content": f"Step {turn} gives an empty list back, and all of its tests are green."})
    session.append(said)
    summarizer = Scripted(input_tokens)
    result = session.compact(summarizer=summarizer, policy=POLICY)
    assert result.status == "committed", result.reason
    questions = len(summarizer.given)
    assert questions >= pieces
    # Each request, all of them together, and each answer.
    assert len(guessed) == TURNS + 1 + questions
    looked_at = sum(map(len, compared))
    given = sum(map(len, summarizer.given))
    beside = len(summary_check.clean_answer(LONG_NOTES)) + len(INSTRUCTIONS) + 10
    assert given < looked_at <= 2 * given + questions * beside
