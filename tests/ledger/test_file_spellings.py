"""One entry a file, absolute or relative, where the directory is certain; two where it would be a guess."""
from __future__ import annotations

from sessionstore.domain.ledger import Ledger, LedgerEntry, extract_ledger
from tests.ledger.dialects import DIALECTS, Turn, call, entries
from tests.ledger.test_ledger_properties import assert_kept

CONTEXT = "<environment_context>\n  <cwd>/repo</cwd>\n  <shell>zsh</shell>\n</environment_context>"


def read(*turns: Turn) -> Ledger:
    return extract_ledger(entries(DIALECTS["chat"](turns)))


def files(ledger: Ledger) -> list[str]:
    return [entry.text for entry in ledger.of_kind("file")]


def only(ledger: Ledger) -> LedgerEntry:
    found = ledger.of_kind("file")
    assert len(found) == 1, found
    return found[0]


READ = call("Read", "x", file_path="/repo/src/a.py")


def test_a_directory_in_the_call_makes_two_spellings_one_file() -> None:
    for turn in (
        call("bash", "ok", command="cd /repo && sed -i s/a/b/ src/a.py"),
        call("bash", "ok", command="cd /repo/src; sed -i s/a/b/ ./a.py"),
        call("bash", "ok", command="cd /repo && cd src && sed -i s/a/b/ a.py"),
        call("exec_command", "ok", cmd="sed -i s/a/b/ src/a.py", workdir="/repo"),
        call("exec_command", "ok", cmd="cd src && sed -i s/a/b/ a.py", workdir="/repo"),
        call("apply_patch", "ok", input="*** Begin Patch\n*** Update File: src/a.py\n-1\n+2\n*** End Patch", workdir="/repo"),
    ):
        for turns in ((READ, turn), (turn, READ)):
            entry = only(read(*turns))
            assert {name for name, _seqs in entry.operations} == {"read", "edited"}
            assert "/repo/src/a.py" in (entry.key, *entry.about.split("\n"))


def test_both_spellings_find_the_entry() -> None:
    commands = ("cd /repo && cat src/a.py", "cd /repo/src && cat a.py")
    entry = only(read(READ, *[call("bash", "ok", command=command) for command in commands]))
    assert {entry.key, *entry.about.split("\n")} == {"/repo/src/a.py", "src/a.py", "a.py"}


def test_what_the_harness_announces_holds_for_every_call_and_for_later_generations() -> None:
    first = extract_ledger(entries([{"role": "user", "content": CONTEXT}, *DIALECTS["chat"]([READ])]))
    turns = [call("edit_file", "ok", path="src/a.py"), call("bash", "ok", command="cat src/a.py")]
    second = extract_ledger(entries(DIALECTS["chat"](turns), first=20), previous=Ledger.from_json(first.to_json()))
    assert_kept(first, second)
    assert dict(only(second).operations) == {"read": (1, 22), "edited": (20,)}
    listed = call("execute_bash", "x\n[Current working directory: /repo]", command="ls")
    told = read(listed, READ, call("bash", "x", command="cat src/a.py"))
    assert files(told) == ["/repo/src/a.py"]


def test_what_a_person_writes_announces_no_directory() -> None:
    assert len(files(read(("user", "It printed <cwd>/repo</cwd>."), READ, call("edit_file", "ok", path="src/a.py")))) == 2


def test_files_of_one_name_in_two_directories_stay_two() -> None:
    ledger = read(
        call("bash", "x", command="cat a/util.py b/util.py"),
        call("bash", "x", command="cd /one && cat util.py"),
        call("bash", "x", command="cd /two && cat util.py"),
        call("Read", "x", file_path="/two/util.py"),
    )
    assert files(ledger) == ["a/util.py", "b/util.py", "util.py", "/two/util.py"]
    assert [entry.seqs for entry in ledger.of_kind("file")] == [(0,), (0,), (2,), (4, 6)]


def test_where_the_directory_is_not_certain_nothing_is_unified() -> None:
    for command in (
        "cat src/a.py",
        'cd "$ROOT" && cat src/a.py',
        "cd - && cat src/a.py",
        "pushd /repo && cat src/a.py",
        "(cd /repo && ls) && cat src/a.py",
        "for d in /x /y; do cd $d; cat src/a.py; done",
        "cd /repo && cat ../repo/src/a.py",
        "git -C /repo rm src/a.py",
    ):
        ledger = read(READ, call("bash", "x", command="cd /repo"), call("bash", "x", command=command))
        assert len(files(ledger)) == 2, command
