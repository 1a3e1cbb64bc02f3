"""Which words a text is found by, and that the index and a reading of the text agree about it."""
from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sessionstore.domain.readable_text import snippet
from sessionstore.domain.search_words import LONGEST_WORD, SearchQuery, composed, index_words

FOUND = [
    ("auth", "see src/auth.py"),
    ("src/auth.py", "see src/auth.py:12"),
    ("AUTH.PY", "see src/auth.py"),
    ("timeout", "three TimeoutErrors"),
    ("UserName", "call getUserName()"),
    ("getusername", "call getUserName()"),
    ("Server", "class HTTPServer"),
    ("user_id", "the user_id column"),
    ("E4021", "error E4021."),
    ("8080", "port 8080"),
    ("id", "userId"),
    ("数据", "一个大数据库"),
    ("库", "一个大数据库"),
    ("使用python", "我使用Python3"),
    ("ภาษา", "พูดภาษาไทย"),
    ("한국", "한국어로"),
    ("caf\u00e9", "cafe\u0301 au lait"),
    ("ÉTÉ", "été"),
    ("ΟΔΟΣ", "οδος"),
    ("🎉", "done🎉!"),
    ("C:\\Users\\x", "in C:\\\\Users\\\\x"),
    ('"connection refused"', "connection refused"),
    ("two words", "words in two places"),
    ("x" * 100, "x" * 100),
]
NOT_FOUND = [
    ("uth", "see src/auth.py"),
    ("80", "port 8080"),
    ("id", "idea"),
    ("serName", "getUserName"),
    ("src/auth.py", "src is not auth.py"),
    ("据数", "大数据库"),
    ("two words", "only two"),
    ("strasse", "straße"),
]


@pytest.mark.parametrize(("query", "text"), FOUND)
def test_a_text_is_found_by_its_words(query: str, text: str) -> None:
    assert SearchQuery.of(query).find(composed(text)) is not None


@pytest.mark.parametrize(("query", "text"), NOT_FOUND)
def test_a_text_is_not_found_by_what_it_does_not_say(query: str, text: str) -> None:
    assert SearchQuery.of(query).find(composed(text)) is None


@pytest.mark.parametrize("query", ["", "   ", '"', '"" AND (', "-> {} ***", "\x00", "\ud800", "NEAR/", "'--"])
def test_no_character_of_a_query_has_a_meaning_of_its_own(query: str) -> None:
    words = [asked.word for asked in SearchQuery.of(query).asked_words()]
    assert words == [word for word in ("and", "near") if word.upper() in query]


def in_index(query: SearchQuery, words: list[str]) -> bool:
    """Whether an index that holds these words gives the text as a place for the query."""
    return all(
        any(word.startswith(asked.word) if asked.beginning else word == asked.word for word in words)
        for asked in query.asked_words()
    )


PIECES = st.sampled_from(
    [
        *["getUserName", "HTTPServer", "src/auth.py", "数据库", "ไทย", "é", "e\u0301", "ß", "İ", "ΑΣ", "ς", "🎉"],
        *["_", " ", "-", ".", "8", "id", "X"],
    ]
)
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=4)), max_size=8).map("".join)


@given(TEXTS, st.data())
def test_whatever_is_found_by_reading_is_found_in_the_index(text: str, data: st.DataObject) -> None:
    """OPS-1: the index may be dropped at any time, since it changes no result."""
    start = data.draw(st.integers(0, len(text)))
    query = SearchQuery.of(data.draw(st.one_of(TEXTS, st.just(text[start : start + 6]))))
    if query.find(composed(text)) is not None:
        assert in_index(query, index_words(text))


@given(TEXTS)
@example("name" + 9 * "-" + "0")
def test_a_text_is_found_by_itself(text: str) -> None:
    query = SearchQuery.of(text)
    assert (query.find(composed(text)) is not None) is bool(query.terms)


@given(TEXTS)
def test_words_of_the_index_hold_no_separator_and_are_short(text: str) -> None:
    for word in index_words(text):
        assert word
        assert not set(word) & set(" \t\n\x00\"'\\|&!():*")
        assert len(word) <= LONGEST_WORD


def test_a_message_of_nothing_but_words_cannot_fill_the_index() -> None:
    words = index_words(" ".join(f"word{number:07d}" for number in range(200_000)))
    assert sum(len(word) for word in words) <= 1_000_000


def test_a_snippet_is_one_line_around_the_place() -> None:
    text = "a " * 500 + "\nHERE\n" + "b " * 500
    start = text.index("HERE")
    shown = snippet(text, start, start + 4)
    assert "HERE" in shown
    assert "\n" not in shown
    assert shown[0] == shown[-1] == "…"
    assert len(shown) < 260
    assert snippet("short HERE", 6, 10) == "short HERE"
