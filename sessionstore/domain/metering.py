"""What a message costs: everything that is sent of it, counted as text, with images and files at a flat price."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sessionstore.domain.closed_sets import Tier
from sessionstore.domain.messages import Message, json_text
from sessionstore.domain.payloads import Payloads
from sessionstore.domain.response_items import answer_key, is_answered_call, is_other_item
from sessionstore.domain.token_counter import TokenCounter
from sessionstore.domain.transcript import view_message

MESSAGE_OVERHEAD: Final = 4
"""Tokens that the envelope of a message costs beside its text: OpenAI's published recipe has 3 a message and 1 for its role."""

CALL_OVERHEAD: Final = 4
"""Tokens that the envelope of a call or a result costs beside its name, id and text; the same order as a message's."""

_READ_BY_THE_VIEW: Final = frozenset(
    {
        "role", "content", "name", "type", "refusal", "audio", "tool_calls", "function_call", "tool_call_id", "call_id",
        "arguments", "input", "output", "reasoning", "reasoning_content", "summary", "encrypted_content", "tool_name",
        "is_error", "isError",
    }
)  # fmt: skip
_NOT_SENT: Final = frozenset({"id", "parent", "sidechain", "created_at", "requires", "status"})


@dataclass(frozen=True, slots=True)
class Pressure:
    """How full a context is: its tokens and where they come from, against the threshold of a compaction.

    ``parts`` are tokens of ``system``, ``tools`` and ``history`` and add up to ``tokens``. ``method`` says how they were got:
    the counter's name, or ``provider`` when the model's own count stands behind them. ``threshold`` and ``window`` are None,
    and ``due`` False, while the window is unknown. ``is_new_tier`` is True once a tier, for the first of all processes that
    measures it: a warning that is shown then is shown once. A compaction that gets below a tier clears it, and so does another
    model.
    """

    tokens: int
    parts: Mapping[str, int]
    method: str
    window: int | None
    threshold: int | None
    tier: Tier
    is_new_tier: bool = False

    @property
    def due(self) -> bool:
        """Whether it is time to compact."""
        return self.tier == "due"


def tier_warning(pressure: Pressure) -> str:
    """A sentence for a person that says how near the threshold a context has come."""
    return f"the context has {pressure.tokens:,} tokens (tier {pressure.tier}) and is compacted at {pressure.threshold or 0:,}"


def message_tokens(message: Message, counter: TokenCounter, *, image_tokens: int) -> int:
    """Tokens of one message: envelope, text, calls with their arguments, results, reasoning, all else that is in it, images.

    Files, sound and what is encrypted are priced by their size, as ``payloads`` says.
    """
    view = view_message(message)
    payloads = Payloads(view.payload_tokens, view.images)
    pieces = [view.text, *view.reasoning, *_unknown(message, payloads)]
    for attachment in view.attachments:
        pieces += ("" if view.is_labelled(attachment) else attachment.label, attachment.text)
    for call in view.calls:
        pieces += (call.call_id, call.name, call.arguments)
    for result in view.results:
        pieces += (result.call_id, result.name or "", result.text)
        payloads.images += result.images
        payloads.tokens += result.payload_tokens
    text = "\n".join(piece for piece in pieces if piece)
    envelopes = MESSAGE_OVERHEAD + CALL_OVERHEAD * (len(view.calls) + len(view.results) + len(view.attachments))
    return envelopes + (counter.count(text) if text else 0) + payloads.tokens + payloads.images * image_tokens


def prompt_tokens(text: str | None, counter: TokenCounter) -> int:
    """Tokens of a system prompt as a message; none when there is no prompt."""
    return MESSAGE_OVERHEAD + counter.count(text) if text else 0


def _unknown(message: Message, payloads: Payloads) -> Iterator[str]:
    """The keys that the view doesn't read, with their values; payloads in them are added to ``payloads``."""
    if is_other_item(message):
        return
    answer = answer_key(message) if is_answered_call(message) else ""
    for key, value in message.items():
        if key in _READ_BY_THE_VIEW or key in _NOT_SENT or value is None or key == answer:
            continue
        yield key
        readable = payloads.taken_from(value, key)
        yield readable if isinstance(readable, str) else json_text(readable)
