"""Items of OpenAI's Responses that ask the caller for a tool, or answer: functions, custom tools, shell, patches, screen."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

BUILT_IN_CALLS: Final = frozenset({"shell_call", "apply_patch_call", "computer_call"})
"""Calls of the provider's own tools, which the caller runs and answers with an item of their own type and form."""

CALL_ITEMS: Final = BUILT_IN_CALLS | {"function_call", "custom_tool_call", "local_shell_call"}
RESULT_ITEMS: Final = frozenset(f"{kind}_output" for kind in CALL_ITEMS)
ANSWERED_CALLS: Final = frozenset({"mcp_call"})
"""Calls that the provider ran itself, with the tool's answer in the same item, as text."""

_ARGUMENTS: Final = ("arguments", "input", "action", "operation", "actions")


def type_of(value: Any) -> str:
    """The type that a message or block says it has; empty where it says none, or something that is no text."""
    kind = value.get("type") if isinstance(value, Mapping) else None
    return kind if isinstance(kind, str) else ""


def is_call_item(message: Mapping[str, Any]) -> bool:
    """Whether a message is an item that asks for a tool."""
    return "role" not in message and type_of(message) in CALL_ITEMS


def is_result_item(message: Mapping[str, Any]) -> bool:
    """Whether a message is an item that answers such a one."""
    return "role" not in message and type_of(message) in RESULT_ITEMS


def is_answered_call(message: Mapping[str, Any]) -> bool:
    """Whether a message is an item that asks for a tool and has its answer."""
    return "role" not in message and type_of(message) in ANSWERED_CALLS


def answer_key(item: Mapping[str, Any]) -> str:
    """The key under which such an item has the answer: an error where there is nothing else."""
    return "error" if item.get("output") is None and item.get("error") is not None else "output"


def is_other_item(message: Mapping[str, Any]) -> bool:
    """Whether a message is an item that is no message, reasoning, call or answer: what a provider's own tools did, say."""
    if "role" in message or "content" in message:
        return False
    kind = type_of(message)
    return kind not in CALL_ITEMS and kind not in RESULT_ITEMS and kind not in ANSWERED_CALLS and kind != "reasoning"


def arguments_key(item: Mapping[str, Any]) -> str:
    """The key under which a call has what the tool is asked to do."""
    return next((key for key in _ARGUMENTS if key in item), _ARGUMENTS[0])


def tool_name(item: Mapping[str, Any]) -> Any:
    """The name of the tool that a call asks for; a built-in tool is named by the type of the item."""
    return item.get("name", None if item["type"] == "function_call" else item["type"].removesuffix("_call"))


def is_own_answer(call: Mapping[str, Any], result: Mapping[str, Any]) -> bool:
    """Whether a result may go with a call of a built-in tool as it is: it is of that tool's type, and was not made a line."""
    kind = call.get("type")
    return result.get("type") == f"{kind}_output" and (kind == "apply_patch_call" or not isinstance(result.get("output"), str))
