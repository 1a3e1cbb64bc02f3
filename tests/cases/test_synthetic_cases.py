"""What the project's own cases leave out: operations and checks that no file uses, each in a small case of its own."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cases.loading import read_case
from tests.cases.runner import run_case
from tests.cases.running import CaseFailed
from tests.cases.writing import write_case
from tests.databases import Databases

LONG: Final = [
    {"role": "system", "content": "sys"},
    *(
        message
        for number in range(8)
        for message in (
            {"role": "user", "content": f"q{number}"},
            {"role": "assistant", "content": f"a{number} " + "some words of an answer " * 20},
        )
    ),
]
"""A conversation that a compaction of a window of 1,200 tokens makes shorter."""

OPTIONS: Final = {"context_tokens": 1_200, "tail_messages": 3, "summarizer": {"mode": "ok", "text": "SUMMARY-BODY"}}

LATER: Final = {"op": "append", "messages": [{"role": "user", "content": "more"}, {"role": "assistant", "content": "z " * 600}]}


def _with_calls(count: int, output: str) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "sys"}, {"role": "user", "content": "go"}]
    for number in range(count):
        function = {"name": "read", "arguments": f'{{"i": {number}}}'}
        call = {"id": f"t{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"t{number}", "content": output})
    return [*messages, {"role": "user", "content": "next"}]


def _checks(*listed: str | dict[str, Any]) -> list[dict[str, Any]]:
    return [{"check": one} if isinstance(one, str) else one for one in listed]


def _steps(*listed: str | Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [{"op": one} if isinstance(one, str) else one for one in listed]


_POINTS: Final = [
    "before_summary", "during_summary", "after_summary", "after_child_insert", "after_tail_copy", "before_parent_end",
    "before_commit", "after_commit",
]  # fmt: skip

HOLDING: Final[Mapping[str, tuple[Sequence[Any], Mapping[str, Any], Sequence[Any]]]] = {
    "prune-keeps-one-full-copy": (
        _with_calls(4, "row of a table " * 60),
        {"steps": _steps("append_all", "prune", "load"), "tail_messages": 1, "context_tokens": 8_000},
        _checks(
            "monotone_tokens", "shrinks", "stub_points_to_message", "pairs_closed", "idempotent",
            {"check": "full_copies", "text": "row of a table " * 60, "eq": 1}, {"check": "result_status", "eq": "committed"},
        ),
    ),
    "hygiene-compacts-what-is-due": (
        LONG,
        {"steps": _steps({"op": "advance_clock", "seconds": 86_400}, "hygiene_check", "load")},
        _checks({"check": "compactions", "eq": 1}, {"check": "children", "kind": "continuation", "eq": 1}, "triggered"),
    ),
    "preflight-and-turns": (
        LONG,
        {"steps": _steps("preflight_check", "auto_turn", "auto_turn", "meter", "load")},
        _checks({"check": "contains_text", "text": "turn 2"}, {"check": "compactions", "eq": 1}, "pairs_closed"),
    ),
    "killed-at-every-point": (
        LONG,
        {"steps": _steps("append_all", {"op": "crash_matrix", "points": _POINTS})},
        _checks("old_or_new", "no_exception"),
    ),
    "compacted-by-three-at-once": (
        LONG,
        {"steps": _steps({"op": "concurrent_compact", "n": 3}, "load"), "processes": 3},
        _checks({"check": "compactions", "eq": 1}, {"check": "children", "kind": "continuation", "eq": 1}, "no_duplicates"),
    ),
    "exported-and-imported": (
        LONG,
        {"steps": _steps("compact", "import_export", {"op": "export", "format": "markdown"}, "load")},
        _checks({"check": "lineage_depth", "eq": 2}, {"check": "summary_count", "eq": 1}, "valid_utf8", "stable_reload"),
    ),
    "undone": (
        LONG,
        {"steps": _steps("compact", LATER, "undo_compaction", "load", {"op": "undo_compaction", "expect": "error_or_fork"})},
        _checks("equals_before_first_compaction", {"check": "compactions", "eq": 1}),
    ),
    "rewound": (
        LONG,
        {"steps": _steps("compact", {"op": "rewind", "to": 4}, "load")},
        _checks({"check": "message_count", "eq": 5}, {"check": "order_equals_input", "where": "loaded"}),
    ),
    "resumed-by-every-name": (
        LONG,
        {
            "title": "Sprint #2",
            "steps": _steps(
                "compact", LATER, "compact",
                *({"op": "resume", "by": by} for by in ("root_id", "middle_id", "tip_id", "title", "prefix", "suffix")),
            ),
        },
        _checks("all_resumes_equal_tip", {"check": "lineage_depth", "eq": 3}, "coverage_is_ids", "expand_equals_originals"),
    ),
    "todos-are-shown": (
        LONG,
        {"todo": [{"id": "1", "content": "write it", "status": "in_progress"}], "steps": _steps("compact", "load")},
        _checks("todo_equal"),
    ),
    "branches": (
        [
            {"role": "system", "content": "sys"},
            {"role": "user", "content": "q", "_meta": {"branch": "a", "ts": 5}},
            {"role": "assistant", "content": "on a", "_meta": {"branch": "a", "ts": 4}},
            {"role": "assistant", "content": "on b", "_meta": {"branch": "b", "ts": 9}},
        ],
        {"steps": _steps("append_all", {"op": "load", "branch": "b"}, "load")},
        _checks(
            {"check": "contains_text", "text": "on b", "where": "side"}, {"check": "not_contains_text", "text": "on b"},
            {"check": "contains_text", "text": "on a", "where": "side"}, {"check": "children", "kind": "branch", "eq": 1},
        ),
    ),
    "metered": (
        LONG,
        {"tool_schema_tokens": 50, "estimator": "fallback", "network": "off", "steps": _steps("meter")},
        _checks(
            {"check": "meter_parts", "parts": ["system", "tools", "history"]}, "meter_method_recorded", "triggered",
            {"check": "bounded_time", "seconds": 60},
        ),
    ),
    "asked-well": (
        LONG,
        {"summarizer_input_tokens": 300},
        _checks(
            "summarizer_input_nonempty", "prompt_fence_once", "prompt_mentions_language",
            {"check": "real_user_turns", "eq": 1}, {"check": "summary_tokens", "le": 600},
        ),
    ),
    "a-late-result-and-an-image": (
        [
            {"role": "user", "content": [
                {"type": "text", "text": "look"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
            ]},
            {"role": "assistant", "content": "", "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "see", "arguments": "{}"}},
            ]},
        ],
        {"steps": _steps("load"), "profile": "anthropic"},
        _checks(
            "last_user_has_image", {"check": "accepts_late_result", "id": "c"},
            {"check": "roles_alternate", "profile": "anthropic"},
        ),
    ),
    "a-fixture-with-a-branch": (
        [],
        {
            "fixture": {"sessions": [
                {"id": "one", "end_reason": "compaction", "title": "First"},
                {"id": "two", "parent": "one"},
                {"id": "aside", "parent": "one", "kind": "branch"},
            ]},
            "steps": _steps(
                {"op": "resume", "of": "one"}, {"op": "resume", "of": "two"}, {"op": "lineage", "of": "two"},
            ),
        },
        _checks({"check": "lineage_depth", "eq": 2}, {"check": "tip_is", "child": "compaction"}, "all_resumes_equal_tip"),
    ),
    "a-fixture-in-a-circle": (
        [],
        {
            "fixture": {"sessions": [{"id": "one", "parent": "two"}, {"id": "two", "parent": "one"}]},
            "steps": _steps({"op": "resume", "of": "one"}, {"op": "doctor"}),
        },
        _checks({"check": "bounded_time", "seconds": 30}, {"check": "doctor_reports", "code": "parent_cycle"}),
    ),
    "required-ids": (
        [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "thought", "_meta": {"provider_item_id": "rs_1"}},
            {"role": "assistant", "content": "said", "_meta": {"provider_item_id": "msg_1", "requires": "rs_1"}},
            {"role": "user", "content": "next"},
        ],
        {"steps": _steps("load"), "profile": "responses"},
        _checks("provider_ids_closed"),
    ),
}  # fmt: skip

FAILING: Final[Mapping[str, tuple[Mapping[str, Any], Sequence[Any], str]]] = {
    "a status that it isn't": ({}, _checks({"check": "result_status", "eq": "stuck"}), "result_status"),
    "a text that isn't there": ({}, _checks({"check": "contains_text", "text": "nowhere"}), "contains_text"),
    "a request that isn't the last": ({}, _checks({"check": "last_user_verbatim", "text": "q0"}), "last_user_verbatim"),
    "a context that changed": ({}, _checks("unchanged"), "unchanged"),
    "a store that changed": ({}, _checks("store_unchanged"), "store_unchanged"),
    "an error that nobody names": (
        {"summarizer": {"mode": "error"}}, _checks("store_unchanged"), "compact raised SummarizerError",
    ),
    "an error that didn't come": ({}, _checks({"check": "error", "type": "SummarizerError"}), "error"),
    "an error that isn't there": ({}, _checks({"check": "error", "type": "NoSuchError"}), "NoSuchError"),
    "no option of any_of": (
        {},
        _checks({"check": "any_of", "options": [_checks({"check": "compactions", "eq": 7}), _checks("unchanged")]}),
        "any_of: option 2",
    ),
    "a count that is wrong": ({}, _checks({"check": "summary_count", "eq": 2}), "summaries: 1, not 2"),
    "rows that aren't there any more": ({}, _checks("equals_before_first_compaction"), "aren't the 16 of before"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOLDING)
def test_case_that_holds(name: str, backend: str, databases: dict[str, Databases], tmp_path: Path) -> None:
    """Operations and checks that the project's own files don't use do what the vocabulary says."""
    messages, options, checks = HOLDING[name]
    file = write_case(tmp_path, name, messages=messages, options={**OPTIONS, **options}, checks=checks)
    for case in read_case(file):
        run_case(replace(case, backend=backend), databases)


@pytest.mark.parametrize("name", FAILING)
def test_case_that_does_not_hold(name: str, backend: str, databases: dict[str, Databases], tmp_path: Path) -> None:
    """A check that isn't met fails the case and says which one it was."""
    options, checks, said = FAILING[name]
    file = write_case(tmp_path, "failing", messages=LONG, options={**OPTIONS, **options}, checks=checks)
    (case,) = read_case(file)
    with pytest.raises(CaseFailed, match=said):
        run_case(replace(case, backend=backend), databases)
