"""Claude models, through Anthropic's Messages API."""
from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, ClassVar

from sessionstore.summarizers.endpoint import Dialect
from sessionstore.summarizers.endpoint_summarizer import EndpointSummarizer, not_installed
from sessionstore.summarizers.messages_dialect import MessagesDialect


@dataclass(frozen=True, slots=True)
class AnthropicSummarizer(EndpointSummarizer):
    """Asks a model through the ``anthropic`` client (``pip install 'sessionstore[anthropic]'``), imported when first used.

    Without a ``base_url`` it is Anthropic itself. Nothing is streamed, no tool is offered, the history is text inside one user
    message. See ``EndpointSummarizer`` for the arguments.
    """

    api_key_env: str = "ANTHROPIC_API_KEY"

    family: ClassVar[str] = "anthropic"
    dialect: ClassVar[Dialect] = MessagesDialect()

    def _client(self, secret: str, **network: Any) -> AbstractAsyncContextManager[Any]:
        anthropic = _anthropic()
        client: AbstractAsyncContextManager[Any] = anthropic.AsyncAnthropic(
            api_key=secret,
            base_url=self.base_url,
            timeout=self._timeouts(anthropic),
            max_retries=0,
            http_client=anthropic.DefaultAsyncHttpxClient(**network),
        )
        return client

    def _create(self, client: Any) -> Any:
        return client.messages.with_streaming_response.create

    def _timeouts(self, anthropic: Any) -> Any:
        return anthropic.Timeout(self.timeout, connect=min(self.connect_timeout, self.timeout))


def _anthropic() -> Any:
    try:
        import anthropic
    except ImportError as error:
        raise not_installed("anthropic") from error
    return anthropic
