"""Checks of the structure of everything that was handed out; each gives the faults it finds."""
from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from sessionstore import SessionStoreError
from tests.cases.check_form import CheckFunction, each_load, last_load
from tests.cases.kept import Load
from tests.cases.pairing import (
    all_text,
    argument_value,
    block_faults,
    blocks_of,
    calls_of,
    has_content,
    pair_faults,
    result_ids_of,
    spoken_text,
)
from tests.cases.running import CaseRun

Check = Mapping[str, Any]

_SYSTEM: Final = ("system", "developer")
_THINKING: Final = ("thinking", "redacted_thinking")


def pairs_closed(run: CaseRun, _check: Check) -> Iterator[str]:
    """Each call has exactly its results behind it; only the last answer may wait for some."""
    for load in each_load(run):
        faults = pair_faults(load.messages)
        waiting = _waits_at_the_end(load)
        yield from faults
        if waiting is not None:
            yield waiting


def blocks_id_closed(run: CaseRun, _check: Check) -> Iterator[str]:
    """A block and the one that names it are both there or both gone."""
    for load in each_load(run):
        yield from block_faults(load.messages)


def unique_ids_per_turn(run: CaseRun, _check: Check) -> Iterator[str]:
    """No two calls of one answer have the same id."""
    for load in each_load(run):
        for turn in _turns(load):
            ids = [call.id for message in turn for call in calls_of(message)]
            if len(ids) != len(set(ids)):
                yield f"call ids {ids} repeat in one turn of {load.session_id}"


def provider_ids_closed(run: CaseRun, _check: Check) -> Iterator[str]:
    """A message with a provider's id that requires another comes with it, or without the id."""
    needs = {message["id"]: message["requires"] for message in run.input_messages.values() if "requires" in message}
    for load in each_load(run):
        present = {found for message in load.messages for found in _ids_in(message)}
        for own, required in needs.items():
            wanted = required if isinstance(required, list) else [required]
            missing = [other for other in wanted if other not in present]
            if own in present and missing:
                yield f"{own!r} is handed out without {missing}, which it requires"


def thinking_atomic(run: CaseRun, _check: Check) -> Iterator[str]:
    """Each reasoning block is one of the input, unchanged and signed."""
    known = [
        block
        for message in run.input_messages.values()
        for block in blocks_of(message)
        if block.get("type") in _THINKING
    ]
    texts = {json.dumps(block) for block in known}
    for load in each_load(run):
        for message in load.messages:
            for block in blocks_of(message):
                if block.get("type") not in _THINKING:
                    continue
                if json.dumps(block) not in texts:
                    yield f"a {block['type']} block was changed: {str(block)[:100]}"
                if block["type"] == "thinking" and not block.get("signature"):
                    yield "a thinking block has no signature"


def roles_alternate(run: CaseRun, check: Check) -> Iterator[str]:
    """User and assistant in turn, as the profile counts them."""
    profile = check.get("profile", run.case.options.get("profile"))
    for load in each_load(run):
        body = [message for message in load.messages if message.get("role") not in _SYSTEM]
        if profile == "anthropic":
            roles = ["user" if message["role"] == "tool" else message["role"] for message in body]
            yield from (f"message {index} is empty" for index, message in enumerate(body) if not has_content(message))
        elif profile == "mistral-template":
            roles = [
                message["role"]
                for message in body
                if message["role"] != "tool" and (not calls_of(message) or spoken_text(message).strip())
            ]
        else:
            yield f"roles_alternate knows no profile {profile!r}"
            return
        if roles != ["user" if index % 2 == 0 else "assistant" for index in range(len(roles))]:
            yield f"the roles of {load.session_id} are {roles}"


def system_count(run: CaseRun, check: Check) -> Iterator[str]:
    """So many system messages."""
    for load in each_load(run):
        count = sum(message.get("role") in _SYSTEM for message in load.messages)
        if count != check["eq"]:
            yield f"{count} system messages in {load.session_id}"


def system_first(run: CaseRun, _check: Check) -> Iterator[str]:
    """The system message is the first."""
    for load in each_load(run):
        if not load.messages or load.messages[0].get("role") not in _SYSTEM:
            yield f"the first message of {load.session_id} is no system message"


def no_empty_messages(run: CaseRun, _check: Check) -> Iterator[str]:
    """Each message holds something."""
    for load in each_load(run):
        yield from (
            f"message {index} of {load.session_id} is empty: {message}"
            for index, message in enumerate(load.messages)
            if not has_content(message)
        )


