"""What goes to a model: the system prompt, then the context with the repairs that a provider needs.

Repairs are computed at every rendering and never stored, so a result that comes late finds its call unharmed. Each repair has a
file of its own here; the halves that say where a context may be cut are in ``domain.rules``.
"""
from __future__ import annotations

from collections.abc import Sequence

from sessionstore.domain.closed_sets import Profile
from sessionstore.domain.rendering.alternation import order_roles
from sessionstore.domain.rendering.anthropic_form import AnthropicForm
from sessionstore.domain.rendering.chat_form import ChatForm
from sessionstore.domain.rendering.documented_keys import with_documented_keys
from sessionstore.domain.rendering.emptiness import drop_empty
from sessionstore.domain.rendering.identifiers import acceptable_names
from sessionstore.domain.rendering.one_system_message import system_message
from sessionstore.domain.rendering.outgoing import Outgoing, present_ids, sendable
from sessionstore.domain.rendering.parts import Draft
from sessionstore.domain.rendering.repairs import (
    ASSISTANT_BRIDGE,
    UNANSWERED_STUB,
    USER_BRIDGE,
    Rendering,
    Repair,
    RepairKind,
    covered_stub,
)
from sessionstore.domain.rendering.responses_form import ResponsesForm
from sessionstore.domain.rendering.results import lay_out
from sessionstore.domain.rules.instructions import is_instruction
from sessionstore.domain.transcript import Entry

__all__ = [
    "ASSISTANT_BRIDGE",
    "UNANSWERED_STUB",
    "USER_BRIDGE",
    "Rendering",
    "Repair",
    "RepairKind",
    "covered_stub",
    "render_context",
    "to_provider",
]


def render_context(
    entries: Sequence[Entry],
    *,
    profile: Profile,
    system_prompt: str | None,
    task_text: str | None = None,
    covered: Sequence[tuple[int, int]] = (),
) -> Rendering:
    """What goes to a model for a context: valid for the profile, equal at every call, and nothing of the input changed.

    ``covered`` are the ranges of seqs that a summary in the context stands for; a call whose result is in one says so. A
    message that needs no repair is handed on as the same dict, so treat the messages as read-only.
    """
    spoken = [entry for entry in entries if not is_instruction(entry)]
    outgoing, repairs = to_provider(spoken, profile=profile, covered=covered)
    ordered, bridges = order_roles(outgoing, profile=profile)
    messages = [message.message for message in ordered]
    sources = [message.sources for message in ordered]
    first = system_message(entries, system_prompt=system_prompt, task_text=task_text)
    if first is not None:
        messages.insert(0, first)
        sources.insert(0, tuple(entry.seq for entry in entries if is_instruction(entry)))
    return Rendering(messages, (*repairs, *bridges), tuple(sources))


def to_provider(
    entries: Sequence[Entry], *, profile: Profile, covered: Sequence[tuple[int, int]] = ()
) -> tuple[list[Outgoing], list[Repair]]:
    """The messages in the provider's form with calls and results in place, before bridges are put between them.

    ``entries`` are without system messages.
    """
    drafts, laid_out = lay_out(entries, profile=profile, covered=covered)
    remaining, left_out = drop_empty(drafts, profile=profile)
    named, renamed = acceptable_names(remaining, profile=profile)
    present = present_ids(named)
    form = _form(profile, named)
    outgoing = [_sendable(message, present, profile) for draft in named for message in form.messages(draft)]
    return outgoing, [*laid_out, *left_out, *renamed]


def _form(profile: Profile, drafts: Sequence[Draft]) -> ChatForm | AnthropicForm | ResponsesForm:
    if profile == "anthropic":
        return AnthropicForm()
    return ResponsesForm.of(drafts) if profile == "responses" else ChatForm(strict=profile == "strict")


def _sendable(message: Outgoing, present: frozenset[str], profile: Profile) -> Outgoing:
    sent = with_documented_keys(sendable(message.message, present), profile)
    if sent is message.message:
        return message
    return Outgoing(sent, message.voice, message.sources, message.origin, message.has_words)
