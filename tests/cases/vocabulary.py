"""The words that a case may use; any other one fails it.

``OPERATIONS`` and ``CHECKS`` map a name to its arguments, ``OPTIONS`` is what ``options`` may hold. A check's ``where`` and a
step's ``branch`` are listed like any other argument.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from sessionstore.storage.tables import sessions

ANY_SESSION_COLUMN: Final = frozenset(column.name for column in sessions.c)
"""What ``raw_set`` may set."""

_COUNT: Final = ("eq", "ge")
_COMPACT: Final = ("focus", "branch", "fail_insert_summary", "child_started_at", "parent_ended_at")

OPERATIONS: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(arguments)
    for name, arguments in {
        "append_all": (),
        "append": ("messages", "session"),
        "buffer": ("messages",),
        "flush": (),
        "flush_full_list": ("extra",),
        "flush_with_history": ("history", "messages"),
        "compact": _COMPACT,
        "prune": (),
        "render": (),
        "meter": (),
        "report_usage": ("tokens",),
        "auto_check": (),
        "preflight_check": (),
        "hygiene_check": (),
        "auto_turn": (),
        "crash_matrix": ("points",),
        "reopen": (),
        "load": ("branch",),
        "load_raw_lineage": (),
        "resume": ("by", "of"),
        "rewind": ("to",),
        "rewind_in_lineage": ("to_text",),
        "undo_compaction": ("expect",),
        "expand_summary": (),
        "lineage": ("of",),
        "export": ("format",),
        "import_export": (),
        "search": ("text",),
        "add_child": ("kind", "started_at"),
        "concurrent_compact": ("n",),
        "concurrent_append": ("writers", "each"),
        "compact_with_interleave": ("during_summary",),
        "raw_set": tuple(ANY_SESSION_COLUMN),
        "raw_insert_job": ("state", "owner", "age_s"),
        "advance_clock": ("seconds",),
        "doctor": ("repair",),
    }.items()
}

CHECKS: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(arguments)
    for name, arguments in {
        "pairs_closed": (),
        "blocks_id_closed": (),
        "unique_ids_per_turn": (),
        "provider_ids_closed": (),
        "thinking_atomic": (),
        "roles_alternate": ("profile",),
        "system_count": ("eq",),
        "system_first": (),
        "no_empty_messages": (),
        "min_user_messages": ("ge",),
        "real_user_turns": ("eq",),
        "args_valid_json": (),
        "args_keep": ("call", "keys"),
        "valid_utf8": (),
        "call_present": ("id",),
        "accepts_late_result": ("id",),
        "last_user_verbatim": ("text", "allow_merged"),
        "last_user_has_image": (),
        "contains_text": ("text", "where"),
        "not_contains_text": ("text", "where"),
        "text_occurs": ("text", *_COUNT, "where"),
        "full_copies": ("text", "eq"),
        "stub_points_to_message": (),
        "field_preserved": ("field", "value"),
        "bytes_equal_input": (),
        "summary_count": ("eq", "where"),
        "summary_tokens": ("le",),
        "summary_not_contains": ("text",),
        "references_stable": (),
        "shrinks": (),
        "monotone_tokens": (),
        "unchanged": (),
        "store_unchanged": (),
        "source_rows_unchanged": (),
        "idempotent": (),
        "fits": ("tokens",),
        "result_status": ("eq",),
        "error": ("type",),
        "no_exception": (),
        "summarizer_calls": ("eq", "le", "ge"),
        "summarizer_saw": ("text", "call"),
        "summarizer_not_saw": ("text",),
        "summarizer_input_nonempty": (),
        "summarizer_max_input": ("le",),
        "prompt_fence_once": (),
        "prompt_mentions_language": (),
        "token_count": ("ge", "le"),
        "triggered": (),
        "not_triggered": (),
        "meter_parts": ("parts",),
        "meter_method_recorded": (),
        "meter_after_failure": ("eq",),
        "compactions": ("eq",),
        "message_count": ("where", "eq"),
        "no_duplicates": (),
        "order_equals_input": ("where",),
        "sequence_contiguous": (),
        "stable_reload": (),
        "raw_text_occurs": ("text", *_COUNT),
        "coverage_is_ids": (),
        "expand_equals_originals": (),
        "equals_before_first_compaction": ("where",),
        "prefix_stable_renders": (),
        "todo_equal": (),
        "system_equals": ("text",),
        "parent_system_equals": ("text",),
        "same_on_backends": (),
        "search_hits": _COUNT,
        "tip_is": ("child",),
        "all_resumes_equal_tip": (),
        "children": ("kind", "eq"),
        "lineage_depth": ("eq",),
        "job_states": ("eq",),
        "old_or_new": (),
        "doctor_reports": ("code",),
        "repair_reported": ("ids",),
        "imported": _COUNT,
        "reported_lines": ("eq",),
        "chain_intact": (),
        "writer_one_line_per_record": (),
        "bounded_time": ("seconds",),
        "any_of": ("options",),
    }.items()
}

POLICY_OPTIONS: Final = frozenset(
    {
        "trigger_ratio", "head_messages", "tail_tokens", "tail_messages", "summary_max_tokens", "keep_user_turns",
        "max_tool_chars", "prune_args_over", "protected_tools", "protected_arg_keys", "drop_reasoning", "image_tokens",
    }
)  # fmt: skip
"""Options that are fields of the policy, under the same name."""

OPTIONS: Final = POLICY_OPTIONS | {
    "context_tokens", "tool_schema_tokens", "summarizer", "summarizer_window", "summarizer_input_tokens", "estimator",
    "tokenizers", "network", "profile", "force", "prune_only", "max_attempts", "max_message_bytes", "pins",
    "pending_call_ids", "in_flight_call", "title", "other_titles", "todo", "system_builder", "backends", "processes",
    "import_lines", "fixture", "variants", "also_modes", "slow", "steps",
}  # fmt: skip

SUMMARIZER_KEYS: Final = frozenset({"mode", "text", "keep", "tokens", "limit"})
META_KEYS: Final = frozenset({"ts", "branch", "kind", "covers", "provider_item_id", "requires"})
FIXTURE_KEYS: Final = frozenset({"id", "parent", "kind", "title", "started_at", "ended_at", "end_reason"})
PLACES: Final = frozenset({"loaded", "loaded_first", "each_load", "messages", "summary", "raw", "side"})
"""What a check's ``where`` may name."""

