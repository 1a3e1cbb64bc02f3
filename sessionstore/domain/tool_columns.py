"""Names of tools and ids of calls, pulled out of a message so that they can be searched without reading bodies."""
from __future__ import annotations

from typing import Final

from sessionstore.domain.messages import Message, clean_text
from sessionstore.domain.transcript import view_message

_CALLS: Final = frozenset({"tool_calls", "function_call"})
"""Keys under which an OpenAI chat message has its calls, now and formerly."""


def tool_columns(message: Message) -> tuple[str | None, str | None]:
    """The names of the tools that a message calls or answers, and the ids of those calls; each a text with spaces, or None."""
    role, call_id = message.get("role"), message.get("tool_call_id")
    if isinstance(message.get("content"), str):
        # The two commonest forms, told without the view, which would read texts that nobody asks for here.
        if role in ("user", "assistant") and message.keys().isdisjoint(_CALLS):
            return None, None
        if role == "tool" and isinstance(call_id, str):
            name = message.get("name", message.get("tool_name"))
            return clean_text(name) or None if isinstance(name, str) else None, clean_text(call_id) or None
    view = view_message(message)
    names = [call.name for call in view.calls] + [result.name for result in view.results if result.name]
    call_ids = [call.call_id for call in view.calls] + [result.call_id for result in view.results]
    return _joined(names), _joined(call_ids)


def _joined(words: list[str]) -> str | None:
    return " ".join(dict.fromkeys(word for word in words if word)) or None
