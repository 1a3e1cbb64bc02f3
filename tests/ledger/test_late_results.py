"""A result that comes when its call was compacted away: the facts of the call are completed from it."""
from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from sessionstore.domain.ledger import EMPTY_LEDGER, Ledger, LedgerEntry, extract_ledger
from sessionstore.domain.transcript import Entry
from tests.ledger.dialects import DIALECTS, Message, Turn, call, entries
from tests.ledger.test_ledger_properties import assert_kept

Dialect = Callable[[Sequence[Turn]], list[Message]]


@pytest.fixture(params=sorted(DIALECTS))
def dialect(request: pytest.FixtureRequest) -> Dialect:
    return DIALECTS[str(request.param)]


def apart(messages: list[Message]) -> tuple[Ledger, list[Entry]]:
    """The ledger of a call that was left without its result, and the result as a row of a later generation."""
    dead, *rest = messages
    first = extract_ledger(entries([dead, {"role": "user", "content": "Go on meanwhile."}]))
    stored = Ledger.from_json(first.to_json())
    return stored, entries([{"role": "user", "content": "Carry on."}, *rest], first=40)


def only(ledger: Ledger, kind: str) -> LedgerEntry:
    found = [entry for entry in ledger.entries if entry.kind == kind]
    assert len(found) == 1, found
    return found[0]


def test_a_command_gets_its_status_and_its_error(dialect: Dialect) -> None:
    """NEST-2."""
    before, later = apart(dialect([call("bash", "Exit code: 2\nmake: *** [all] Error 2", command="make all")]))
    assert only(before, "command").outcome == ""
    after = extract_ledger(later, previous=before)
    assert_kept(before, after)
    assert only(after, "command").outcomes == ((41, "exit 2: make: *** [all] Error 2"),)
    assert (only(after, "error").about, only(after, "error").seqs) == ("`make all`", (41,))
    assert after.open_calls == ()


def test_an_edit_that_failed_and_an_answered_question_are_told(dialect: Dialect) -> None:
    before, later = apart(dialect([call("Edit", "Error: old_string not found", file_path="a.py", old_string="x")]))
    assert only(extract_ledger(later, previous=before), "error").about == "Edit a.py"
    before, later = apart(dialect([call("ask_user", "The small one.", question="Which hall?")]))
    assert only(extract_ledger(later, previous=before), "question").outcome == "The small one."


def test_a_result_in_the_tail_counts_at_once_because_no_model_is_sent_it(dialect: Dialect) -> None:
    before, later = apart(dialect([call("bash", "Exit code: 0\n3 passed", command="pytest -q")]))
    after = extract_ledger([], previous=before, following=later)
    assert only(after, "command").outcome == "exit 0: 3 passed"
    assert extract_ledger(later, previous=after).of_kind("command") == after.of_kind("command")


def test_of_calls_with_one_id_the_nearest_before_the_result_is_answered() -> None:
    chat = DIALECTS["chat"]
    first, second = chat([call("bash", "", command="one")])[0], chat([call("bash", "", command="two")])[0]
    before = extract_ledger(entries([first, {"role": "user", "content": "x"}, second, {"role": "user", "content": "y"}]))
    result = chat([call("bash", "Exit code: 3\nboom", command="two")])[1]
    after = extract_ledger(entries([result], first=30), previous=before)
    assert {entry.text: entry.outcome[:6] for entry in after.of_kind("command")} == {"one": "", "two": "exit 3"}


def test_a_result_of_a_call_that_nobody_made_changes_nothing(dialect: Dialect) -> None:
    before, later = apart(dialect([call("bash", "Exit code: 2\nboom", command="make all")]))
    stray = extract_ledger(later[1:], previous=EMPTY_LEDGER)
    assert stray.entries == ()
    answered = extract_ledger(later, previous=before)
    again = entries(dialect([call("bash", "Exit code: 0\nfine", command="other")])[1:], first=60)
    assert extract_ledger(again, previous=answered).of_kind("command") == answered.of_kind("command")


