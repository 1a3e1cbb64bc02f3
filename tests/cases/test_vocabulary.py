"""What a case may not do: any word that the vocabulary doesn't have fails it, and nothing is skipped."""
from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cases.loading import OWN_CASES, expand_macros, load_cases, read_case
from tests.cases.runner import CHECK_FUNCTIONS, OPERATION_FUNCTIONS, run_case
from tests.cases.running import CaseFailed
from tests.cases.vocabulary import CHECKS, OPERATIONS
from tests.cases.writing import write_case
from tests.databases import SqliteFiles

PROJECT: Final = Path(__file__).parents[2]
GOOD: Final[Mapping[str, Any]] = {
    "messages": [{"role": "user", "content": "hi"}],
    "options": {"steps": [{"op": "append_all"}, {"op": "load"}]},
    "checks": [{"check": "message_count", "eq": 1}],
}

UNKNOWN: Final[Mapping[str, tuple[Mapping[str, Any], str]]] = {
    "operation": ({"options": {"steps": [{"op": "defragment"}]}}, "unknown operation 'defragment'"),
    "argument of an operation": ({"options": {"steps": [{"op": "load", "limit": 3}]}}, "operation load: 'limit'"),
    "column": ({"options": {"steps": [{"op": "raw_set", "mood": "sad"}]}}, "operation raw_set: 'mood'"),
    "check": ({"checks": [{"check": "looks_nice"}]}, "unknown check 'looks_nice'"),
    "argument of a check": ({"checks": [{"check": "message_count", "eq": 1, "about": 2}]}, "check message_count: 'about'"),
    "check in any_of": ({"checks": [{"check": "any_of", "options": [[{"check": "x"}]]}]}, "unknown check 'x'"),
    "place": ({"checks": [{"check": "contains_text", "text": "hi", "where": "moon"}]}, "no place 'moon'"),
    "option": ({"options": {"temperature": 1}}, "unknown option: 'temperature'"),
    "key of the summariser": ({"options": {"summarizer": {"mode": "ok", "mood": 1}}}, "summarizer: 'mood'"),
    "key of _meta": ({"messages": [{"role": "user", "content": "", "_meta": {"colour": 1}}]}, "_meta: 'colour'"),
    "back end": ({"options": {"backends": ["sqlite", "punch cards"]}}, "unknown back end 'punch cards'"),
    "counter": ({"options": {"tokenizers": ["abacus"]}}, "unknown counter 'abacus'"),
    "macro": ({"messages": [{"role": "user", "content": {"$reverse": "a"}}]}, "no macro"),
    "bound that is missing": ({"checks": [{"check": "summarizer_calls"}]}, "has no bound"),
    "argument that is missing": ({"checks": [{"check": "contains_text"}]}, "needs 'text'"),
    "check that is missing": ({"checks": []}, "checks nothing"),
}

WRONG_VALUES: Final[Mapping[str, tuple[Mapping[str, Any], str]]] = {
    "mode": ({"options": {"summarizer": {"mode": "sing"}}}, "unknown summariser mode 'sing'"),
    "profile": ({"options": {"profile": "smoke signals"}}, "unknown profile 'smoke signals'"),
    "error class": ({"checks": [{"check": "error", "type": "OopsError"}]}, "no error 'OopsError'"),
    "way to resume": ({"options": {"steps": [{"op": "resume", "by": "smell"}]}}, "no way 'smell'"),
    "kind of child": ({"options": {"steps": [{"op": "add_child", "kind": "cousin"}]}}, "no kind 'cousin'"),
    "point of a crash": ({"options": {"steps": [{"op": "crash_matrix", "points": ["never"]}]}}, "no point never"),
}


def test_every_word_has_a_function() -> None:
    """Each operation and check of the tables is there, and no other."""
    assert (len(OPERATIONS), len(CHECKS)) == (36, 82)
    assert set(OPERATION_FUNCTIONS) == set(OPERATIONS)
    assert set(CHECK_FUNCTIONS) | {"any_of", "same_on_backends"} == set(CHECKS)


