"""What calls and their results leave in the ledger, in every dialect and for the tools that agents have."""
from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from sessionstore.domain.ledger import FactKind, Ledger, LedgerEntry, extract_ledger
from sessionstore.domain.transcript import Entry
from tests.ledger.dialects import DIALECTS, Message, Turn, call, entries

Dialect = Callable[[Sequence[Turn]], list[Message]]


@pytest.fixture(params=sorted(DIALECTS))
def dialect(request: pytest.FixtureRequest) -> Dialect:
    return DIALECTS[str(request.param)]


def fact(ledger: Ledger, kind: FactKind, text: str) -> LedgerEntry:
    found = [entry for entry in ledger.of_kind(kind) if entry.text == text]
    assert found, [entry.text for entry in ledger.of_kind(kind)]
    return found[0]


def read(*turns: Turn) -> Ledger:
    return extract_ledger(entries(DIALECTS["chat"](turns)))


def test_a_command_is_kept_with_every_change_of_its_status(dialect: Dialect) -> None:
    """NEST-2."""
    turns = [
        call("bash", "Exit code: 2\nmake: *** [all] Error 2", command="make all"),
        call("bash", "Exit code: 2\nmake: *** [all] Error 2", command="make all"),
        call("bash", "Exit code: 0\nbuilt", command="make all"),
    ]
    made = fact(extract_ledger(entries(dialect(turns))), "command", "make all")
    assert made.seqs == (0, 2, 4)
    assert [(seq, text.split(":")[0]) for seq, text in made.outcomes] == [(1, "exit 2"), (5, "exit 0")]


def test_an_error_is_verbatim_and_closed_by_the_later_success_of_its_command(dialect: Dialect) -> None:
    turns = [
        call("bash", "Exit code: 1\nTraceback (most recent call last):\n  x\nKeyError: 'port'", command="python run.py"),
        call("bash", "Exit code: 0\nfine", command="python run.py"),
    ]
    ledger = extract_ledger(entries(dialect(turns)))
    error = fact(ledger, "error", "KeyError: 'port'")
    assert (error.seqs, error.closed_by) == ((1,), 3)


def test_an_error_that_comes_back_is_open_again() -> None:
    failed = call("bash", "Exit code: 1\nerror: no route", command="deploy")
    passed = call("bash", "Exit code: 0\n", command="deploy")
    assert fact(read(failed, passed, failed), "error", "error: no route").closed_by is None


def test_each_failed_test_is_an_error_that_a_whole_green_run_resolves() -> None:
    red = "FAILED tests/test_a.py::test_x - AssertionError: 1 != 2\nFAILED tests/test_b.py::test_y - KeyError\n2 failed"
    ledger = read(
        call("bash", red + "\n[exit 1]", command="pytest -q tests/test_a.py tests/test_b.py"),
        call("bash", "5 passed in 0.1s\n[exit 0]", command="pytest -q"),
    )
    errors = ledger.of_kind("error")
    assert [error.text for error in errors] == [
        "FAILED tests/test_a.py::test_x - AssertionError: 1 != 2", "FAILED tests/test_b.py::test_y - KeyError"
    ]
    assert {error.closed_by for error in errors} == {3}


def test_a_green_run_of_one_file_leaves_failures_of_another_open() -> None:
    ledger = read(
        call("bash", "FAILED tests/test_b.py::test_y - KeyError\n1 failed\n[exit 1]", command="pytest -q"),
        call("bash", "1 passed\n[exit 0]", command="pytest -q tests/test_a.py"),
    )
    assert ledger.of_kind("error")[0].closed_by is None


def test_tests_that_fail_behind_a_pipe_are_failures_though_the_status_says_otherwise() -> None:
    ledger = read(call("bash", "FAILED tests/t.py::t - ValueError\n1 failed\n[exit 0]", command="pytest -q | tail -5"))
    assert fact(ledger, "error", "FAILED tests/t.py::t - ValueError").closed_by is None


def test_a_search_that_finds_nothing_is_no_error() -> None:
    assert read(call("bash", "[exit 1]", command="grep -rn missing src")).of_kind("error") == ()


