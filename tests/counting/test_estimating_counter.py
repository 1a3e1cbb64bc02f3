"""The estimate: how far it is from the exact count on texts that its table was not fitted on."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessionstore.counting import EstimatingCounter, VocabularyCounter

from .generated_pieces import base64_text, json_text, log_text

PIECE = 2_000
EXACT = VocabularyCounter()
ESTIMATE = EstimatingCounter()


def windows(name: str) -> list[str]:
    """Every piece of a text that begins at a multiple of 150 characters."""
    text = (Path(__file__).parent / "pieces" / name).read_text(encoding="utf-8")
    return [text[start : start + PIECE] for start in range(0, len(text) - PIECE + 1, 150)]


PIECES = {
    "code": windows("code.txt"),
    "prose": windows("prose.txt"),
    "chinese": windows("chinese.txt"),
    "json": [json_text(seed, PIECE) for seed in range(40)],
    "logs": [log_text(seed, PIECE) for seed in range(40)],
    "base64": [base64_text(seed, PIECE) for seed in range(40)],
}

HEXADECIMAL = "\n".join(hashlib.sha256(bytes([number])).hexdigest() for number in range(60))


@pytest.mark.parametrize("kind", PIECES)
def test_the_estimate_is_within_13_percent_at_the_95th_percentile(kind: str) -> None:
    errors = sorted(abs(ESTIMATE.count(piece) / EXACT.count(piece) - 1) for piece in PIECES[kind])
    assert len(errors) >= 15
    assert errors[math.ceil(0.95 * len(errors)) - 1] <= 0.13


def test_the_pieces_are_such_as_four_characters_a_token_gets_wrong() -> None:
    wrong = {kind: PIECE / 4 / EXACT.count(pieces[0]) - 1 for kind, pieces in PIECES.items()}
    assert wrong["base64"] < -0.55
    assert wrong["chinese"] < -0.55
    assert wrong["logs"] < -0.25


@pytest.mark.parametrize(
    "text",
    ["A" * 4_000, "=" * 4_000, "-" * 80 + "\n", " " * 4_000, "\n" * 4_000, "─" * 4_000, HEXADECIMAL],
    ids=["letters", "signs", "rule", "spaces", "line ends", "box", "hexadecimal"],
)
def test_runs_are_not_taken_for_words(text: str) -> None:
    assert abs(ESTIMATE.count(text) - EXACT.count(text)) <= max(2, 0.2 * EXACT.count(text))


@given(st.text(st.characters(), max_size=300))
@settings(max_examples=150, deadline=None)
def test_any_text_has_an_estimate_that_its_bytes_bound(text: str) -> None:
    tokens = ESTIMATE.count(text)
    assert (tokens > 0) == (text != "")
    assert tokens == ESTIMATE.count(text)
    assert tokens <= 2 * len(text.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("character", [" ", "\n", "a", "=", "中", "0", "\u0301"])
def test_a_run_of_millions_is_estimated(character: str) -> None:
    assert ESTIMATE.count(character * 1_200_000) > 0


def test_lone_surrogates_and_special_tokens_are_text() -> None:
    """METER-1"""
    assert ESTIMATE.count("a\ud800b") == ESTIMATE.count("a\ufffdb")
    assert ESTIMATE.count("\ud83d\ude00." * 20) == ESTIMATE.count("😀." * 20)
    assert ESTIMATE.count("<|endoftext|>") >= 3
