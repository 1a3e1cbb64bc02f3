"""What closes an error besides the same call: a run that covers it, another tool, a retry, or somebody who says so."""
from __future__ import annotations

import pytest

from sessionstore.domain.ledger import Ledger, LedgerEntry, extract_ledger
from tests.ledger.dialects import DIALECTS, Turn, call, entries


def read(*turns: Turn) -> Ledger:
    return extract_ledger(entries(DIALECTS["chat"](turns)))


def failed(command: str, output: str = "E   ValueError: boom") -> Turn:
    return call("bash", f"Exit code: 1\n{output}", command=command)


def passed(command: str) -> Turn:
    return call("bash", "Exit code: 0\nfine", command=command)


def error(ledger: Ledger) -> LedgerEntry:
    found = ledger.of_kind("error")
    assert len(found) == 1, found
    return found[0]


SCRIPT = (
    "python3 - <<'PY'\nimport re, sys, json, glob\nfor name in glob.glob('src/*.js'):\n"
    "    print(re.findall({}, open(name).read()))\nPY"
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("pytest tests/x.py -k foo", "pytest -q tests/x.py"),
        ("pytest tests/x.py::test_a -x 2>&1 | tail -5", "cd /repo && python -m pytest -q tests"),
        ("uv run pytest tests/x.py", "pytest"),
        ("npm run test -- --watch=false", "npm test"),
        ("go test ./pkg/a -run TestX", "go test ./..."),
        ("cargo build --release", "cargo build"),
        ("npx jest src/a.test.ts -t foo", "npx jest"),
        ("ruff check src/a.py --fix", "ruff check src"),
        ("mypy --strict pkg/a.py", "mypy"),
        ("make -j4", "make"),
        ("git push", "git push -u origin main"),
        ("python run.py", "python run.py --fast"),
        (SCRIPT.format("'(x'"), SCRIPT.format("'(x)'")),
    ],
)
def test_a_run_that_covers_what_failed_closes_it(before: str, after: str) -> None:
    assert error(read(failed(before), passed(after))).closed_by == 3


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("pytest tests/x.py", "pytest tests/y.py"),
        ("pytest tests/x.py", "pytest tests/ax.py"),
        ("pytest tests/x.py", "pytest tests2"),
        ("pytest tests/x.py", "pytest tests/x.py::test_a"),
        ("pytest tests/x.py -k foo", "pytest -q tests/x.py -k bar"),
        ("pytest", "pytest tests/x.py"),
        ("pytest tests/x.py", "pytest --lf"),
        ("pytest tests/x.py", "pytest --deselect tests/x.py::test_a"),
        ("pytest tests/a.py tests/b.py", "pytest tests/a.py"),
        ("npm test", "cd front && npm test"),
        ("cd /a && pytest", "cd /b && pytest"),
        ("go test ./pkg/a", "go test ./pkg/b"),
        ("make all", "make clean"),
        ("make", "make || true"),
        ("pip install foo", "pip install bar"),
        ("curl -s https://a.invalid/", "curl -s https://b.invalid/"),
        ("python run.py a.csv", "python run.py b.csv"),
        ("python run.py", "python --version"),
        ("python - <<'E'\nimport one\nE", "python - <<'E'\nimport two\nE"),
        ("ssh host make", "ssh host ls"),
        ("mise run test && mise run lint", "mise run fmt && mise run lint"),
    ],
)
def test_a_run_of_something_else_leaves_it_open(before: str, after: str) -> None:
    assert error(read(failed(before), passed(after))).closed_by is None


def test_a_named_test_is_closed_by_a_run_of_its_file_or_of_it_alone() -> None:
    red = failed("pytest -q", "FAILED tests/x.py::test_a - KeyError: 'port'\n1 failed")
    for after in ("pytest -v tests/x.py", "pytest tests/x.py::test_a", "pytest -k test_a"):
        assert error(read(red, passed(after))).closed_by == 3, after
    for after in ("pytest tests/x.py::test_b", "pytest -k test_b"):
        assert error(read(red, passed(after))).closed_by is None, after


def test_an_earlier_generation_s_error_is_closed_and_one_behind_the_summary_too() -> None:
    """A run in the tail closes it at once; when it fails there again it stays open."""
    red, green = failed("pytest tests/x.py -k foo"), passed("pytest -q tests/x.py")
    before = Ledger.from_json(read(red).to_json())
    later = entries(DIALECTS["chat"]([green]), first=20)
    assert error(extract_ledger(later, previous=before)).closed_by == 21
    assert error(extract_ledger([], previous=before, following=later)).closed_by == 21
    again = entries(DIALECTS["chat"]([green, red]), first=20)
    assert error(extract_ledger([], previous=before, following=again)).closed_by is None


def test_an_edit_that_failed_is_closed_when_another_tool_changes_the_file() -> None:
    red = call("Edit", "Error: old_string not found", file_path="a.py", old_string="x")
    for turn in (call("Write", "ok", file_path="a.py", content=""), passed("sed -i s/x/y/ ./a.py")):
        assert error(read(red, turn)).closed_by == 3
    for turn in (call("Write", "ok", file_path="b/a.py", content=""), passed("cat a.py"), passed("rm a.py")):
        assert error(read(red, turn)).closed_by is None


RED = failed("./deploy.sh", "KeyError in parse_config: 'port'")


@pytest.mark.parametrize(
    "said",
    [
        "The error in `parse_config` is fixed now.", "I've fixed the parse_config failure.", "parse_config no longer fails.",
        "parse_config ist jetzt behoben.", "parse_config 已修复。", "The KeyError is gone.",
    ],
)
def test_a_sentence_closes_the_error_whose_name_it_says(said: str) -> None:
    assert error(read(RED, ("assistant", said))).closed_by == 2
    assert error(read(RED, ("user", said))).closed_by == 2


@pytest.mark.parametrize(
    "said",
    [
        "parse_config is not fixed.", "Once parse_config is fixed, deploy.", "Is parse_config fixed?",
        "I'll see that parse_config is fixed.", "The build is fixed now.", "read_config is fixed now.",
        "parse_config should be fixed by this.", "I looked at parse_config.",
    ],
)
def test_other_sentences_leave_it_open(said: str) -> None:
    assert error(read(RED, ("assistant", said))).closed_by is None


def test_a_name_that_two_open_errors_have_closes_neither() -> None:
    ledger = read(RED, failed("./other.sh", "TypeError in parse_config"), ("assistant", "parse_config is fixed now."))
    assert [one.closed_by for one in ledger.of_kind("error")] == [None, None]