@pytest.mark.parametrize(
    ("output", "status"),
    [
        ('{"output": "x", "exit_code": 3}', "exit 3"),
        ('{"returncode": 4, "stdout": ""}', "exit 4"),
        ("boom\nexit status 5", "exit 5"),
        ("Exit code: 6\nx", "exit 6"),
        ("Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 7\nOutput:\nx", "exit 7"),
        ("<returncode>8</returncode>\n<output>\nx</output>", "exit 8"),
        ("x\n[exit 9]", "exit 9"),
        ("x\n[Command finished with exit code 10]", "exit 10"),
    ],
)
def test_the_exit_status_is_what_the_output_states(output: str, status: str) -> None:
    command = read(call("terminal", output, command="run it")).of_kind("command")[0]
    assert command.outcome.split(":")[0] == status


@pytest.mark.parametrize(
    ("tool", "arguments", "operations"),
    [
        ("Read", {"file_path": "/a/b.py"}, {"/a/b.py": "read"}),
        ("Write", {"file_path": "/a/b.py", "content": "x"}, {"/a/b.py": "written"}),
        ("Edit", {"file_path": "C:\\a\\b.py", "old_string": "x", "new_string": "y"}, {"C:\\a\\b.py": "edited"}),
        ("str_replace_editor", {"command": "create", "path": "/w/t.c", "file_text": "x"}, {"/w/t.c": "created"}),
        ("file_editor", {"command": "view", "path": "/w/t.c"}, {"/w/t.c": "read"}),
        ("patch", {"path": "a.py", "old_string": "x", "new_string": "y"}, {"a.py": "edited"}),
        ("search_files", {"pattern": "x", "path": "src"}, {"src": "searched"}),
        ("mcp__files__read_file", {"path": "notes.md"}, {"notes.md": "read"}),
        ("bash", {"command": "cat setup.cfg | head -5"}, {"setup.cfg": "read"}),
        ("bash", {"command": "cd /w && sed -i 's/a/b/' src/x.py"}, {"src/x.py": "edited"}),
        ("bash", {"command": "echo hi > out/log.txt 2>/dev/null"}, {"out/log.txt": "written"}),
        ("bash", {"command": "git mv old.py new.py && rm -f tmp.txt"},
         {"old.py": "moved away", "new.py": "created", "tmp.txt": "deleted"}),
        ("bash", {"command": "cat > made.py <<'EOF'\ncat other.py > third.py\nEOF"}, {"made.py": "written"}),
        ("shell", {"command": ["bash", "-lc", "tail -n 3 logs/app.log"]}, {"logs/app.log": "read"}),
        ("bash", {"command": "cat $HOME/.x *.py"}, {}),
    ],
)
def test_files_are_kept_with_what_was_done_to_them(tool: str, arguments: dict[str, object], operations: dict[str, str]) -> None:
    ledger = read(call(tool, "fine", **arguments))
    assert {entry.text: entry.operations[0][0] for entry in ledger.of_kind("file")} == operations


def test_a_patch_says_which_files_it_changes() -> None:
    patch = "*** Begin Patch\n*** Update File: a/x.py\n@@\n-1\n+2\n*** Add File: b.py\n+x\n*** Delete File: c.py\n*** End Patch"
    message = {"type": "custom_tool_call", "call_id": "p", "name": "apply_patch", "input": patch}
    result = {"type": "custom_tool_call_output", "call_id": "p", "output": "Exit code: 0\nSuccess."}
    ledger = extract_ledger(entries([message, result]))
    found = {entry.text: entry.operations for entry in ledger.of_kind("file")}
    assert found == {"a/x.py": (("edited", (0,)),), "b.py": (("created", (0,)),), "c.py": (("deleted", (0,)),)}


def test_a_failed_edit_is_an_error_and_no_operation_and_a_later_success_resolves_it() -> None:
    ledger = read(
        call("Edit", "Error: old_string not found", file_path="a.py", old_string="x", new_string="y"),
        call("Edit", "The file a.py has been updated.", file_path="a.py", old_string="z", new_string="y"),
    )
    assert fact(ledger, "file", "a.py").operations == (("edited", (2,)),)
    assert fact(ledger, "error", "Error: old_string not found").closed_by == 3


