"""A server that plays a model, and the summarisers that talk to it."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sessionstore import AnthropicSummarizer, OpenAICompatibleSummarizer
from sessionstore.summarizers.endpoint_summarizer import EndpointSummarizer
from tests.models.model_server import ModelServer, serving

LOCAL_ENDPOINT = "SESSIONSTORE_LOCAL_ENDPOINT"
"""Address of a server with a small model, for the test that needs one."""

collect_ignore = [] if os.environ.get(LOCAL_ENDPOINT) else ["test_small_models.py"]

KEY = "k-5f2c9e71-not-a-shape-anybody-knows"
"""A key that no pattern finds: only whoever holds it can keep it back."""

Making = Callable[..., EndpointSummarizer]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A fresh endpoint."""
    with serving() as endpoint:
        yield endpoint


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    """The key, where the summarisers look for it."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    return KEY


@pytest.fixture(params=["openai", "anthropic"])
def summarizer(request: pytest.FixtureRequest, server: ModelServer) -> Making:
    """Makes a summariser of either family at the server, impatient; arguments as usual."""

    def make(model: str = "small", **arguments: Any) -> EndpointSummarizer:
        arguments = {"timeout": 0.5, "longest_wait": 0.3, **arguments}
        if request.param == "openai":
            return OpenAICompatibleSummarizer(model, f"{server.url}/v1", **arguments)
        return AnthropicSummarizer(model, server.url, **arguments)

    return make
