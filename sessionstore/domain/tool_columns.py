"""Names of tools and ids of calls, pulled out of a message so that they can be searched without reading bodies."""
from __future__ import annotations

from sessionstore.domain.messages import Message
from sessionstore.domain.transcript import view_message


def tool_columns(message: Message) -> tuple[str | None, str | None]:
    """The names of the tools that a message calls or answers, and the ids of those calls; each a text with spaces, or None."""
    if isinstance(message.get("content"), str) and "tool_calls" not in message and message.get("role") in ("user", "assistant"):
        return None, None
    view = view_message(message)
    names = [call.name for call in view.calls] + [result.name for result in view.results if result.name]
    call_ids = [call.call_id for call in view.calls] + [result.call_id for result in view.results]
    return _joined(names), _joined(call_ids)


def _joined(words: list[str]) -> str | None:
    return " ".join(dict.fromkeys(word for word in words if word)) or None
