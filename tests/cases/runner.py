"""Runs a case: its steps in order, then its checks, and says everything that didn't hold."""
from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final, NoReturn

import sessionstore
from sessionstore import SessionStoreError
from tests.cases.check_form import CheckFunction
from tests.cases.compacting_operations import COMPACTING
from tests.cases.content_checks import CONTENT
from tests.cases.effect_checks import EFFECT
from tests.cases.lineage_checks import LINEAGE
from tests.cases.loading import BACKENDS, Case
from tests.cases.outside_operations import OUTSIDE, take_faults_out
from tests.cases.process_operations import PROCESSES
from tests.cases.reading_operations import READING
from tests.cases.running import CaseFailed, CaseRun
from tests.cases.store_checks import STORE
from tests.cases.structure_checks import STRUCTURE
from tests.cases.writing_operations import WRITING, import_lines
from tests.databases import Databases

OPERATION_FUNCTIONS: Final[Mapping[str, Callable[[CaseRun, Mapping[str, Any]], None]]] = {
    **WRITING,
    **COMPACTING,
    **READING,
    **PROCESSES,
    **OUTSIDE,
}

CHECK_FUNCTIONS: Final[Mapping[str, CheckFunction]] = {**STRUCTURE, **CONTENT, **EFFECT, **STORE, **LINEAGE}
"""The checks that look at one run; ``any_of`` and ``same_on_backends`` are made of others and of other runs."""

_READS_ONLY: Final = frozenset({*READING, "reopen", "advance_clock", "buffer"}) - {"import_export"}


def run_case(case: Case, databases: Mapping[str, Databases]) -> None:
    """Run one case on a new database of its back end. Raises ``CaseFailed`` with everything that didn't hold.

    ``databases`` are those of every back end that it may be compared on.
    """
    if case.problems:
        raise CaseFailed("\n".join(case.problems))
    own = databases[case.backend]
    run = CaseRun(case, own, own.new())
    try:
        with _network(case):
            _do(run)
        faults = [*_unnamed_errors(run), *(fault for check in case.checks for fault in faults_of(run, check))]
        if any(check["check"] == "same_on_backends" for check in case.checks):
            faults += [f"same_on_backends: {fault}" for fault in _other_backends(run, databases)]
    finally:
        run.store.close()
    if faults:
        raise CaseFailed("\n".join(faults))


def carry_out(run: CaseRun, step: Mapping[str, Any]) -> None:
    """Do one step; a typed error is recorded."""
    try:
        OPERATION_FUNCTIONS[step["op"]](run, step)
    except SessionStoreError as error:
        run.record(step["op"], error)
    if step["op"] not in _READS_ONLY:
        run.last_write = step


def faults_of(run: CaseRun, check: Mapping[str, Any]) -> Sequence[str]:
    """What one check finds, each fault with the check's name."""
    name = check["check"]
    if name == "any_of":
        return _any_of(run, check["options"])
    if name == "same_on_backends":
        return []  # it is about other runs; ``run_case`` sees to it
    try:
        return [f"{name}: {fault}" for fault in CHECK_FUNCTIONS[name](run, check)]
    except SessionStoreError as error:
        return [f"{name} met {type(error).__name__}: {error}"]


def _do(run: CaseRun) -> None:
    begun = time.monotonic()
    if "import_lines" in run.case.options:
        import_lines(run)
    for step in run.case.steps:
        carry_out(run, step)
    run.elapsed = time.monotonic() - begun
    take_faults_out(run)


def _any_of(run: CaseRun, options: Sequence[Sequence[Mapping[str, Any]]]) -> Sequence[str]:
    tried = []
    for number, checks in enumerate(options, 1):
        faults = [fault for check in checks for fault in faults_of(run, check)]
        if not faults:
            print(f"any_of: option {number} holds: {[dict(check) for check in checks]}")  # noqa: T201 - pytest shows it on demand
            return []
        tried += [f"option {number}: {fault}" for fault in faults]
    return [f"any_of: {fault}" for fault in tried]


def _other_backends(run: CaseRun, databases: Mapping[str, Databases]) -> Iterator[str]:
    """Differences between this run and the same case on every other back end that it names."""
    mine = _fingerprint(run)
    checks = [check for check in run.case.checks if check["check"] != "same_on_backends"]
    for backend in [BACKENDS[name] for name in run.case.options.get("backends", [])]:
        if backend not in databases or backend == run.case.backend:
            continue
        other = CaseRun(replace(run.case, backend=backend, checks=checks), databases[backend], databases[backend].new())
        try:
            _do(other)
            yield from (f"{backend}: {fault}" for check in checks for fault in faults_of(other, check))
            if _fingerprint(other) != mine:
                yield f"loads, statuses or hits on {backend} differ from {run.case.backend}"
        finally:
            other.store.close()


def _fingerprint(run: CaseRun) -> str:
    loads = [load.messages for load in run.loads]
    statuses = [attempt.status for attempt in run.attempts]
    return json.dumps([loads, statuses, [str(hit) for hit in run.hits or ()]])


def _unnamed_errors(run: CaseRun) -> Iterator[str]:
    """Typed errors of steps that neither a planted fault nor an ``error`` check accounts for."""
    named = tuple(getattr(sessionstore, name, NoSuchError) for name in _named(run.case.checks))
    for recorded in run.errors:
        if not recorded.excused and not isinstance(recorded.error, named):
            yield f"{recorded.step} raised {type(recorded.error).__name__}: {recorded.error}"


def _named(checks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for check in checks:
        if check["check"] == "error":
            yield check["type"]
        for listed in check.get("options", []) if check["check"] == "any_of" else ():
            yield from _named(listed)


class NoSuchError(Exception):
    """Stands for an error class that the package doesn't have: nothing is one."""


@contextmanager
def _network(case: Case) -> Iterator[None]:
    """With ``network: off``, a socket that opens fails the case."""
    if case.options.get("network") is None:
        yield
        return
    if case.options["network"] != "off":
        raise CaseFailed(f"unknown network {case.options['network']!r}")

    def refuse(*_arguments: Any, **_named: Any) -> NoReturn:
        raise CaseFailed("a socket was opened")

    real = socket.socket.connect, socket.getaddrinfo
    socket.socket.connect, socket.getaddrinfo = refuse, refuse  # type: ignore[method-assign]  # that is the point
    try:
        yield
    finally:
        socket.socket.connect, socket.getaddrinfo = real  # type: ignore[method-assign]  # the real ones again
