"""Operations that need processes of their own: writers and compactions at once, and a kill at every point of a compaction."""
from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from sessionstore import CompactionInProgressError, Session, SessionEndedError, SessionStoreError, errors
from tests.cases.compacting_operations import attempt
from tests.cases.running import CaseFailed, CaseRun

Step = Mapping[str, Any]

POINTS: Final = (
    "before_summary",
    "during_summary",
    "after_summary",
    "after_child_insert",
    "after_tail_copy",
    "before_parent_end",
    "before_commit",
    "after_commit",
)

_PROJECT: Final = Path(__file__).parents[2]
_TIMEOUT: Final = 250
"""Seconds for a process of several on a busy machine, most of which go into starting it."""


@dataclass(frozen=True)
class Copy:
    """A copy of the store after a process was killed in it: what it holds, and what it would hold before and after."""

    point: str
    url: str
    state: Any
    old: Any
    new: Any


def concurrent_append(run: CaseRun, step: Step) -> None:
    """So many processes append so many user messages each, one by one."""
    writers, each = step["writers"], step["each"]
    _wait([_start(run, run.url, "append", writer=writer, each=each) for writer in range(writers)], run, allowed=())
    _go_on(run)


def concurrent_compact(run: CaseRun, step: Step) -> None:
    """So many processes compact the session at once; all but one may be told that it is being done or is done."""
    count = step.get("n", run.case.options.get("processes", 2))

    def at_once(_session: Session) -> None:
        processes = [_start(run, run.url, "compact") for _ in range(count)]
        _wait(processes, run, allowed=(CompactionInProgressError, SessionEndedError))
        _go_on(run)

    attempt(run, run.main, "concurrent_compact", at_once)


def crash_matrix(run: CaseRun, step: Step) -> None:
    """A process compacts a copy of the store and is killed at each point; the copy is opened again."""
    unknown = [point for point in step["points"] if point not in POINTS]
    if unknown:
        raise CaseFailed(f"crash_matrix knows no point {', '.join(unknown)}")
    run.store.close()
    old = state_of(run, run.url)
    whole = run.databases.copy(run.url)
    _wait([_start(run, whole, "compact")], run, allowed=())
    new = state_of(run, whole)
    for point in step["points"]:
        url = run.databases.copy(run.url)
        process = _start(run, url, "crash", point=point)
        _, said = _outputs(process)
        if process.returncode != -signal.SIGKILL:
            raise CaseFailed(f"the process that was to be killed {point} ended with {process.returncode}: {said[-500:]}")
        run.crashes.append(Copy(point, url, state_of(run, url), old, new))


def state_of(run: CaseRun, url: str) -> Any:
    """What a store holds of the lineage: contexts and ends of all generations, without times and job ids."""
    with run.open_store(url) as store:
        trace = store.lineage(run.root_id)
        return [(one.session_id, one.end_reason, store.session(one.session_id).context()) for one in trace.sessions]


def _start(run: CaseRun, url: str, what: str, **arguments: Any) -> subprocess.Popen[str]:
    order = {"case": asdict(run.case), "url": url, "root": run.root_id, "at": run.clock.at, **arguments}
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "tests.cases.process", what],
        cwd=_PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(order))
    process.stdin.close()
    process.stdin = None  # the order is given; communicate() only reads from here on
    return process


def _wait(processes: list[subprocess.Popen[str]], run: CaseRun, *, allowed: tuple[type[SessionStoreError], ...]) -> None:
    # All are waited for before any of them is judged, so that none outlives the case.
    ended = [(process, *_outputs(process)) for process in processes]
    for process, output, said in ended:
        if process.returncode != 0:
            raise CaseFailed(f"a process ended with {process.returncode}: {said[-1_000:]}")
        for name, text in json.loads(output)["errors"]:
            kind = getattr(errors, name)
            if not issubclass(kind, allowed):
                run.record("a process", _ToldError(name, text))


def _outputs(process: subprocess.Popen[str]) -> tuple[str, str]:
    try:
        return process.communicate(timeout=_TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()


class _ToldError(SessionStoreError):
    """A typed error that another process met."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(f"{name}: {text}")
        self.name = name


def _go_on(run: CaseRun) -> None:
    session = run.store.resume(run.root_id)
    run.main.session, run.main.held = session, session.context()


PROCESSES: Final[Mapping[str, Callable[[CaseRun, Step], None]]] = {
    "concurrent_append": concurrent_append,
    "concurrent_compact": concurrent_compact,
    "crash_matrix": crash_matrix,
}
