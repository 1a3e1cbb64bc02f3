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
        ("git push", "git push --dry-run"),
        ("git push origin main", "git push origin dev"),
        ("git merge main", "git merge --abort"),
        ("python run.py prod", "python run.py staging"),
        ("python run.py --prod", "python run.py --staging"),
        ("helm upgrade prod chart/", "helm upgrade staging chart/"),
        ("helm upgrade prod chart/", "helm upgrade --kube-context=b prod chart/"),
        ("alembic upgrade head", "alembic upgrade"),
        ("cargo build", "cargo build -p foo"),
        ("cargo build", "cargo build --lib"),
        ("go test ./...", "go test"),
        ("npm run build", "npm run build --dry-run"),
        ("mypy src", "mypy --version"),
        ("npx eslint .", "npx eslint --ignore-pattern src ."),
        ("make", "make -n"),
        ("make", "make -Bn"),
        ("make", "make; true"),
        ("make", "true || make"),
        ("make", "make | cat"),
        ("make", "make &"),
        (f"ssh host '{SCRIPT}'", f"ssh host --dry-run '{SCRIPT}'"),
    ],
)
def test_a_run_of_something_else_leaves_it_open(before: str, after: str) -> None:
    assert error(read(failed(before), passed(after))).closed_by is None


NOTHING_RAN = [
    ("pytest --version", "pytest 8.3.1"),
    ("pytest --help", "usage: pytest"),
    ("pytest --collect-only", "5 tests collected in 0.1s"),
    ("pytest > out.txt 2>&1; echo done", "done"),
    ("pytest &> out.txt; echo done", "done"),
    ("pytest | tail -1", ""),
    ("pytest 2>&1 | tee log", ""),
    ("pytest || true", ""),
    ("pytest || exit 0", ""),
    ("pytest &", "[1] 1234"),
    ("pytest\ncat notes.txt", "things to do"),
    ("pytest", "no tests ran in 0.01s"),
    ("pytest", "Command running in background with ID: b1"),
]


@pytest.mark.parametrize("before", ["pytest", "pytest | tail -1"])
@pytest.mark.parametrize(("after", "output"), NOTHING_RAN)
def test_what_may_not_have_run_or_have_failed_unseen_leaves_it_open(before: str, after: str, output: str) -> None:
    assert error(read(failed(before), call("bash", output, command=after))).closed_by is None


@pytest.mark.parametrize(
    ("before", "after", "output"),
    [
        ("pytest", "pytest | tail -1", "83 passed in 2.1s"),
        ("pytest", "pytest > out.txt 2>&1; tail -1 out.txt", "==== 83 passed, 2 skipped in 2.1s ===="),
        ("pytest tests/x.py", "pytest || true", "83 passed in 2.1s"),
        ("pytest", "set -o pipefail; pytest | tail -1", ""),
        ("pytest", "set -e\npytest\necho done", "done"),
        ("pytest", "pytest || exit 1; echo done", "done"),
        ("pytest", "cat notes.txt; pytest && echo done | cat", "done"),
        ("make || true", "make", ""),
        ("mypy src", "mypy src 2>&1 | tail -3", "Success: no issues found in 12 source files"),
        ("ruff check .", "ruff check . --exit-zero", "All checks passed!"),
        ("go test ./...", "go test ./... | tail -2", "ok  \texample.com/a\t0.01s\nok  \texample.com/b\t0.02s"),
        ("git push", "git pull --rebase && git push", "main -> main"),
        ("git commit -m one", "git commit -m two", ""),
        ("pytest --collect-only", "pytest", "3 passed"),
        ("curl -sS https://a.invalid/", "curl -v https://a.invalid/", ""),
        ("python run.py --prod --verbose", "python run.py --prod", ""),
    ],
)
def test_an_end_that_is_told_or_an_output_that_says_so_closes_it(before: str, after: str, output: str) -> None:
    assert error(read(failed(before), call("bash", output, command=after))).closed_by == 3


def test_an_output_that_says_some_passed_and_some_failed_closes_nothing() -> None:
    ledger = read(failed("ruff check ."), call("bash", "2 passed, 1 failed", command="ruff check . | tail -1"))
    assert error(ledger).closed_by is None


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
