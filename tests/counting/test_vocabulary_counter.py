"""Exact counts: the same numbers as another implementation, for whatever text there is."""

from __future__ import annotations

import base64
import random
import threading

import pytest
import tiktoken_ext.openai_public  # type: ignore[import-untyped]  # it ships no types
from hypothesis import given, settings
from hypothesis import strategies as st

from sessionstore.counting import VocabularyCounter
from sessionstore.counting.exact import O200K_PATTERN
from sessionstore.counting.slices import SLICE_CHARACTERS, slices
from sessionstore.counting.vocabulary import VOCABULARY_DIGEST, VOCABULARY_URL, read_vocabulary

from .other_implementation import others_count

COUNTER = VocabularyCounter()

FRAGMENTS = st.sampled_from(
    [
        *("<|endoftext|>", "<|im_start|>", "def f(x):\n", "    return", "it's", "WE'LL", "://", "</div>\n\n"),
        *("\r\n", "\t\t", "  \n  ", " ", "\n", "\x85", "\x1c", "\x00", "\u200b", "\u2028", "\u00a0"),
        *("你好，世界", "テスト", "한국어", "привет", "é", "e\u0301", "\U0001f469\u200d\U0001f467", "ǅ"),
        *("12345", "٣٤٥", "Ⅷ²", "=====", "-->", "aB3/xQ", "HTTPServer"),
    ]
)
WORDS = st.sampled_from(["word ", "x", "\n", " = "])
TEXTS = st.lists(st.one_of(FRAGMENTS, st.text(max_size=12)), max_size=40).map("".join)


@given(TEXTS)
@settings(max_examples=400, deadline=None)
def test_counts_like_the_other_implementation(text: str) -> None:
    assert COUNTER.count(text) == others_count(text)


@given(st.lists(st.one_of(FRAGMENTS, WORDS), min_size=5, max_size=30), st.integers(0, 300))
@settings(max_examples=60, deadline=None)
def test_slicing_at_a_harmless_place_changes_no_count(fragments: list[str], shift: int) -> None:
    repeated = "".join(fragments) + "one two\n"
    text = "y" * shift + " " + repeated * (2 * SLICE_CHARACTERS // len(repeated) + 1)
    assert len(list(slices(text))) >= 3
    assert COUNTER.count(text) == others_count(text)


@pytest.mark.parametrize("unit", ["=", "a", "的", "0", "aB", "\n", " "])
def test_a_cut_inside_a_run_costs_a_token_or_two(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    cuts = len(list(slices(text))) - 1
    assert cuts == 3
    assert abs(COUNTER.count(text) - others_count(text)) <= 2 * cuts


def test_a_cut_inside_base64_costs_a_token_or_two() -> None:
    text = base64.b64encode(random.Random(1).randbytes(150_000)).decode()
    cuts = len(list(slices(text))) - 1
    assert abs(COUNTER.count(text) - others_count(text)) <= 2 * cuts


@given(TEXTS, st.integers(1, 5))
@settings(max_examples=50, deadline=None)
def test_slices_give_back_the_text_and_are_never_too_long(text: str, times: int) -> None:
    long_text = (text + "x") * (times * 20_000 // (len(text) + 1) + 1)
    parts = list(slices(long_text))
    assert "".join(parts) == long_text
    assert all(0 < len(part) <= SLICE_CHARACTERS for part in parts)


def test_special_tokens_are_text() -> None:
    """METER-1"""
    for text in ("<|endoftext|>", "<|endofprompt|>", "see <|im_start|> and <|fim_prefix|>"):
        assert COUNTER.count(text) == others_count(text) > 3


@pytest.mark.parametrize("character", [" ", "\n", "a", "A", "=", "中", "\u0301", "😀", "0"])
def test_a_run_of_millions_is_counted(character: str) -> None:
    assert 0 < COUNTER.count(character * 1_200_000) <= 4 * 1_200_000


@pytest.mark.parametrize(
    ("text", "same_as"),
    [
        ("\ud800", "\ufffd"),
        ("a\udfffb", "a\ufffdb"),
        ("\udc00\ud800", "\ufffd\ufffd"),
        ("end \udbff", "end \ufffd"),
        ("\ud83d\ude00", "😀"),
    ],
)
def test_lone_surrogates_count_as_replacement_characters(text: str, same_as: str) -> None:
    assert COUNTER.count(text) == others_count(same_as)


@given(st.text(st.characters(), max_size=60))
@settings(max_examples=150, deadline=None)
def test_any_text_is_counted_and_joined_texts_never_cost_much_more(text: str) -> None:
    assert (COUNTER.count(text) > 0) == (text != "")
    assert COUNTER.count(text + " word") <= COUNTER.count(text) + 3


def test_a_lone_surrogate_in_a_long_text_is_counted() -> None:
    assert COUNTER.count("word " * 40_000 + "\ud800") == others_count("word " * 40_000 + "\ufffd")


def test_two_surrogates_that_make_a_character_are_joined_before_the_text_is_sliced() -> None:
    assert COUNTER.count("x" * (SLICE_CHARACTERS - 1) + "\ud83d\ude00") == COUNTER.count("x" * (SLICE_CHARACTERS - 1) + "😀")


def test_empty_text_is_no_token() -> None:
    assert COUNTER.count("") == 0


def test_the_pattern_digest_and_address_are_the_official_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []

    def instead_of_fetching(address: str, expected_hash: str) -> dict[bytes, int]:
        asked.append((address, expected_hash))
        return {}

    monkeypatch.setattr(tiktoken_ext.openai_public, "load_tiktoken_bpe", instead_of_fetching)
    assert tiktoken_ext.openai_public.o200k_base()["pat_str"] == O200K_PATTERN
    assert asked == [(VOCABULARY_URL, VOCABULARY_DIGEST)]


def test_threads_asking_at_once_load_the_vocabulary_once() -> None:
    loads: list[int] = []
    counts: list[int] = []
    all_here = threading.Barrier(8)

    def read() -> bytes:
        loads.append(1)
        return read_vocabulary()

    counter = VocabularyCounter(read)

    def ask() -> None:
        all_here.wait()
        counts.append(counter.count("eight threads at once"))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (loads, counts) == ([1], [others_count("eight threads at once")] * 8)
