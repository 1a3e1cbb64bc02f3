"""Every case holds: one test a file, a variant, a mode of the summariser, a back end and a counter."""
from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.cases.loading import OWN_CASES, Case, load_cases
from tests.cases.runner import run_case
from tests.databases import Databases


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test a case; slow ones are left out unless they are asked for."""
    if "case" not in metafunc.fixturenames:
        return
    chosen = metafunc.config.getoption("--cases")
    try:
        cases = load_cases(OWN_CASES if chosen is None else Path(chosen))
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error
    wanted = [case for case in cases if metafunc.config.getoption("--slow") or not case.slow]
    metafunc.parametrize("case", wanted, ids=[case.name for case in wanted])


def test_case(case: Case, backend: str, databases: dict[str, Databases]) -> None:
    """What is right for the case holds after its steps."""
    run_case(replace(case, backend=backend), databases)
