"""Names of tools and ids of calls, pulled out of a message so that they can be searched without reading bodies."""
from __future__ import annotations

from sessionstore.domain.messages import Message, clean_text
from sessionstore.domain.transcript import view_message


def tool_columns(message: Message) -> tuple[str | None, str | None]:
    """The names of the tools that a message calls or answers, and the ids of those calls; each a text with spaces, or None."""
    # The commonest forms are told without the view, which would read texts that nobody asks for here.
    role, content = message.get("role"), message.get("content")
    if role in ("user", "assistant") and (content is None or isinstance(content, str)) and "function_call" not in message:
        calls = message.get("tool_calls")
        if calls is None:
            return None, None
        try:
            return _joined([call["function"]["name"] for call in calls]), _joined([call["id"] for call in calls])
        except (TypeError, KeyError):
            pass  # no list of functions
    call_id = message.get("tool_call_id")
    if role == "tool" and isinstance(content, str) and isinstance(call_id, str):
        name = message.get("name", message.get("tool_name"))
        return _joined([name] if isinstance(name, str) else []), _joined([call_id])
    view = view_message(message)
    names = [call.name for call in view.calls] + [result.name for result in view.results if result.name]
    call_ids = [call.call_id for call in view.calls] + [result.call_id for result in view.results]
    return _joined(names), _joined(call_ids)


def _joined(words: list[str]) -> str | None:
    return clean_text(" ".join(dict.fromkeys(word for word in words if word))) or None
