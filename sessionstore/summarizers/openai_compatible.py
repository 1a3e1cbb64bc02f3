"""Any model behind chat completions: OpenAI, Azure, OpenRouter, vLLM, Ollama, llama.cpp."""
from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, ClassVar

from sessionstore.summarizers.chat_completions import ChatCompletions
from sessionstore.summarizers.endpoint import Dialect
from sessionstore.summarizers.endpoint_summarizer import EndpointSummarizer, not_installed


@dataclass(frozen=True, slots=True)
class OpenAICompatibleSummarizer(EndpointSummarizer):
    """Asks a model through the ``openai`` client (``pip install 'sessionstore[openai]'``), imported when first used.

    Without a ``base_url`` it is OpenAI itself. Nothing is streamed, no tool is offered, the history is text inside one user
    message. See ``EndpointSummarizer`` for the arguments.
    """

    api_key_env: str = "OPENAI_API_KEY"

    family: ClassVar[str] = "openai"
    dialect: ClassVar[Dialect] = ChatCompletions()

    def _client(self, secret: str, **network: Any) -> AbstractAsyncContextManager[Any]:
        openai = _openai()
        client: AbstractAsyncContextManager[Any] = openai.AsyncOpenAI(
            api_key=secret,
            base_url=self.base_url,
            timeout=self._timeouts(openai),
            max_retries=0,
            http_client=openai.DefaultAsyncHttpxClient(**network),
        )
        return client

    def _create(self, client: Any) -> Any:
        return client.chat.completions.with_streaming_response.create

    def _timeouts(self, openai: Any) -> Any:
        return openai.Timeout(self.timeout, connect=min(self.connect_timeout, self.timeout))


def _openai() -> Any:
    try:
        import openai
    except ImportError as error:
        raise not_installed("openai") from error
    return openai
