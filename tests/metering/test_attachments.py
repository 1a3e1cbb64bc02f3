"""METER-1: what is not plain text is counted too, text as text and files by their size."""
from __future__ import annotations

from typing import Any

import pytest

from sessionstore import SessionStore
from sessionstore.domain.metering import MESSAGE_OVERHEAD, message_tokens
from sessionstore.domain.payloads import MOST_PAYLOAD_TOKENS, PAGE_BYTES, PAGE_TOKENS
from sessionstore.domain.transcript import view_message
from tests.summary.plain_counter import PlainCounter

WORDS = "some words " * 4_000
TEXT_TOKENS = len(WORDS) // 4
PIXELS = 1_000


def base64_of(size: int) -> str:
    """What a file of so many bytes looks like in base64."""
    return "QUJD" * (size // 3)


def tokens(message: dict[str, Any]) -> int:
    return message_tokens(message, PlainCounter(), image_tokens=PIXELS)


def of_user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def answer(*blocks: dict[str, Any]) -> dict[str, Any]:
    return of_user({"type": "tool_result", "tool_use_id": "a", "content": list(blocks)})


def pdf(data: str) -> dict[str, Any]:
    return {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": data}}


DOCUMENT = {"type": "document", "title": "Plan", "source": {"type": "text", "media_type": "text/plain", "data": WORDS}}
SEE = {"type": "text", "text": "See."}


@pytest.mark.parametrize(
    "message",
    [
        of_user(DOCUMENT),
        of_user(DOCUMENT, SEE),
        of_user({"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": WORDS}]}}),
        of_user({"type": "search_result", "source": "u", "title": "t", "content": [{"type": "text", "text": WORDS}]}),
        of_user({"type": "sketch", "strokes": [{"of": WORDS}]}),
        answer(SEE, DOCUMENT),
        answer(SEE, {"type": "sketch", "strokes": WORDS}),
        {"type": "mcp_call", "id": "m", "server_label": "s", "name": "t", "arguments": "{}", "output": WORDS},
        {"type": "mcp_call", "id": "m", "server_label": "s", "name": "t", "arguments": WORDS, "output": "x"},
        {"type": "mcp_call", "id": "m", "server_label": "s", "name": "t", "arguments": "{}", "output": None, "error": WORDS},
        {"type": "code_interpreter_call", "id": "c", "code": WORDS, "outputs": []},
        {"type": "tool_search_call", "arguments": WORDS, "output": ""},
    ],
)
def test_text_is_counted_once_wherever_it_stands(message: dict[str, Any]) -> None:
    assert TEXT_TOKENS <= tokens(message) < TEXT_TOKENS + 50


@pytest.mark.parametrize(
    "holder",
    [
        lambda data: of_user(pdf(data)),
        lambda data: of_user({"type": "file", "file": {"filename": "a", "file_data": f"data:application/pdf;base64,{data}"}}),
        lambda data: of_user({"type": "input_file", "filename": "a.pdf", "file_data": data}),
        lambda data: of_user({"type": "resource", "resource": {"uri": "a.bin", "blob": data}}),
        lambda data: of_user({"type": "sketch", "strokes": data}),
        lambda data: answer(pdf(data)),
        lambda data: answer(SEE, {"type": "sketch", "strokes": data}),
        lambda data: answer({"type": "sketch", "strokes": data}),
        lambda data: {"role": "assistant", "content": "x", "made": [{"type": "base64", "data": data}]},
    ],
)
def test_a_file_is_priced_by_its_size_up_to_a_limit(holder: Any) -> None:
    for size, price in ((3_000, PAGE_TOKENS), (3 * PAGE_BYTES, 3 * PAGE_TOKENS), (6_000_000, MOST_PAYLOAD_TOKENS)):
        assert price < tokens(holder(base64_of(size))) < price + 50