@pytest.mark.parametrize("what", [*UNKNOWN, *WRONG_VALUES])
def test_unknown_word_fails_the_case(what: str, tmp_path: Path) -> None:
    """A case with a word that isn't in the tables fails, and the message says which word it was."""
    changes, said = {**UNKNOWN, **WRONG_VALUES}[what]
    (case,) = read_case(write_case(tmp_path, "odd", **{**GOOD, **changes}))
    with pytest.raises((CaseFailed, ValueError), match=said):
        run_case(case, {"sqlite": SqliteFiles(tmp_path)})


def test_known_words_pass(tmp_path: Path) -> None:
    """The case that the others are made of holds."""
    (case,) = read_case(write_case(tmp_path, "good", **GOOD))
    run_case(case, {"sqlite": SqliteFiles(tmp_path)})


def test_file_that_is_no_case_fails(tmp_path: Path) -> None:
    """A file that isn't JSON is a run that fails, not one that is left out."""
    (tmp_path / "torn.json").write_text('{"id": "torn"', encoding="utf-8")
    (case,) = load_cases(tmp_path)
    with pytest.raises(CaseFailed, match="cannot be read"):
        run_case(case, {"sqlite": SqliteFiles(tmp_path)})


def test_exception_of_another_family_fails_the_case(tmp_path: Path) -> None:
    """What isn't one of the library's own errors is never recorded and passed over."""
    steps = [{"op": "append_all"}, {"op": "rewind_in_lineage", "to_text": "nobody said this"}]
    (case,) = read_case(write_case(tmp_path, "other", **{**GOOD, "options": {"steps": steps}}))
    with pytest.raises(CaseFailed, match="no message says"):
        run_case(case, {"sqlite": SqliteFiles(tmp_path)})


def test_macros_stand_for_strings() -> None:
    """``$repeat`` and ``$concat`` are expanded wherever a string may stand, also within each other."""
    given = {"a": [{"$concat": ["x", {"$repeat": ["yz", 2]}]}]}
    assert expand_macros(given) == {"a": ["xyzyz"]}


def test_variants_and_modes_are_runs_of_their_own(tmp_path: Path) -> None:
    """Every variant is run in every mode, and each of these on every back end, whatever the case names."""
    options = {
        "variants": [[], [{"role": "user", "content": "hi"}]],
        "summarizer": {"mode": "ok"},
        "also_modes": ["empty"],
        "backends": ["sqlite", "postgres"],
    }
    file = write_case(tmp_path, "many", options=options, checks=[{"check": "no_exception"}])
    names = [case.name for case in read_case(file)]
    assert names == ["many-variant0-ok", "many-variant0-empty", "many-variant1-ok", "many-variant1-empty"]


def test_folder_of_cases_takes_the_place_of_the_own_ones(tmp_path: Path) -> None:
    """``--cases DIR`` runs what is in DIR and nothing else; one that fails fails the run."""
    write_case(tmp_path, "good", **GOOD)
    write_case(tmp_path, "bad", **{**GOOD, "checks": [{"check": "looks_nice"}]})
    write_case(tmp_path, "slow", **{**GOOD, "options": {"slow": True}})
    options = ["--cases", str(tmp_path), "--backend", "sqlite", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "tests/cases/test_cases.py", *options]
    found = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert "1 failed, 1 passed" in found.stdout
    assert "unknown check 'looks_nice'" in found.stdout


def test_empty_folder_is_an_error(tmp_path: Path) -> None:
    """A folder without cases is not a run that passes."""
    with pytest.raises(ValueError, match="no cases"):
        load_cases(tmp_path)


def test_own_cases_are_whole() -> None:
    """Every file of the project is read and knows no word that the tables don't."""
    files = list(OWN_CASES.glob("*.json"))
    assert len(files) == 57
    assert {case.id for case in load_cases(OWN_CASES)} == {json.loads(file.read_text(encoding="utf-8"))["id"] for file in files}
    assert [case.name for case in load_cases(OWN_CASES) if case.problems] == []