def min_user_messages(run: CaseRun, check: Check) -> Iterator[str]:
    """At least so many messages of the user that aren't summaries and not blank."""
    for load in each_load(run):
        count = sum(
            message.get("role") == "user" and bool(spoken_text(message).strip()) and not load.is_summary(message)
            for message in load.messages
        )
        if count < check["ge"]:
            yield f"{count} user messages in {load.session_id}"


def real_user_turns(run: CaseRun, check: Check) -> Iterator[str]:
    """So many messages that a person wrote in the last load."""
    rows = [row for row in last_load(run).rows if row.kind == "message" and row.role == "user"]
    count = sum(not result_ids_of(row.message) or bool(spoken_text(row.message).strip()) for row in rows)
    if count != check["eq"]:
        yield f"{count} real user turns"


def args_valid_json(run: CaseRun, _check: Check) -> Iterator[str]:
    """The arguments of every call are a JSON object."""
    for load in each_load(run):
        for message in load.messages:
            yield from (
                f"the arguments of {call.id!r} are {str(call.arguments)[:100]!r}"
                for call in calls_of(message)
                if argument_value(call.arguments) is None
            )


def args_keep(run: CaseRun, check: Check) -> Iterator[str]:
    """Some arguments of a call are as they were."""
    given = _arguments(list(run.input_messages.values()), check["call"])
    kept = _arguments(last_load(run).messages, check["call"])
    if given is None or kept is None:
        yield f"there is no call {check['call']!r} in the input and the last load"
        return
    for key in check["keys"]:
        if key not in given or key not in kept or kept[key] != given[key]:
            yield f"{key} is {kept.get(key)!r} and was {given.get(key)!r}"


def valid_utf8(run: CaseRun, _check: Check) -> Iterator[str]:
    """What left the store is text that can be encoded, and what is in it can be read back."""
    rows = run.log()
    left = [*run.summarizer.prompts, *run.exports]
    left += ["".join(run.store.export(run.root_id, format=form)) for form in ("jsonl", "openai", "markdown")]
    left += [all_text(row.message) for row in rows if row.kind != "message"]
    left += [str(hit) for hit in run.hits or ()]
    for text in left:
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            yield f"text that left the store cannot be encoded: {error}"
    for row in rows:
        json.loads(row.body.encode("utf-8").decode("utf-8"))


def call_present(run: CaseRun, check: Check) -> Iterator[str]:
    """The last load has a call with that id."""
    if not any(call.id == check["id"] for message in last_load(run).messages for call in calls_of(message)):
        yield f"no call {check['id']!r}"


def accepts_late_result(run: CaseRun, check: Check) -> Iterator[str]:
    """A result for that call can be appended now, and finds its call."""
    try:
        run.session.append({"role": "tool", "tool_call_id": check["id"], "content": "a late result"})
    except SessionStoreError as error:
        yield f"the late result was refused: {error}"
        return
    messages = run.session.render(run.profile)
    yield from pair_faults(messages)
    if not any("a late result" in all_text(message) for message in messages):
        yield "the late result isn't handed out"


def _waits_at_the_end(load: Load) -> str | None:
    """Calls that wait though something but their results comes after the last answer."""
    open_ids: list[str] = []
    for message in load.messages:
        answered = result_ids_of(message)
        open_ids = [one for one in open_ids if one not in answered] + [call.id for call in calls_of(message)]
    last: Mapping[str, Any] = next((message for message in reversed(load.messages) if not result_ids_of(message)), {})
    return f"{open_ids} are unanswered before the last message" if open_ids and not calls_of(last) else None


def _turns(load: Load) -> Iterator[list[Mapping[str, Any]]]:
    turn: list[Mapping[str, Any]] = []
    for message in load.messages:
        if turn and ("role" in message or result_ids_of(message)):
            yield turn
            turn = []
        turn.append(message)
    yield turn


def _ids_in(message: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(message.get("id"), str):
        yield message["id"]
    yield from (block["id"] for block in blocks_of(message) if isinstance(block.get("id"), str))


def _arguments(messages: list[dict[str, Any]], call_id: str) -> dict[str, Any] | None:
    found = [call for message in messages for call in calls_of(message) if call.id == call_id]
    return argument_value(found[-1].arguments) if found else None


STRUCTURE: Final[Mapping[str, CheckFunction]] = {
    function.__name__: function
    for function in (
        pairs_closed, blocks_id_closed, unique_ids_per_turn, provider_ids_closed, thinking_atomic, roles_alternate,
        system_count, system_first, no_empty_messages, min_user_messages, real_user_turns, args_valid_json, args_keep,
        valid_utf8, call_present, accepts_late_result,
    )
}  # fmt: skip
