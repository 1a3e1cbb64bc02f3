"""An independent reading of what each provider accepts; knows nothing of how the store renders."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from tests.form_faults import block_message_faults, chat_faults, item_faults

Message = dict[str, Any]
CALL_ITEMS = ("function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "computer_call")
RESULT_ITEMS = tuple(f"{kind}_output" for kind in CALL_ITEMS)
FILES = ("image", "image_url", "input_image", "input_file", "document", "file", "input_audio")
HOSTED_ITEMS = (
    "web_search_call", "file_search_call", "image_generation_call", "code_interpreter_call", "mcp_call", "tool_search_call",
    "tool_search_output", "mcp_approval_request", "mcp_approval_response",
)  # fmt: skip


def faults(messages: Sequence[Message], profile: str) -> list[str]:
    """Everything about a message list that the provider of this profile would refuse; empty when it is valid."""
    found = _common(messages)
    body = [message for message in messages if message.get("role") not in ("system", "developer")]
    if profile == "anthropic":
        return found + _anthropic(body)
    if profile == "responses":
        return found + _responses(body)
    return found + _chat(body) + (_strict(body) if profile == "strict" else [])


def _common(messages: Sequence[Message]) -> list[str]:
    found = []
    systems = [index for index, message in enumerate(messages) if message.get("role") in ("system", "developer")]
    if systems not in ([], [0]):
        found.append(f"system messages at {systems}")
    if not any(message.get("role") == "user" and _texts(message) for message in messages):
        found.append("no user message")
    for index, message in enumerate(messages):
        found += [
            f"{index}: key {key} of the importer" for key in ("parent", "sidechain", "created_at", "requires") if key in message
        ]
    return found


def _chat(body: Sequence[Message]) -> list[str]:
    found: list[str] = []
    waiting: list[str] = []
    for index, message in enumerate(body):
        role = message.get("role")
        found += [f"{index}: {fault}" for fault in chat_faults(message)]
        if role not in ("user", "assistant", "tool"):
            found.append(f"{index}: role {role}")
        if role == "tool":
            if message.get("tool_call_id") in waiting:
                waiting.remove(message["tool_call_id"])
            else:
                found.append(f"{index}: result without a call before it")
            continue
        if waiting:
            found.append(f"{index}: comes before the results of {waiting}")
            waiting = []
        calls = message.get("tool_calls") or []
        if not calls and not _texts(message):
            found.append(f"{index}: empty")
        waiting = [call["id"] for call in calls]
        texts = [call["function"]["arguments"] for call in calls if "function" in call]
        found += [f"{index}: arguments are no object" for text in texts if not isinstance(json.loads(text), dict)]
    if waiting and not _ends_in_flight(body, lambda message: bool(message.get("tool_calls")), ("tool",)):
        found.append(f"calls {waiting} are open")
    return found


def _strict(body: Sequence[Message]) -> list[str]:
    found = []
    words_and_no_traffic = [message for message in body if message["role"] != "tool" and _texts(message)]
    found += _turns([message["role"] for message in words_and_no_traffic], "counting words beside calls")
    no_calls = [message for message in body if message["role"] != "tool" and not message.get("tool_calls")]
    found += _turns([message["role"] for message in no_calls], "leaving out messages with calls")
    for before, after in pairwise(body):
        if before["role"] == "tool" and after["role"] == "user":
            found.append("a user right after a result")
    return found


def _anthropic(body: Sequence[Message]) -> list[str]:
    found = _turns([str(message.get("role")) for message in body], "messages")
    used: set[str] = set()
    for index, message in enumerate(body):
        blocks = _blocks(message)
        found += [f"{index}: {fault}" for fault in block_message_faults(message)]
        if not blocks or not any(_says(block) for block in blocks):
            found.append(f"{index}: empty")
        calls = [block["id"] for block in blocks if block.get("type") == "tool_use"]
        if set(calls) & used or len(calls) != len(set(calls)):
            found.append(f"{index}: repeated ids {calls}")
        used |= set(calls)
        before = _blocks(body[index - 1]) if index else []
        asked = sorted(block["id"] for block in before if block.get("type") == "tool_use")
        answers = [block for block in blocks if block.get("type") == "tool_result"]
        answered = sorted(block["tool_use_id"] for block in answers)
        last = index == len(body) - 1
        if asked != answered and not (last and set(answered) <= set(asked)):
            found.append(f"{index}: {asked} asked, {answered} answered")
        if answers and blocks[: len(answers)] != answers:
            found.append(f"{index}: results are not first")
        for place, block in enumerate(blocks):
            found.extend(f"{index}: {fault}" for fault in _block_faults(message, blocks, place, block))
    return found


def _block_faults(message: Message, blocks: Sequence[Message], place: int, block: Message) -> list[str]:
    kind = block.get("type")
    if kind == "thinking" and not block.get("signature"):
        return ["thinking without its signature"]
    if kind in ("image_url", "input_text", "output_text", "input_image", "reasoning", "function_call"):
        return [f"block {kind}"]
    if kind == "tool_use" and not (message["role"] == "assistant" and isinstance(block.get("input"), dict)):
        return ["tool_use out of place"]
    if kind == "tool_result" and message["role"] != "user":
        return ["tool_result out of place"]
    if kind == "advisor_tool_result" and block["tool_use_id"] not in [earlier.get("id") for earlier in blocks[:place]]:
        return ["a server's result without its call"]
    return []


def _responses(body: Sequence[Message]) -> list[str]:
    found: list[str] = []
    waiting: list[tuple[str, str]] = []
    asked: set[str] = set()
    collecting = False
    for index, item in enumerate(body):
        kind = item.get("type", "message")
        found += [f"{index}: {fault}" for fault in item_faults(item)]
        if kind in RESULT_ITEMS:
            collecting = False
            if (answered := (item["call_id"], kind.removesuffix("_output"))) in waiting:
                waiting.remove(answered)
            else:
                found.append(f"{index}: {kind} without a call of its type before it")
            continue
        if kind == "mcp_approval_request":
            asked.add(item["id"])
        if kind == "mcp_approval_response" and item["approval_request_id"] not in asked:
            found.append(f"{index}: approval without a request before it")
        if waiting and not (collecting and kind in CALL_ITEMS):
            found.append(f"{index}: {kind} comes before the outputs of {waiting}")
            waiting = []
        if kind in CALL_ITEMS:
            collecting = True
            waiting.append((item["call_id"], kind))
        else:
            following = body[index + 1] if index + 1 < len(body) else {}
            found += [f"{index}: {fault}" for fault in _item_faults(item, following)]
    if waiting and not _ends_in_flight(
        body, lambda item: item.get("type") in CALL_ITEMS, RESULT_ITEMS
    ):
        found.append(f"calls {waiting} are open")
    return found


def _item_faults(item: Message, following: Message) -> list[str]:
    kind = item.get("type", "message")
    if kind == "reasoning":
        has_partner = following.get("role") == "assistant" or "type" in following
        return [] if has_partner else ["reasoning without what it led to"]
    if kind in HOSTED_ITEMS:
        return []
    if kind != "message" or item.get("tool_calls") or item.get("role") not in ("user", "assistant"):
        return [f"item {kind} of role {item.get('role')}"]
    return [] if _texts(item) else ["empty"]


def _ends_in_flight(body: Sequence[Message], is_call: Any, results: Sequence[str]) -> bool:
    for message in reversed(body):
        if is_call(message):
            return True
        if message.get("role") not in results and message.get("type") not in results:
            return False
    return False


def _turns(roles: Sequence[str], what: str) -> list[str]:
    expected = ["user" if index % 2 == 0 else "assistant" for index in range(len(roles))]
    return [] if list(roles) == expected else [f"roles {list(roles)} ({what})"]


def _blocks(message: Message) -> list[Message]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def _says(block: Message) -> bool:
    if block.get("type") == "text":
        return bool(str(block.get("text")).strip())
    return block.get("type") not in ("thinking", "redacted_thinking")


def _texts(message: Message) -> bool:
    return any(
        bool(str(block.get("text", "")).strip()) or block.get("type") in FILES
        for block in _blocks(message)
        if block.get("type") not in ("tool_result", "thinking", "redacted_thinking")
    )