_NEEDED: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(arguments)
    for name, arguments in {
        "system_count": ("eq",), "min_user_messages": ("ge",), "real_user_turns": ("eq",), "args_keep": ("call", "keys"),
        "call_present": ("id",), "accepts_late_result": ("id",), "last_user_verbatim": ("text",), "contains_text": ("text",),
        "not_contains_text": ("text",), "text_occurs": ("text",), "full_copies": ("text", "eq"),
        "field_preserved": ("field", "value"), "summary_count": ("eq",), "summary_tokens": ("le",),
        "summary_not_contains": ("text",), "fits": ("tokens",), "result_status": ("eq",), "error": ("type",),
        "summarizer_saw": ("text",), "summarizer_not_saw": ("text",), "summarizer_max_input": ("le",),
        "meter_parts": ("parts",), "meter_after_failure": ("eq",), "compactions": ("eq",), "message_count": ("eq",),
        "raw_text_occurs": ("text",), "system_equals": ("text",), "parent_system_equals": ("text",), "tip_is": ("child",),
        "children": ("kind", "eq"), "lineage_depth": ("eq",), "job_states": ("eq",), "doctor_reports": ("code",),
        "repair_reported": ("ids",), "reported_lines": ("eq",), "bounded_time": ("seconds",), "any_of": ("options",),
    }.items()
}  # fmt: skip
_ONE_BOUND: Final = frozenset(
    {"text_occurs", "summarizer_calls", "token_count", "raw_text_occurs", "search_hits", "imported"}
)


def problems_of(case: Mapping[str, Any]) -> list[str]:
    """Everything in a case that the tables above don't know, in the order in which it stands there."""
    if not isinstance(case.get("id"), str):
        return ["the case has no id"]
    options = case.get("options", {})
    if not isinstance(options, Mapping):
        return ["options is no object"]
    return [
        *_unknown("option", (name for name in options if not name.startswith("naive_")), OPTIONS),
        *_unknown("key of options.summarizer", options.get("summarizer", {}), SUMMARIZER_KEYS),
        *(
            problem
            for row in options.get("fixture", {}).get("sessions", [])
            for problem in _unknown("key of a fixture's session", row, FIXTURE_KEYS)
        ),
        *_unknown("key of options.fixture", options.get("fixture", {}), frozenset({"sessions"})),
        *(problem for step in options.get("steps", []) for problem in _step_problems(step)),
        *(problem for message in _messages(case, options) for problem in _unknown("_meta", message, META_KEYS)),
        *_check_problems(case.get("checks", [])),
        *([] if case.get("checks") else ["the case checks nothing"]),
    ]


def _messages(case: Mapping[str, Any], options: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for messages in (case.get("messages", []), *options.get("variants", [])):
        for message in messages:
            yield message.get("_meta", {})


def _step_problems(step: Any) -> Iterator[str]:
    name = str(step.get("op")) if isinstance(step, Mapping) else ""
    if name not in OPERATIONS:
        yield f"unknown operation {name!r}"
        return
    yield from _unknown(f"argument of the operation {name}", step, OPERATIONS[name] | {"op"})


def _check_problems(checks: Any) -> Iterator[str]:
    for check in checks:
        name = str(check.get("check")) if isinstance(check, Mapping) else ""
        if name not in CHECKS:
            yield f"unknown check {name!r}"
            continue
        yield from _unknown(f"argument of the check {name}", check, CHECKS[name] | {"check"})
        yield from (f"the check {name} needs {key!r}" for key in sorted(_NEEDED.get(name, frozenset()) - set(check)))
        if name in _ONE_BOUND and not {"eq", "ge", "le"} & set(check):
            yield f"the check {name} has no bound"
        if check.get("where", "loaded") not in PLACES:
            yield f"the check {name} knows no place {check['where']!r}"
        if name == "any_of":
            for listed in check.get("options", []):
                yield from _check_problems(listed)


def _unknown(what: str, names: Iterable[str], known: frozenset[str]) -> Iterator[str]:
    return (f"unknown {what}: {name!r}" for name in names if name not in known)
