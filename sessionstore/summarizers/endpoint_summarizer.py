"""What every summariser has that talks to a model over HTTP: its limits, its key, and the conversation."""
from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from sessionstore.domain.summarizing import SummaryAnswer, SummaryRequest
from sessionstore.errors import SummarizerError
from sessionstore.summarizers.abilities import ABILITIES, EndpointKey
from sessionstore.summarizers.awaited import AwaitedSummarizer
from sessionstore.summarizers.carrying_out import ReplyLimits, carry_out, error_reader, wait_apart
from sessionstore.summarizers.endpoint import Conversation, Dialect, Question, converse

DEFAULT_TIMEOUT: Final = 120.0
"""Seconds for one reply: a model of 30 tokens a second writes 3,600 in that time, and most summaries have fewer."""
DEFAULT_REASONING_TOKENS: Final = 4_096
"""Tokens that a model may think before it writes."""
_WINDOW_SHARE: Final = 8
_NO_KEY: Final = "none"
"""Sent to servers of one's own, which ask for no key; the clients want one."""
_HAS_CREDENTIALS: Final = re.compile(r"//[^/?#]*@|[?&#]")


@dataclass(frozen=True, slots=True)
class EndpointSummarizer(ABC):
    """A model behind an address. The key is read from the environment when it is needed, and held nowhere.

    ``model`` is the provider's name of it. ``base_url`` is the address up to ``/v1``; None for the provider's own.
    ``api_key_env`` names the environment variable with the key; a server at a ``base_url`` may do without one. ``timeout`` is
    seconds for one whole reply, ``connect_timeout`` for the connection, ``longest_wait`` the most that a ``Retry-After`` is
    waited for. ``window`` is tokens of the model's window, prompt and answer together; ``input_tokens`` the most tokens of
    history in one request; None: not known. ``reasoning_tokens`` is what the model may think beside its answer, at most an
    eighth of a known window. A reply longer than ``largest_reply`` bytes is a failure. Raises ``ValueError`` for an address
    with a password or a query in it.
    """

    model: str
    base_url: str | None = None
    api_key_env: str = ""
    timeout: float = DEFAULT_TIMEOUT
    connect_timeout: float = 10.0
    longest_wait: float = 30.0
    window: int | None = None
    input_tokens: int | None = None
    reasoning_tokens: int = DEFAULT_REASONING_TOKENS
    largest_reply: int = 1_000_000

    family: ClassVar[str]
    """What the provider's client is called: the package, and the extra that installs it."""
    dialect: ClassVar[Dialect]

    def __post_init__(self) -> None:
        if self.base_url is not None and _HAS_CREDENTIALS.search(self.base_url):
            raise ValueError(f"a base_url is an address only; put the key into the environment variable {self.api_key_env}")

    @property
    def name(self) -> str:
        """What the records call it: ``openai:gpt-5-mini``."""
        return f"{self.family}:{self.model}"

    @property
    def reserved_tokens(self) -> int:
        """Tokens of the window that are kept for the model's thoughts."""
        return self.reasoning_tokens if self.window is None else min(self.reasoning_tokens, self.window // _WINDOW_SHARE)

    @property
    def keeps_to_schema(self) -> bool | None:
        """Whether the endpoint was found to keep to a JSON schema; None while nobody asked it."""
        return ABILITIES.keeps_to_schema(self._key())

    def summarize(self, request: SummaryRequest) -> SummaryAnswer:
        """Ask the model. Raises ``SummarizerError``, whose ``kind`` tells the failures apart (see ``docs/summarizers.md``)."""
        return wait_apart(lambda: self.summarize_async(request))

    async def summarize_async(self, request: SummaryRequest) -> SummaryAnswer:
        """The same on an event loop, on which it can be cancelled."""
        secret = self._secret()
        limits = ReplyLimits(self.timeout, self.largest_reply)
        try:
            # A client for each question costs 17 ms. One that is kept would keep the key, its event loop and its process too.
            async with self._client(secret, event_hooks={"response": [error_reader(limits)]}) as client:
                return await carry_out(self._conversation(request), self._create(client), limits)
        except SummarizerError as error:
            raise _without(secret, error) from None

    def awaited(self) -> AwaitedSummarizer:
        """The same summariser for the async store: it waits on the event loop in place of a thread."""
        return AwaitedSummarizer(self)

    @abstractmethod
    def _client(self, secret: str, **network: Any) -> AbstractAsyncContextManager[Any]:
        """The provider's async client; ``network`` is for the HTTP client inside it."""

    @abstractmethod
    def _create(self, client: Any) -> Any:
        """The client's call that gives a reply before its body is read."""

    def _conversation(self, request: SummaryRequest) -> Conversation:
        question = Question(request.prompt, request.budget_tokens, self.reserved_tokens, request.form)
        return converse(self.dialect, self._key(), question, ABILITIES, longest_wait=self.longest_wait)

    def _key(self) -> EndpointKey:
        return EndpointKey(self.family, self.base_url or "", self.model)

    def _secret(self) -> str:
        secret = os.environ.get(self.api_key_env, "").strip()
        if not secret and self.base_url is None:
            raise SummarizerError(f"the environment variable {self.api_key_env} with the key is not set", kind="bad_key")
        return secret or _NO_KEY


def not_installed(family: str) -> SummarizerError:
    """The error for a provider's client that isn't there."""
    return SummarizerError(
        f"the client package {family!r} is not installed (pip install 'sessionstore[{family}]')", kind="not_installed"
    )


def _without(secret: str, error: SummarizerError) -> SummarizerError:
    """The error without the key, should the endpoint have said it."""
    if secret == _NO_KEY or secret not in error.reason:
        return error
    return SummarizerError(error.reason.replace(secret, "[REDACTED:key]"), kind=error.kind)