@pytest.mark.parametrize(("width", "end"), [(76, "\n"), (64, "\r\n")])
@pytest.mark.parametrize("key", ["blob", "strokes"])
def test_a_file_whose_base64_is_broken_into_lines_is_one(key: str, width: int, end: str) -> None:
    for size, price in ((3_000, PAGE_TOKENS), (3 * PAGE_BYTES, 3 * PAGE_TOKENS), (6_000_000, MOST_PAYLOAD_TOKENS)):
        data = base64_of(size)
        wrapped = end.join(data[start : start + width] for start in range(0, len(data), width))
        for ending in ("", end):
            assert price < tokens(of_user({"type": "sketch", key: wrapped + ending})) < price + 50


@pytest.mark.parametrize("line", ["0123456789abcdef" * 4, "a" * 70 + " b", "Q" * 20])
def test_other_lines_are_text(line: str) -> None:
    text = "\n".join([line] * 200)
    assert tokens(of_user({"type": "sketch", "strokes": text})) > len(text) // 5


def test_sound_is_priced_by_its_length() -> None:
    minute = of_user({"type": "input_audio", "input_audio": {"data": base64_of(60 * 48_000), "format": "wav"}})
    assert 600 <= tokens(minute) < 620
    said = {"role": "assistant", "content": None, "audio": {"id": "a", "data": base64_of(60 * 16_000), "transcript": WORDS}}
    assert TEXT_TOKENS + 600 <= tokens(said) < TEXT_TOKENS + 620


def test_pictures_cost_the_same_in_every_place() -> None:
    url = f"data:image/png;base64,{base64_of(900_000)}"
    for message in (
        {"type": "image_generation_call", "id": "i", "status": "completed", "result": base64_of(900_000)},
        {"type": "function_call_output", "call_id": "a", "output": [{"type": "input_image", "image_url": url}]},
        {"type": "code_interpreter_call", "id": "c", "code": "x", "outputs": [{"type": "image", "url": url}]},
        of_user({"type": "file", "mediaType": "image/png", "url": url}),
    ):
        assert PIXELS < tokens(message) < PIXELS + 50


def test_a_file_that_only_its_provider_knows_costs_a_page() -> None:
    for source in ({"type": "url", "url": "https://example.org/a.pdf"}, {"type": "file", "file_id": "file_1"}):
        assert PAGE_TOKENS < tokens(of_user({"type": "document", "source": source})) < PAGE_TOKENS + 50


def test_what_is_encrypted_costs_what_it_hides_beyond_what_is_shown() -> None:
    """Three bytes are four characters of base64, and a token four bytes."""
    thought = {"type": "thinking", "thinking": "x" * 400, "signature": base64_of(4_000)}
    alone = tokens({"role": "assistant", "content": [{**thought, "signature": ""}]})
    assert tokens({"role": "assistant", "content": [thought]}) - alone == pytest.approx(900, abs=2)
    found = {"type": "web_search_result", "title": "t", "url": "u", "encrypted_content": base64_of(4_000)}
    searched = {"type": "web_search_tool_result", "tool_use_id": "s", "content": [found]}
    assert 1_000 < tokens({"role": "assistant", "content": [searched]}) < 1_060


def test_a_refusal_is_counted_once() -> None:
    assert tokens({"role": "assistant", "content": None, "refusal": "x" * 400}) == MESSAGE_OVERHEAD + 100


def test_a_window_full_of_documents_is_due(store: SessionStore) -> None:
    session = store.create_session(context_window=32_000)
    session.append([of_user(DOCUMENT, SEE), {"role": "assistant", "content": "Read."}] * 4)
    assert session.pressure().due
    assert session.compact().status == "committed"


@pytest.mark.parametrize("message", [
    {"role": "assistant", "content": [{"type": "redacted_thinking", "data": base64_of(4_000)}]},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": base64_of(4_000)},
])
def test_reasoning_that_only_the_provider_can_read_is_priced_by_its_size(message: dict[str, Any]) -> None:
    """METER-1: a cipher of text has a token in four bytes or so, and nothing of it is read as text."""
    assert 900 < tokens(message) < 1_100
    assert view_message(message).reasoning == ("[encrypted]",)


def test_text_under_a_key_that_promises_base64_is_text() -> None:
    for key in ("signature", "data", "blob", "encrypted_content"):
        assert TEXT_TOKENS <= tokens(of_user({"type": "sketch", key: WORDS})) < TEXT_TOKENS + 50
