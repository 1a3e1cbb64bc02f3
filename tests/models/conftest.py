"""A server that plays a model, and the summarisers that talk to it."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from sessionstore import AnthropicSummarizer, OpenAICompatibleSummarizer, SessionStore
from sessionstore.summarizers.endpoint_summarizer import EndpointSummarizer
from tests.conftest import Clock
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

    return _making(request.param, server)


@pytest.fixture
def openai_summarizer(server: ModelServer) -> Making:
    """The same of the first family only, where the families have nothing of their own."""
    return _making("openai", server)


def _making(family: str, server: ModelServer) -> Making:
    # What is learned of an address is remembered by the process, so each test has one of its own.
    address = f"{server.url}/{uuid4().hex}"

    def make(model: str = "small", **arguments: Any) -> EndpointSummarizer:
        arguments = {"timeout": 10.0, "longest_wait": 0.1, **arguments}
        if family == "openai":
            return OpenAICompatibleSummarizer(model, f"{address}/v1", **arguments)
        return AnthropicSummarizer(model, address, **arguments)

    return make


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[SessionStore]:
    """A fresh store on SQLite, which waits for no disk: what a model does is the same to every database."""
    with SessionStore.open(f"sqlite:///{tmp_path}/store.db", clock=clock, durability="normal") as opened:
        yield opened
