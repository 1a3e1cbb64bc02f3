"""Everything that an endpoint can do wrong has a kind of its own, and none of it is waited for too long."""
from __future__ import annotations

import asyncio
import json

import pytest

from sessionstore import SummarizerError, SummaryRequest
from sessionstore.domain.summary_check import check_answer
from sessionstore.summarizers.endpoint_summarizer import EndpointSummarizer
from tests.models.conftest import KEY, Making
from tests.models.model_server import (
    Behaviour,
    ModelServer,
    drips,
    drips_an_error,
    drips_the_head,
    fails,
    floods,
    floods_an_error,
    hangs,
    resets_at_once,
    resets_in_the_body,
    says,
    sends,
)

REQUEST = SummaryRequest("PROMPT", "#1 user\nShip it.", None, None, 500, {}, 1, 1, form=None)

FAILURES: list[tuple[Behaviour, str, int]] = [
    (hangs, "timeout", 1),
    (drips, "timeout", 1),
    (drips_an_error, "timeout", 1),
    (drips_the_head, "timeout", 1),
    (floods, "too_large", 1),
    (floods_an_error, "server_error", 2),
    (resets_at_once, "unreachable", 2),
    (resets_in_the_body, "unreachable", 2),
    (fails(500), "server_error", 2),
    (fails(503), "server_error", 2),
    (fails(529, "overloaded"), "server_error", 2),
    (fails(429, headers={"retry-after": "0"}), "rate_limited", 2),
    (fails(429, headers={"retry-after": "3600"}), "rate_limited", 1),
    (fails(429, "You exceeded your current quota, check your billing details"), "no_credit", 1),
    (fails(402), "no_credit", 1),
    (fails(401), "bad_key", 1),
    (fails(403), "bad_key", 1),
    (fails(404, "model not found"), "not_found", 1),
    (fails(408), "timeout", 1),
    (fails(400, "this model's maximum context length is 4096 tokens"), "context_too_long", 2),
    (fails(413, "request too large"), "context_too_long", 2),
    (fails(400, "blocked by the content management policy"), "refused", 1),
    (fails(400, "unknown field"), "bad_request", 1),
    (sends(b"{not json"), "invalid_reply", 1),
    (sends(b'[1, 2, "three"]'), "invalid_reply", 1),
    (sends(b"<html><body>Welcome to the proxy</body></html>", kind="text/html"), "invalid_reply", 1),
    (sends(b'data: {"choices": []}\n\n', kind="text/event-stream"), "invalid_reply", 1),
    (sends(b""), "invalid_reply", 1),
    (sends(b"{}"), "invalid_reply", 1),
    (sends(json.dumps({"error": {"message": "upstream is gone", "code": 502}}).encode()), "server_error", 1),
    (sends(b"<h1>502 Bad Gateway</h1>", status=502, kind="text/html"), "server_error", 2),
]


def asked_sync(summarizer: EndpointSummarizer) -> SummarizerError:
    with pytest.raises(SummarizerError) as caught:
        summarizer.summarize(REQUEST)
    return caught.value


def asked_async(summarizer: EndpointSummarizer) -> SummarizerError:
    with pytest.raises(SummarizerError) as caught:
        asyncio.run(summarizer.summarize_async(REQUEST))
    return caught.value


@pytest.mark.parametrize(
    ("behaviour", "kind", "requests"), FAILURES, ids=[f"{number}-{kind}" for number, (_, kind, _) in enumerate(FAILURES)]
)
def test_each_failure_has_its_kind_and_only_passing_ones_are_tried_again(
    server: ModelServer, summarizer: Making, behaviour: Behaviour, kind: str, requests: int
) -> None:
    """FAIL-1"""
    server.will(behaviour)
    error = asked_sync(summarizer(timeout=0.4 if kind == "timeout" else 10.0))
    assert error.kind == kind
    assert len(server.asked) == requests
    assert len(error.reason) < 300


@pytest.mark.parametrize(("behaviour", "kind"), [(drips_an_error, "timeout"), (fails(500), "server_error")])
def test_a_failure_is_the_same_where_it_is_awaited_and_beside_a_running_loop(
    server: ModelServer, summarizer: Making, behaviour: Behaviour, kind: str
) -> None:
    """FAIL-1"""
    server.will(behaviour)
    made = summarizer(timeout=0.3)
    assert asked_async(made).kind == kind

    async def without_awaiting() -> SummarizerError:
        return asked_sync(made)

    assert asyncio.run(without_awaiting()).kind == kind