def test_what_is_remembered_of_a_call_holds_no_secret_and_no_whole_script_and_still_finds_its_fact() -> None:
    """SEC-1."""
    key = "sk-test-" + "0123456789abcdef" * 2
    script = f"export API_KEY={key}\n" + "echo something long\n" * 4_000
    before, later = apart(DIALECTS["chat"]([call("bash", "Exit code: 1\nerror: boom", command=script, password="hunter2-x9!")]))
    stored = str(before.to_json())
    assert key not in stored
    assert "hunter2-x9!" not in stored
    assert len(stored) < 4_000
    after = extract_ledger(later, previous=before)
    assert only(after, "command").outcome.startswith("exit 1")
    assert only(after, "command").key == only(before, "command").key


def test_a_command_that_goes_on_gets_the_status_that_its_process_ends_with_a_generation_later() -> None:
    begun = call("exec_command", "Process running with session ID 7\nOutput:\n", cmd="cargo build")
    ended = call("write_stdin", "Process exited with code 101\nOutput:\nerror[E0308]: mismatched types", session_id=7, chars="")
    before = Ledger.from_json(extract_ledger(entries(DIALECTS["chat"]([begun]))).to_json())
    after = extract_ledger(entries(DIALECTS["chat"]([ended]), first=20), previous=before)
    assert only(after, "command").outcome.startswith("exit 101")
    assert (only(after, "error").about, after.running) == ("`cargo build`", ())


@pytest.mark.parametrize(
    ("tool", "said", "waiting", "argument", "ids"),
    [
        ("exec_command", "Process running with session ID {}", "write_stdin", "session_id", (7, 8)),
        ("exec_command", "Chunk ID: c1\nProcess running with session ID {}\nOutput:\n", "write_stdin", "session_id", (7, 8)),
        ("run", '{{"session_id": "{}", "note": "still running"}}', "process", "session_id", ("p1", "p2")),
        ("Bash", "Command running in background with ID: {}. Output comes later", "BashOutput", "bash_id", ("b1", "b2")),
    ],
)
def test_of_two_commands_that_go_on_each_gets_its_own_end(
    tool: str, said: str, waiting: str, argument: str, ids: tuple[object, object]
) -> None:
    begun = [call(tool, said.format(ids[0]), command="make"), call(tool, said.format(ids[1]), command="cargo build")]
    ended = [
        call(waiting, "Process exited with code 1\nerror: bad", **{argument: ids[0]}),
        call(waiting, "Process exited with code 0\n", **{argument: ids[1]}),
    ]
    before = Ledger.from_json(extract_ledger(entries(DIALECTS["chat"](begun))).to_json())
    after = extract_ledger(entries(DIALECTS["chat"](ended), first=20), previous=before)
    outcomes = {fact.text: fact.outcome[:6] for fact in after.of_kind("command")}
    assert outcomes == {"make": "exit 1", "cargo build": "exit 0"}
    assert (only(after, "error").about, after.running) == ("`make`", ())


def test_the_end_of_a_command_that_nobody_saw_begin_is_that_of_no_other() -> None:
    begun = call("exec_command", "Process running with session ID 7", cmd="make")
    ended = call("write_stdin", "Process exited with code 1\nerror: bad", session_id=9, chars="")
    ledger = extract_ledger(entries(DIALECTS["chat"]([begun, ended])))
    assert (ledger.of_kind("error"), [one.identity for one in ledger.running]) == ((), ["7"])


def test_a_ledger_that_remembers_only_the_key_of_what_runs_is_read() -> None:
    begun = extract_ledger(entries(DIALECTS["chat"]([call("exec_command", "Process running with session ID 7", cmd="make")])))
    before = Ledger.from_json({**begun.to_json(), "running": "make"})
    ended = call("write_stdin", "Process exited with code 1\nerror: bad", session_id=7, chars="")
    after = extract_ledger(entries(DIALECTS["chat"]([ended]), first=20), previous=before)
    assert only(after, "command").outcome.startswith("exit 1")
