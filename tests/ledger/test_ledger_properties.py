"""What holds for the ledger of any transcript: nothing is lost, nothing is counted twice, JSON gives it back, budgets hold."""
from __future__ import annotations

import copy
import json

from hypothesis import given
from hypothesis import strategies as st

from sessionstore.domain.ledger import EMPTY_LEDGER, Ledger, LedgerEntry, extract_ledger, render_facts
from sessionstore.domain.sections import SECTIONS
from sessionstore.domain.transcript import Entry
from tests.counters import PieceCounter
from tests.ledger.dialects import DIALECTS, Turn, call
from tests.transcripts import contexts

PATHS = st.sampled_from(["src/a.py", "/srv/src/a.py", "src/b.py", "docs/überblick.md", "C:\\x\\y.cs", "tests/test_a.py"])
COMMANDS = st.sampled_from(["pytest -q", "git commit -m x", "make all", "cat src/a.py", "npm test", "ls -la", "cd /srv && ls",
                            "cd /srv && cat src/a.py", "cd /opt && rm src/a.py", "pytest -q tests/test_a.py"])
OUTPUTS = st.sampled_from(
    ["Exit code: 0\nok", "Exit code: 1\nerror: boom", "FAILED tests/test_a.py::t - ValueError: x\n1 failed\n[exit 1]",
     "3 passed\n[exit 0]", "", "see https://example.invalid/1 and req_12ab34", "On branch main\n", "y" * 400, "\ud83d half"]
)
SAYINGS = st.sampled_from(
    ["Never touch src/b.py.", "The port is 8080.", "The port is 9000.", "continue", "Which file?",
     "I'll use A instead of B because it is small.",
     "Next: write the docs.", "Root cause: `f` returns 3.", "请不要修改 config.yaml。", "see INC-77 and v1.2.3", "", "Done."]
)


@st.composite
def turns(draw: st.DrawFn) -> Turn:
    match draw(st.integers(0, 6)):
        case 0:
            return ("user", draw(SAYINGS))
        case 1:
            return ("assistant", draw(SAYINGS))
        case 2:
            return call("bash", draw(OUTPUTS), command=draw(COMMANDS))
        case 3:
            return call(draw(st.sampled_from(["Read", "Edit", "Write"])), draw(OUTPUTS), file_path=draw(PATHS))
        case 4:
            items = draw(st.lists(st.sampled_from(["one", "two", "three"]), unique=True))
            return call("todo_write", "ok", todos=[{"content": item, "status": "pending"} for item in items])
        case 5:
            made, status = draw(st.integers(1, 3)), draw(st.sampled_from(["pending", "in_progress", "completed"]))
            if draw(st.booleans()):
                return call("TaskCreate", f"Task #{made} created successfully", subject=draw(st.sampled_from(["one", "four"])))
            return call("TaskUpdate", f"Updated task #{made} status", taskId=str(made), status=status)
        case _:
            return call("mystery", draw(OUTPUTS), target=draw(SAYINGS))


@st.composite
def logs(draw: st.DrawFn) -> list[Entry]:
    messages = DIALECTS[draw(st.sampled_from(sorted(DIALECTS)))](draw(st.lists(turns(), max_size=25)))
    return [Entry(number, "message", message) for number, message in enumerate(messages)]


def assert_kept(before: Ledger, after: Ledger) -> None:
    """Each earlier fact is there with its text (a state: its value among the outcomes), seqs, outcomes, operations, number."""
    known = {(entry.kind, entry.key): entry for entry in after.entries}
    for entry in before.entries:
        now = known[entry.kind, entry.key]
        assert now.text == entry.text or (entry.kind == "state" and entry.text in [text for _seq, text in now.outcomes])
        assert set(entry.seqs) <= set(now.seqs)
        assert set(entry.outcomes) <= set(now.outcomes)
        assert now.ordinal == entry.ordinal
        operations = dict(now.operations)
        assert all(set(seqs) <= set(operations[name]) for name, seqs in entry.operations)