ANSWERS: list[tuple[Behaviour, str]] = [
    (says(""), "empty"),
    (says(None), "empty"),
    (says("  \n"), "blank"),
    (says("", reasoning="Let me think about the summary."), "reasoning_only"),
    (says("<think>Let me think.</think>"), "reasoning_only"),
    (says("## Goal\nShip", finish="length"), "truncated"),
    (says("I cannot", finish="content_filter"), "refused"),
    (says("", tool="shell"), "tool_call"),
    (says("I will look first.", tool="shell"), "tool_call"),
    (says("Error: upstream timed out"), "error_text"),
]


@pytest.mark.parametrize(
    ("behaviour", "failure"), ANSWERS, ids=[f"{number}-{failure}" for number, (_, failure) in enumerate(ANSWERS)]
)
def test_each_answer_that_is_none_is_told_apart(
    server: ModelServer, summarizer: Making, behaviour: Behaviour, failure: str
) -> None:
    """FAIL-1"""
    server.will(behaviour)
    assert check_answer(summarizer().summarize(REQUEST)) == failure


def test_a_passing_failure_is_overcome(server: ModelServer, summarizer: Making) -> None:
    for behaviour in (fails(429, headers={"retry-after": "0.05"}), fails(500), resets_in_the_body, resets_at_once):
        server.will(behaviour, says("## Goal\nShip it."))
        assert summarizer().summarize(REQUEST).text == "## Goal\nShip it."


def test_nobody_at_the_address_is_unreachable(server: ModelServer, summarizer: Making) -> None:
    nowhere = summarizer()
    assert nowhere.base_url is not None
    moved = type(nowhere)("small", "http://127.0.0.1:9/v1", timeout=5, longest_wait=0.0)
    assert asked_sync(moved).kind == "unreachable"
    assert server.asked == []


def test_the_history_is_one_user_message_without_tools_and_nothing_is_streamed(
    server: ModelServer, summarizer: Making
) -> None:
    """SUMIN-1"""
    server.will(says("## Goal\nShip it."))
    answer = summarizer(reasoning_tokens=70).summarize(REQUEST)
    (asked,) = server.asked
    assert asked.prompt == "PROMPT"
    assert asked.payload["model"] == "small"
    assert not {"tools", "tool_choice", "functions"} & asked.payload.keys()
    assert asked.payload.get("stream", False) is False
    assert asked.payload["max_tokens"] == 570
    assert answer.usage is not None
    assert 20 in answer.usage.values()


def test_the_key_goes_to_the_endpoint_and_nowhere_else(
    server: ModelServer, summarizer: Making, caplog: pytest.LogCaptureFixture
) -> None:
    """SEC-1"""
    caplog.set_level("DEBUG")
    made = summarizer()
    server.will(fails(401, f"Incorrect API key provided: {KEY}"))
    error = asked_sync(made)
    (asked,) = server.asked
    assert KEY in str(asked.headers)
    for told in (str(error), repr(error), repr(made), str(made), caplog.text):
        assert KEY not in told
    assert error.__cause__ is None
    assert error.__suppress_context__


def test_without_a_key_the_providers_own_address_is_not_asked(
    monkeypatch: pytest.MonkeyPatch, server: ModelServer, summarizer: Making
) -> None:
    made = type(summarizer())
    monkeypatch.delenv(made("m").api_key_env)
    error = asked_sync(made("m"))
    assert error.kind == "bad_key"
    assert made("m").api_key_env in error.reason
    server.will(says("## Goal\nShip it."))
    assert summarizer().summarize(REQUEST).text == "## Goal\nShip it."


@pytest.mark.parametrize("address", ["https://me:secret@host/v1", "https://host/v1?key=secret"])
def test_an_address_with_a_secret_in_it_is_refused(summarizer: Making, address: str) -> None:
    """SEC-1"""
    with pytest.raises(ValueError, match="address only") as caught:
        type(summarizer())("m", address)
    assert "secret" not in str(caught.value)
