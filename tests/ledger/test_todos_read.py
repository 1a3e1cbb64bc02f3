"""Todos that are made and changed one by one, under the ids that their tool gives them."""
from __future__ import annotations

from typing import Any

from sessionstore.domain import sections
from sessionstore.domain.ledger import Ledger, extract_ledger, render_facts
from tests.counters import PieceCounter
from tests.ledger.dialects import DIALECTS, Turn, call, entries


def made(number: int, subject: str) -> Turn:
    result = f"Task #{number} created successfully: {subject}"
    return call("TaskCreate", result, subject=subject, description=f"All of {subject}", activeForm=f"Doing {subject}")


def changed(number: int, **fields: Any) -> Turn:
    return call("TaskUpdate", f"Updated task #{number} {', '.join(fields)}", taskId=str(number), **fields)


def read(*turns: Turn, dialect: str = "chat", previous: Ledger | None = None, first: int = 0) -> Ledger:
    return extract_ledger(entries(DIALECTS[dialect](turns), first=first), previous=previous or Ledger())


def todos(ledger: Ledger) -> dict[str, str]:
    return {entry.text: entry.outcome for entry in ledger.of_kind("todo")}


FOUR = (made(1, "Read the code"), made(2, "Fix the port"), made(3, "Write the docs"), made(4, "Ask Ana"))


def test_each_has_its_latest_status_in_every_dialect() -> None:
    for dialect in DIALECTS:
        ledger = read(
            *FOUR, changed(1, status="in_progress"), changed(1, status="completed"),
            changed(2, status="in_progress", owner="b"), changed(3, addBlockedBy=["2"]), changed(4, status="deleted"),
            dialect=dialect,
        )
        assert todos(ledger) == {
            "Read the code": "completed", "Fix the port": "in_progress", "Write the docs": "pending", "Ask Ana": "deleted"
        }
        assert ledger.of_kind("action") == ()


def test_they_stand_under_their_headings() -> None:
    ledger = read(("user", "Go."), *FOUR, changed(1, status="completed"), changed(2, status="in_progress"))
    texts = render_facts(ledger, budget=2_000, counter=PieceCounter())
    assert "Fix the port" in texts[sections.IN_PROGRESS]
    assert "Write the docs" in texts[sections.REMAINING_WORK]
    assert "Read the code" not in texts[sections.IN_PROGRESS] + texts[sections.REMAINING_WORK]


def test_an_update_a_generation_later_finds_its_todo() -> None:
    before = Ledger.from_json(read(*FOUR).to_json())
    after = read(changed(2, status="completed"), changed(3, subject="Write two pages"), previous=before, first=50)
    assert todos(after) == {
        "Read the code": "pending", "Fix the port": "completed", "Write the docs": "worded anew", "Ask Ana": "pending",
        "Write two pages": "pending",
    }
    assert todos(read(changed(3, status="completed"), previous=after, first=70))["Write two pages"] == "completed"


def test_a_change_that_failed_changes_nothing() -> None:
    failed = call("TaskUpdate", "<tool_use_error>Task not found</tool_use_error>", taskId="2", status="completed")
    assert todos(read(*FOUR, failed))["Fix the port"] == "pending"


def test_the_id_may_come_with_a_late_result() -> None:
    call_row, result_row = DIALECTS["chat"]([made(7, "Fix the port")])
    before = extract_ledger(entries([call_row, {"role": "user", "content": "Wait."}]))
    after = extract_ledger(entries([result_row], first=20), previous=before)
    assert todos(read(changed(7, status="completed"), previous=after, first=30)) == {"Fix the port": "completed"}


def test_a_list_that_is_shown_tells_of_todos_that_were_not_seen_made() -> None:
    shown = "#1 [completed] Read the code\n#2 [in_progress] Fix the port (ana) [blocked by #1]\n#9 [pending] Tidy up"
    assert todos(read(made(2, "Fix the port"), call("TaskList", shown))) == {
        "Fix the port": "in_progress", "Read the code": "completed", "Tidy up": "pending"
    }


def test_other_tools_that_change_a_list_bit_by_bit() -> None:
    whole = call("todo_write", "ok", todos=[{"id": "1", "content": "one", "status": "pending"}, {"id": "2", "content": "two"}])
    updated = read(whole, call("todo_update", "{}", id="2", status="in_progress"))
    assert todos(updated) == {"one": "pending", "two": "in_progress"}
    merged = call("todo_write", "ok", merge=True, todos=[{"id": "1", "status": "done"}, {"id": "3", "content": "three"}])
    assert todos(read(whole, merged)) == {"one": "completed", "two": "pending", "three": "pending"}
    added = call("todo", '{"todo": {"id": 5}}', action="add", text="five")
    assert todos(read(added, call("todo", "{}", action="complete", id=5))) == {"five": "completed"}


def test_a_whole_list_that_was_refused_changes_nothing() -> None:
    given = call("TodoWrite", "ok", todos=[{"content": "a", "status": "pending"}])
    refused = call("TodoWrite", "Error: invalid todos", todos=[{"content": "b", "status": "pending"}])
    assert todos(read(given, refused)) == {"a": "pending"}


def test_an_empty_list_takes_every_todo_off() -> None:
    given = call("TodoWrite", "ok", todos=[{"content": "a", "status": "pending"}, {"content": "b", "status": "completed"}])
    assert todos(read(given, call("TodoWrite", "ok", todos=[]))) == {"a": "taken off the list", "b": "completed"}
    assert todos(read(given, call("todo_write", "ok", todos=[], merge=True))) == {"a": "pending", "b": "completed"}