@given(logs(), st.integers(1, 9))
def test_after_ten_generations_every_fact_of_every_generation_is_there(log: list[Entry], size: int) -> None:
    """NEST-2."""
    ledger = EMPTY_LEDGER
    for generation in range(10):
        later = extract_ledger(log[generation * size: (generation + 1) * size], previous=ledger)
        assert_kept(ledger, later)
        ledger = later


@given(logs(), st.integers(1, 9))
def test_wherever_a_log_is_cut_its_commands_ended_the_same(log: list[Entry], size: int) -> None:
    """NEST-2: also where a call is in one generation and its result in the next."""
    whole, ledger = extract_ledger(log), EMPTY_LEDGER
    for start in range(0, len(log), size):
        ledger = extract_ledger(log[start: start + size], previous=Ledger.from_json(ledger.to_json()))
    ended = [{fact.key: (fact.seqs, fact.outcomes) for fact in one.of_kind("command")} for one in (ledger, whole)]
    assert ended[0] == ended[1]
    # An edit whose failure comes a generation later was told as an edit, and what is told stays.
    kept = {(fact.kind, fact.key) for fact in whole.of_kind("action", "file", "error", "todo", "question")}
    assert kept <= {(fact.kind, fact.key) for fact in ledger.entries}


@given(logs())
def test_reading_the_same_messages_again_adds_nothing(log: list[Entry]) -> None:
    """NEST-2, LOG-1: the head of a context is read by every compaction."""
    once = extract_ledger(log)
    assert_kept(once, extract_ledger(log[:5], previous=once))
    assert {entry.key: entry.seqs for entry in extract_ledger(log, previous=once).entries} == {
        entry.key: entry.seqs for entry in once.entries
    }
    assert len(extract_ledger(log, previous=once).entries) == len(once.entries)


@given(st.one_of(logs(), contexts()))
def test_json_gives_an_equal_ledger_back_and_every_seq_is_one_that_was_read(log: list[Entry]) -> None:
    """PROV-1."""
    ledger = extract_ledger(log)
    assert Ledger.from_json(json.loads(json.dumps(ledger.to_json()))) == ledger
    read = {entry.seq if entry.origin_seq is None else entry.origin_seq for entry in log}
    for entry in ledger.entries:
        assert entry.seqs
        assert list(entry.seqs) == sorted(set(entry.seqs))
        assert read.issuperset(entry.seqs)


@given(st.one_of(logs(), contexts()))
def test_the_messages_are_not_changed(log: list[Entry]) -> None:
    """LOG-4."""
    before = copy.deepcopy([entry.message for entry in log])
    ledger = extract_ledger(log)
    render_facts(ledger, budget=300, counter=PieceCounter())
    assert [entry.message for entry in log] == before


@given(
    st.one_of(logs(), contexts()),
    st.integers(0, 1_500),
    st.sampled_from([None, "src/a.py tests", "config.yaml"]),
    st.booleans(),
    st.sampled_from(["", "Never touch src/b.py."]),
)
def test_the_text_is_within_its_budget_and_has_every_heading(
    log: list[Entry], budget: int, focus: str | None, give_active: bool, omit: str
) -> None:
    """NEST-1."""
    counter = PieceCounter()
    requests = [entry for entry in log if entry.is_request]
    active = requests[-1] if requests and give_active else None
    texts = render_facts(extract_ledger(log), budget=budget, counter=counter, active=active, focus=focus, omit=omit)
    assert tuple(texts) == SECTIONS
    assert sum(counter.count(text) for text in texts.values()) <= budget


@given(logs(), st.integers(200, 3_000))
def test_every_line_ends_with_seqs(log: list[Entry], budget: int) -> None:
    """PROV-1."""
    texts = render_facts(extract_ledger(log), budget=budget, counter=PieceCounter())
    for section in SECTIONS[1:]:
        for line in texts[section].splitlines():
            assert "#" in line


def test_a_newer_version_or_an_unknown_kind_is_refused() -> None:
    for damaged in (
        {"version": 2, "entries": []},
        {"version": 1, "entries": [{**LedgerEntry("file", "a", "a", (1,)).to_json(), "kind": "rumour"}]},
    ):
        try:
            Ledger.from_json(damaged)
        except ValueError:
            continue
        raise AssertionError(f"{damaged} was read")
