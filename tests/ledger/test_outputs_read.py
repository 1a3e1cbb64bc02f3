"""What an output says of itself: failures told in JSON, traces that end in frames, and words that are no failure."""
from __future__ import annotations

import json
from typing import Any

import pytest

from sessionstore.domain.ledger import Ledger, extract_ledger, render_facts
from tests.counters import PieceCounter
from tests.ledger.dialects import DIALECTS, call, entries


def read(tool: str, output: str, **arguments: Any) -> Ledger:
    turns = [("user", "Go."), call(tool, output, **arguments), ("assistant", "I see.")]
    return extract_ledger(entries(DIALECTS["chat"](turns)))


def errors(ledger: Ledger) -> str:
    return "\n".join(entry.text for entry in ledger.of_kind("error"))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"ok": False, "error": {"code": "E9", "message": "the quota of tenant 4 is used"}}, "the quota of tenant 4 is used"),
        ({"error": "relation \"cargo\" does not exist"}, "relation \"cargo\" does not exist"),
        ({"status": "error", "message": "no such booking"}, "no such booking"),
        ({"errors": [{"message": "no field weight on type Parcel"}], "data": None}, "no field weight on type Parcel"),
        ({"success": False, "reason": "berth 12 is taken"}, "berth 12 is taken"),
        ({"status": 503, "title": "The upstream is gone"}, "The upstream is gone"),
    ],
)
def test_a_failure_told_in_the_fields_of_an_answer_is_an_error(answer: dict[str, Any], said: str) -> None:
    ledger = read("ship_parcel", json.dumps(answer), to="Trier")
    assert said in errors(ledger)
    assert ledger.of_kind("action")[0].outcome.startswith("failed")


@pytest.mark.parametrize(
    "answer",
    [
        {"status": 200, "errors": [], "failed": 0, "error": None},
        {"ok": True, "message": "Error log cleared"},
        {"key": "OPS-4", "summary": "Error: the lamp is out", "status": "Open"},
        {"items": [{"title": "How to mend a TypeError: x is not a function"}]},
    ],
)
def test_an_answer_that_only_speaks_of_errors_is_none(answer: dict[str, Any]) -> None:
    ledger = read("ship_parcel", json.dumps(answer), to="Trier")
    assert errors(ledger) == ""
    assert not ledger.of_kind("action")[0].outcome.startswith("failed")


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ('Exception in thread "main" java.lang.IllegalStateException: lease 9 ended\n\tat a.B.c(B.java:4)\n', "lease 9 ended"),
        ("thread 'main' panicked at src/main.rs:4:9:\nthe hold is full\nnote: run with `RUST_BACKTRACE=1`\n[exit 101]", "full"),
        ("panic: no mast\n\ngoroutine 1 [running]:\nmain.sail(...)\n\t/srv/sail.go:4 +0x1d\nexit status 2", "panic: no mast"),
    ],
)
def test_what_happened_is_found_above_the_frames_of_a_trace(output: str, said: str) -> None:
    assert said in errors(read("shell", output, command="./sail"))


def test_a_log_that_tells_of_a_crash_was_read_without_fault() -> None:
    ledger = read("fetch_logs", "12:01 INFO sets out\n12:07 ERROR the mast is gone", service="sail")
    assert "the mast is gone" in errors(ledger)
    assert not ledger.of_kind("action")[0].outcome.startswith("failed")


def test_a_page_that_ends_with_an_error_is_no_error() -> None:
    assert errors(read("fetch_page", "How it came about\nError: the sequel", url="https://a.example/b")) == ""


def test_a_test_run_that_counts_failures_failed_and_its_brief_says_so() -> None:
    output = " FAIL  src/mast.test.ts\n  ● mast › bends\n\nTests:       1 failed, 4 passed, 5 total\n"
    ledger = read("shell", output, command="npx jest src/mast.test.ts")
    assert ledger.of_kind("command")[0].outcome == "failed: Tests: 1 failed, 4 passed, 5 total"
    assert "● mast › bends" in errors(ledger)
    text = "\n".join(render_facts(ledger, budget=120, counter=PieceCounter()).values())
    assert "→ Tests" not in text


def test_a_tool_that_makes_a_file_has_written_it_whatever_it_is_called() -> None:
    ledger = read("render_chart", '{"ok": true}', kind="bar", output_path="out/tide.svg")
    assert [(entry.text, entry.operations[0][0]) for entry in ledger.of_kind("file")] == [("out/tide.svg", "written")]


@pytest.mark.parametrize("tool", ["search_documents", "getInvoice", "list_berths", "kubectl_get"])
def test_a_tool_that_only_looks_is_told_by_its_name(tool: str) -> None:
    assert read(tool, "nothing", topic="tides").of_kind("action")[0].about == "look"


@pytest.mark.parametrize(
    "name", ["sail-7-ab12cd34e-9f3k2", "K7QX2P", "114-8836215-77", "INV-2031-0042", "arn:aws:iam::123456789012:role/deploy-7"]
)
def test_a_name_is_kept_whole(name: str) -> None:
    turns = [("user", "Go."), ("assistant", f"It is {name}, as it seems.")]
    found = extract_ledger(entries(DIALECTS["chat"](turns))).of_kind("reference")
    assert name in [entry.text for entry in found]
