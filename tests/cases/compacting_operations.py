"""Operations that compact or may compact, with everything recorded that a check compares before and after."""
from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any, Final

from sessionstore import CompactionResult, Session, SessionStoreError
from tests.cases.kept import Attempt, Thread
from tests.cases.outside_operations import refuse_summaries
from tests.cases.pairing import plain_text
from tests.cases.running import START, CaseRun, need

Step = Mapping[str, Any]
Action = Callable[[Session], Any]
State = tuple[list[dict[str, Any]], list[Any], list[Any], list[str]]
Tables = Mapping[str, list[tuple[Any, ...]]]

_REFERENCE: Final = re.compile(r"#(\d+)")


def compact(run: CaseRun, step: Step) -> None:
    """Compact by hand, as often as the case says."""
    if step.get("fail_insert_summary"):
        refuse_summaries(run)
    if "child_started_at" in step or "parent_ended_at" in step:
        readings = [START + float(step.get(name, 0)) for name in ("parent_ended_at", "child_started_at")]
        run.summarizer.before_answer = lambda: run.clock.script.extend(readings)
    thread = run.thread(step.get("branch"))
    try:
        for _ in range(run.case.options.get("max_attempts", 1)):
            result = attempt(run, thread, "compact", lambda session: _by_hand(run, session, thread, step.get("focus")))
            if result is not None:
                _record_status(run, result)
    finally:
        run.summarizer.before_answer = None
        run.clock.script.clear()


def compact_with_interleave(run: CaseRun, step: Step) -> None:
    """Compact while another store appends during the summary."""
    waiting = [deepcopy(step["during_summary"])]

    def append_meanwhile() -> None:
        if not waiting:
            return
        messages = waiting.pop()
        with run.open_store() as other:
            seqs = other.resume(run.root_id).append(messages)
        run.remember_input(run.root_id, seqs, messages)

    run.summarizer.before_answer = append_meanwhile
    try:
        compact(run, {"op": "compact"})
    finally:
        run.summarizer.before_answer = None


def prune(run: CaseRun, _step: Step) -> None:
    """Prune and no more."""
    policy = replace(run.policy, summarize=False)
    attempt(run, run.main, "prune", lambda session: session.compact(policy=policy))


def auto_check(run: CaseRun, _step: Step) -> None:
    """Compact if it is due."""
    _automatic(run, "maintain")


def preflight_check(run: CaseRun, _step: Step) -> None:
    """Compact if it is due, before the first model call of a turn."""
    _automatic(run, "preflight")


def auto_turn(run: CaseRun, _step: Step) -> None:
    """One turn of an agent."""
    run.turns += 1
    _automatic(run, "preflight")
    messages = [{"role": role, "content": f"turn {run.turns}"} for role in ("user", "assistant")]
    run.remember_input(run.root_id, run.session.append(messages), messages)
    run.main.held += messages
    _automatic(run, "maintain")


def hygiene_check(run: CaseRun, _step: Step) -> None:
    """One pass of the worker over all open sessions."""

    def passing(session: Session) -> Any:
        need(run.store, "hygiene")(summarizer=run.summarizer, policy=run.policy)
        tip = run.store.resume(run.root_id)
        if tip.id != session.id:
            run.main.session, run.main.held = tip, tip.context()

    attempt(run, run.main, "hygiene_check", passing, automatic=True)