def test_actions_and_commands_are_numbered_and_the_numbering_goes_on_over_generations() -> None:
    first = entries(DIALECTS["chat"]([call("bash", "ok", command="one"), call("Write", "ok", file_path="a.py", content="")]))
    second = entries(DIALECTS["chat"]([call("bash", "ok", command="two"), call("bash", "ok", command="one")]), first=10)
    ledger = extract_ledger(second, previous=extract_ledger(first))
    assert {entry.text: entry.ordinal for entry in ledger.entries if entry.ordinal} == {"one": 1, "written a.py": 2, "two": 3}


def test_state_is_the_latest_with_its_history() -> None:
    ledger = read(
        call("bash", "Switched to a new branch 'fix/a'", command="git checkout -b fix/a"),
        call("bash", "[fix/a 1a2b3c4] Fix it\n 1 file changed", command="git commit -m 'Fix it'"),
        call("bash", "On branch main\nnothing to commit", command="git status"),
        call("exec_command", "Process exited with code 0\nOutput:\n", cmd="ls", workdir="/srv/app"),
        call("bash", "1 failed\n[exit 1]", command="npm test"),
        call("bash", "4 passed\n[exit 0]", command="npm test"),
    )
    states = {entry.key: entry.text for entry in ledger.of_kind("state")}
    assert states["branch"] == "main"
    assert states["commit"] == "1a2b3c4 Fix it"
    assert states["directory"] == "/srv/app"
    assert states["tests"] == "`npm test` → exit 0: 4 passed"
    branch = next(entry for entry in ledger.of_kind("state") if entry.key == "branch")
    assert [value for _seq, value in branch.outcomes] == ["fix/a", "main"]


def test_the_last_todo_list_holds() -> None:
    def todos(**status: str) -> Turn:
        return call("TodoWrite", "ok", todos=[{"content": text, "status": state} for text, state in status.items()])

    ledger = read(todos(a="in_progress", b="pending", c="pending"), todos(a="completed", b="in_progress"))
    assert {entry.text: entry.outcome for entry in ledger.of_kind("todo")} == {
        "a": "completed", "b": "in_progress", "c": "taken off the list"
    }


def test_a_command_that_went_on_gets_the_status_that_its_process_ends_with() -> None:
    ledger = read(
        call("exec_command", "Process running with session ID 7\nOutput:\n", cmd="cargo build"),
        call("write_stdin", "Process exited with code 101\nOutput:\nerror[E0308]: mismatched types", session_id=7, chars=""),
    )
    assert fact(ledger, "command", "cargo build").outcome.startswith("exit 101")
    assert fact(ledger, "error", "error[E0308]: mismatched types").about == "`cargo build`"


def test_an_unknown_tool_is_an_action_with_its_telling_argument_and_its_result() -> None:
    ledger = read(call("frobnicate", "42 rows written", target="invoices", mode="full"))
    action = ledger.of_kind("action")[0]
    assert action.text.startswith("frobnicate ")
    assert action.outcome == "42 rows written"


def test_a_call_without_a_result_is_kept_without_a_status() -> None:
    message = DIALECTS["chat"]([call("bash", "x", command="sleep 9")])[0]
    assert extract_ledger(entries([message])).of_kind("command")[0].outcome == ""


def test_a_rendition_counts_under_the_seq_of_its_origin_and_not_again_when_that_was_read() -> None:
    """LOG-1 renders the same message again; NEST-2 counts it once."""
    messages = DIALECTS["chat"]([call("bash", "all\n[exit 0]", command="run")])
    cut = {**messages[1], "content": '[bash] ran "run" -> exit 0'}
    shorter = [Entry(0, "message", messages[0]), Entry(9, "rendition", cut, origin_seq=1)]
    alone = extract_ledger(shorter)
    assert alone.of_kind("command")[0].outcomes == ((1, "exit 0"),)
    whole = extract_ledger(entries(messages))
    assert extract_ledger(shorter, previous=whole) == whole


def test_secrets_in_commands_outputs_and_requests_do_not_reach_the_ledger() -> None:
    """SEC-1."""
    key = "sk-test-" + "0123456789abcdef" * 2
    ledger = read(
        ("user", f"the password=hunter2-x9! must stay, and use {key}"),
        call("bash", f"Exit code: 1\nerror: API_KEY={key} refused", command=f"curl -H 'X-Api-Key: {key}' https://a.invalid/"),
    )
    written = str(ledger.to_json())
    assert key not in written
    assert "hunter2-x9!" not in written
    assert "https://a.invalid/" in written
