"""What checks have in common: their form, the loads they look at, and bounds."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tests.cases.kept import Load
from tests.cases.pairing import all_text, spoken_text
from tests.cases.running import CaseFailed, CaseRun

CheckFunction = Callable[[CaseRun, Mapping[str, Any]], Iterator[str]]
"""A check gives the faults that it finds; none means that it passes."""


def each_load(run: CaseRun) -> Sequence[Load]:
    """Every load of the run; a case that loads nothing is looked at as it is now."""
    return run.loads or [run.load()]


def last_load(run: CaseRun) -> Load:
    """The last load of the session held."""
    held = [load for load in each_load(run) if load.branch in (None, run.main_branch)]
    return held[-1] if held else run.load()


def loads_at(run: CaseRun, where: str) -> Sequence[Load]:
    """The loads that a ``where`` means."""
    if where == "loaded_first":
        return each_load(run)[:1]
    if where == "each_load":
        return each_load(run)
    if where == "side":
        sides = [load for load in run.loads if load.branch not in (None, run.main_branch)]
        if not sides:
            raise CaseFailed("no other branch was loaded")
        return sides[-1:]
    return [last_load(run)]


def texts_at(run: CaseRun, where: str) -> list[list[str]]:
    """All text of each message at a place, a list for each load that the place means."""
    if where == "raw":
        return [[all_text(row.message) for row in run.log()]]
    found = []
    for load in loads_at(run, where):
        messages = load.messages
        if where == "messages":
            messages = [message for message in messages if not load.is_summary(message)]
        elif where == "summary":
            messages = [message for message in messages if load.is_summary(message)]
        found.append([all_text(message) for message in messages])
    return found


def out_of_bounds(check: Mapping[str, Any], value: float, what: str) -> Iterator[str]:
    """A fault for each of ``eq``, ``ge`` and ``le`` that the value breaks."""
    if "eq" in check and value != check["eq"]:
        yield f"{what}: {value}, not {check['eq']}"
    if "ge" in check and value < check["ge"]:
        yield f"{what}: {value}, less than {check['ge']}"
    if "le" in check and value > check["le"]:
        yield f"{what}: {value}, more than {check['le']}"


def says(message: Mapping[str, Any]) -> str:
    """The text of a message without blanks at its ends."""
    return spoken_text(message).strip()
