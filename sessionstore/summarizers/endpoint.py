"""How a model's endpoint is asked, told as a generator that ``carrying_out`` drives.

The generator yields what to send and how long to wait, is given replies, and returns the answer. All that can be decided
without the network is decided here: the form of the answer, another try, which failure it was.
"""
from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from sessionstore.domain.answer_forms import AnswerForm
from sessionstore.domain.summarizing import SummaryAnswer
from sessionstore.errors import SummarizerError
from sessionstore.summarizers.abilities import AbilityRecord, EndpointKey
from sessionstore.summarizers.endpoint_failures import failed_reply, is_transient, retry_delay

TRUNCATED: Final = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
"""Finish reasons that say an answer was cut at its longest length."""

_DEFAULT_DELAY: Final = 0.5
"""Seconds before another try when the endpoint doesn't say how many."""

_PERHAPS_THE_SCHEMA: Final = frozenset({"bad_request", "not_found"})
"""Failures with which endpoints refuse what they don't know."""


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt, the most tokens of the answer, the most thought beside it, and its JSON form if it has one."""

    prompt: str
    answer_tokens: int
    reserved_tokens: int = 0
    form: AnswerForm | None = None

    @property
    def max_tokens(self) -> int:
        """The longest answer as providers count it, thoughts included."""
        return self.answer_tokens + self.reserved_tokens


@dataclass(frozen=True, slots=True)
class Send:
    """Send this payload, a JSON object."""

    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: status, headers with lower-case names, and the body up to the size limit (``is_whole`` says if so)."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class NoReply:
    """Nothing whole came back: ``unreachable`` or ``timeout``, and why."""

    kind: str
    reason: str


Conversation = Generator[Send | Wait, Reply | NoReply | None, SummaryAnswer]
"""Yields ``Send`` (answered with ``Reply`` or ``NoReply``) and ``Wait`` (answered with None); returns the answer."""


class Dialect(Protocol):
    """How one family of providers wants to be asked and how it answers."""

    def payload(self, model: str, question: Question, form: AnswerForm | None, *, older_limit: bool) -> dict[str, Any]:
        """The request. ``form`` is the form to insist on, if any; ``older_limit`` asks for the older name of a setting."""
        ...

    def read(self, value: Mapping[str, Any]) -> SummaryAnswer:
        """A reply's value as an answer. Raises ``SummarizerError`` where it has another shape, or holds an error."""
        ...


def converse(
    dialect: Dialect, key: EndpointKey, question: Question, abilities: AbilityRecord, *, longest_wait: float
) -> Conversation:
    """Ask one question until there is an answer or a failure that another try does not mend.

    A transient failure (no connection, a broken one, 408, 409, 429, 5xx) is tried once more, after what ``Retry-After`` says if
    that is at most ``longest_wait`` seconds. A time-out is not: it has taken its time. What an endpoint refuses (a schema, the
    newer name of a setting) is left out, and that is remembered. Raises ``SummarizerError``.
    """
    tried_again = False
    older_limit = abilities.wants_older_limit(key)
    form = question.form if abilities.may_keep_to_schema(key) else None
    insisted = form is not None
    while True:
        reply = yield Send(dialect.payload(key.model, question, form, older_limit=older_limit))
        if isinstance(reply, Reply) and reply.status < 400:
            answer = dialect.read(_value(reply))
            if insisted and form is None:
                abilities.learn_schema(key, keeps=False)
            if form is None or answer.tool_calls or not answer.text.strip():
                return answer
            shaped = _shaped(answer, form)
            abilities.learn_schema(key, keeps=shaped is not None)
            if shaped is not None:
                return shaped
            if not answer.text.lstrip().startswith(("{", "[", "`")):
                # It took no notice of the schema and wrote text, which is as good.
                return replace(answer, form_version=form.version)
            form = None
            continue
        if isinstance(reply, Reply):
            if (other := _other_limit(reply, older_limit)) is not None:
                older_limit = other
                abilities.learn_limit(key, older=other)
                continue
            failure = failed_reply(reply.status, reply.headers, reply.body)
            if failure.kind == "context_too_long" and question.reserved_tokens:
                # Some servers add the longest answer to the prompt: without room for thoughts it may fit.
                question = replace(question, reserved_tokens=0)
                continue
            hopeless = failure.kind in _PERHAPS_THE_SCHEMA or (failure.kind == "server_error" and tried_again)
            if form is not None and hopeless:
                # Without the schema the endpoint shows whether it works at all.
                form = None
                continue
        else:
            reason = "no reply" if reply is None else reply.reason
            failure = SummarizerError(reason, kind="unreachable" if reply is None else reply.kind)
        said = retry_delay(reply.headers if isinstance(reply, Reply) else {})
        delay = min(_DEFAULT_DELAY, longest_wait) if said is None else said
        if tried_again or not is_transient(failure.kind) or delay > longest_wait:
            raise failure
        tried_again = True
        yield Wait(delay)


def _value(reply: Reply) -> Mapping[str, Any]:
    if not reply.is_whole:
        raise SummarizerError(f"its reply is longer than {len(reply.body):,} bytes", kind="too_large")
    try:
        value = json.loads(reply.body)
    except (ValueError, RecursionError):
        kind = reply.headers.get("content-type", "no type").partition(";")[0][:60]
        raise SummarizerError(f"its reply of {len(reply.body):,} bytes ({kind}) is no JSON", kind="invalid_reply") from None
    if not isinstance(value, dict):
        raise SummarizerError("its reply is JSON, but no object", kind="invalid_reply")
    return value


def _shaped(answer: SummaryAnswer, form: AnswerForm) -> SummaryAnswer | None:
    """The answer with its JSON as text; of one that was cut off, the part that can be read. None when it isn't of the form."""
    cut_off = (answer.finish_reason or "").casefold() in TRUNCATED
    text = form.text_of(_json_value(answer.text, partly=cut_off))
    if text is None:
        return None
    return replace(answer, text=text, form_version=form.version)


def _json_value(text: str, *, partly: bool) -> object:
    import jiter

    plain = text.strip()
    if plain.startswith("```"):
        plain = plain.removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    try:
        value: object = jiter.from_json(plain.encode("utf-8", "replace"), partial_mode="trailing-strings" if partly else "off")
    except ValueError:
        return None
    return value


def _other_limit(reply: Reply, older_limit: bool) -> bool | None:
    """Whether the other name of the longest answer should be tried: the endpoint names the one that it doesn't take."""
    if reply.status not in (400, 422):
        return None
    said = reply.body[:4_000].decode("utf-8", "replace")
    if older_limit:
        return False if "max_completion_tokens" in said else None
    # The message about the newer name doesn't speak of the older one unless it is wanted.
    return True if "max_completion_tokens" in said and "upport" in said else None