def attempt(
    run: CaseRun, thread: Thread, step: str, action: Action, *, automatic: bool = False
) -> CompactionResult[Session] | None:
    """Try to compact, record it, and go on in the continuation when there is one; gives the result where there is one."""
    pin_once(run, thread)
    session = thread.session
    pressure_before = session.pressure(run.policy)
    run.held_before_compact = deepcopy(thread.held)
    before = _state(run, session)
    tables_before = run.tables()
    result: CompactionResult[Session] | None = None
    failed = False
    try:
        result = action(session)
    except SessionStoreError as error:
        failed = True
        run.record(step, error)
    _remember_flushed(run, thread, before)
    if result is not None and result.status == "committed":
        thread.session, thread.held = result.session, list(result.messages)
    tables_after = run.tables()
    after = _state(run, thread.session)
    run.attempts.append(
        Attempt(
            result=result,
            job_status=None if failed else _status_of_new_jobs(tables_before, tables_after),
            automatic=automatic,
            context_before=before[0], context_after=after[0],
            rows_before=before[1], rows_after=after[1],
            log_before=before[2], log_after=after[2],
            generations_before=before[3], generations_after=after[3],
            tables_before=tables_before, tables_after=tables_after,
            pressure_before=pressure_before, pressure_after=thread.session.pressure(run.policy),
            references=_references(before[2], after[2]),
        )
    )  # fmt: skip
    return result


def pin_once(run: CaseRun, thread: Thread) -> None:
    """Before the first attempt: pin the messages that the case wants pinned."""
    if run.pinned:
        return
    run.pinned = True
    for row in thread.session.context_rows():
        if row.kind == "message" and any(
            text in plain_text(row.message.get("content")) for text in run.case.options.get("pins", [])
        ):
            thread.session.pin(row.seq)


def _by_hand(run: CaseRun, session: Session, thread: Thread, focus: str | None) -> CompactionResult[Session]:
    return session.compact(
        messages=thread.held,
        focus=focus,
        summarizer=run.summarizer,
        policy=run.policy,
        force=bool(run.case.options.get("force", False)),
    )


def _automatic(run: CaseRun, name: str) -> None:
    attempt(
        run,
        run.main,
        name,
        lambda session: need(session, name)(summarizer=run.summarizer, policy=run.policy),
        automatic=True,
    )


def _record_status(run: CaseRun, result: CompactionResult[Session]) -> None:
    try:
        result.raise_for_status()
    except SessionStoreError as error:
        run.record("compact", error)


def _state(run: CaseRun, session: Session) -> State:
    trace = run.store.lineage(session.lineage_id)
    return (
        session.context(),
        session.context_rows(),
        run.log(session),
        [f"{one.session_id} {one.end_reason}" for one in trace.sessions],
    )


def _remember_flushed(run: CaseRun, thread: Thread, before: State) -> None:
    """What a compaction flushed first is input too."""
    known = {row.seq for row in before[2]}
    lineage_id = thread.session.lineage_id
    new = [
        row.seq
        for row in run.log(thread.session)
        if row.kind == "message" and row.seq not in known and (lineage_id, row.seq) not in run.input_messages
    ]
    unsaved = run.held_before_compact[len(before[0]) :]
    if len(new) == len(unsaved):
        run.remember_input(lineage_id, new, unsaved)


def _status_of_new_jobs(before: Tables, after: Tables) -> str | None:
    """How the jobs that were added ended: ``committed`` if one of them did, else as the last did."""
    known = {dict(row)["job_id"] for row in before["compactions"]}
    jobs = [dict(row) for row in after["compactions"]]
    new = sorted((job["created_at"], str(job["status"])) for job in jobs if job["job_id"] not in known)
    statuses = [status for _at, status in new]
    return "committed" if "committed" in statuses else statuses[-1] if statuses else None


def _references(before: list[Any], after: list[Any]) -> dict[int, str]:
    """Every ``#n`` in a summary that was just written, with the row that it means now ("" where there is none)."""
    bodies = {row.seq: row.body for row in after}
    known = {row.seq for row in before}
    return {
        int(number): bodies.get(int(number), "")
        for row in after
        if row.kind == "summary" and row.seq not in known
        for number in _REFERENCE.findall(plain_text(row.message.get("content")))
    }


COMPACTING: Final[Mapping[str, Callable[[CaseRun, Step], None]]] = {
    "compact": compact,
    "compact_with_interleave": compact_with_interleave,
    "prune": prune,
    "auto_check": auto_check,
    "preflight_check": preflight_check,
    "auto_turn": auto_turn,
    "hygiene_check": hygiene_check,
}
