"""Checks of lineages, jobs, crashes, imports and exports; each gives the faults it finds."""
from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.cases.check_form import CheckFunction, out_of_bounds
from tests.cases.reading_operations import examine, unique_parts
from tests.cases.running import CaseFailed, CaseRun

Check = Mapping[str, Any]

_AWKWARD: Final = "one\u2028two\u2029three\u0000four\u0085five\x0bsix\x1cseven\nend"
_AFTER_ANY_LEASE: Final = 7 * 86_400.0
_RELATIONS: Final = {"branch": "fork", "subagent": "subagent", "reset": "reset"}


def tip_is(run: CaseRun, check: Check) -> Iterator[str]:
    """Every id of the lineage resumes its highest generation, which an edge of that kind opened."""
    trace = run.store.lineage(run.root_id)
    highest = max(trace.sessions, key=lambda one: one.generation)
    if highest.edge != check["child"]:
        yield f"{highest.session_id} was opened by {highest.edge}"
    for one in trace.sessions:
        found = run.store.resume(one.session_id)
        if found.id != highest.session_id:
            yield f"{one.session_id} resumes {found.id}, not {highest.session_id}"


def all_resumes_equal_tip(run: CaseRun, _check: Check) -> Iterator[str]:
    """Every name of the lineage resumes the same session, and so did every resume of the run."""
    trace = run.store.lineage(run.root_id)
    names = [run.root_id, *(one.session_id for one in trace.sessions), *unique_parts(run)]
    if trace.lineage.title is not None:
        names.append(trace.lineage.title)
    tip = trace.tip.session_id
    for name in names:
        found = run.store.resume(name)
        if found.id != tip:
            yield f"{name!r} resumes {found.id}, not {tip}"
    yield from (f"a resume of the run gave {one.id}, not {tip}" for one in run.resumes if one.id != tip)


def children(run: CaseRun, check: Check) -> Iterator[str]:
    """So many continuations, or lineages that name this one in that relation."""
    if check["kind"] == "continuation":
        count = sum(one.edge == "compaction" for one in run.store.lineage(run.root_id).sessions)
    elif check["kind"] in _RELATIONS:
        others = [run.store.lineage(one.session_id).lineage for one in run.store.list_sessions(limit=10_000)]
        count = sum(one.forked_from == run.root_id and one.relation == _RELATIONS[check["kind"]] for one in others)
    else:
        raise CaseFailed(f"children knows no kind {check['kind']!r}")
    yield from out_of_bounds(check, count, f"children of kind {check['kind']}")


def lineage_depth(run: CaseRun, check: Check) -> Iterator[str]:
    """So many generations in the lineage; in the one of a fixture that was traced last where there is one."""
    trace = run.traces[-1] if run.aliases and run.traces else run.store.lineage(run.root_id)
    yield from out_of_bounds(check, len(trace.sessions), "generations")


def job_states(run: CaseRun, check: Check) -> Iterator[str]:
    """How the lineage's jobs stand, oldest first."""
    found = [job.status for job in run.store.lineage(run.root_id).compactions]
    if found != check["eq"]:
        yield f"the jobs are {found}"


def old_or_new(run: CaseRun, _check: Check) -> Iterator[str]:
    """Each copy of the crash matrix has the old state or the new one, and nothing is wrong once the lease has run out."""
    if not run.crashes:
        raise CaseFailed("there was no crash matrix")
    for copy in run.crashes:
        allowed = [copy.new] if copy.point == "after_commit" else [copy.old, copy.new]
        if copy.state not in allowed:
            yield f"killed {copy.point}, the store holds neither the old state nor the new one: {copy.state}"
        before = run.clock.at
        run.clock.at += _AFTER_ANY_LEASE
        with run.open_store(copy.url) as store:
            # The job of the dead process is what is to be settled; nothing else may be wrong.
            found = [finding for finding in examine(store, repair=True) if finding.code != "stale_job"]
            yield from (f"killed {copy.point}: {finding}" for finding in [*found, *examine(store)])
        run.clock.at = before


def doctor_reports(run: CaseRun, check: Check) -> Iterator[str]:
    """A finding of the doctor step, or of the doctor now, has that code."""
    findings = run.findings if run.findings is not None else examine(run.store)
    if check["code"] not in [finding.code for finding in findings]:
        yield f"the doctor finds {[finding.code for finding in findings]}"


def repair_reported(run: CaseRun, check: Check) -> Iterator[str]:
    """The warnings of the compactions, or the doctor, name each id."""
    said = [warning for attempt in run.attempts if attempt.result is not None for warning in attempt.result.warnings]
    missing = [one for one in check["ids"] if not any(one in text for text in said)]
    if missing:
        said += [str(finding) for finding in run.findings or examine(run.store)]
        yield from (f"nobody reports {one!r}" for one in missing if not any(one in text for text in said))


def imported(run: CaseRun, check: Check) -> Iterator[str]:
    """So many messages came in, and the log has them."""
    report = _report(run)
    yield from out_of_bounds(check, report.imported, "imported messages")
    stored = sum(
        row.kind == "message" for one in report.lineages for row in run.log(run.store.session(one.session_id))
    )
    if stored < report.imported:
        yield f"{report.imported} came in and {stored} are stored"


def reported_lines(run: CaseRun, check: Check) -> Iterator[str]:
    """Exactly these lines are reported as damaged."""
    found = sorted({line.line for line in _report(run).damaged})
    if found != check["eq"]:
        yield f"the damaged lines are {found}"


def chain_intact(run: CaseRun, _check: Check) -> Iterator[str]:
    """Each imported message comes after its parent."""
    places: dict[str, tuple[str, int]] = {}
    links: list[tuple[str, str]] = []
    for lineage in _report(run).lineages:
        for row in run.log(run.store.session(lineage.session_id)):
            if isinstance(row.message.get("id"), str):
                places[row.message["id"]] = (lineage.lineage_id, row.seq)
                if isinstance(row.message.get("parent"), str):
                    links.append((row.message["parent"], row.message["id"]))
    if not links:
        yield "no imported message names its parent"
    for parent, own in links:
        if parent not in places or (places[parent][0] == places[own][0] and places[parent][1] >= places[own][1]):
            yield f"{own!r} doesn't follow its parent {parent!r}"


def writer_one_line_per_record(run: CaseRun, _check: Check) -> Iterator[str]:
    """An export has one JSON object a line, whatever is in the messages."""
    yield from _line_faults("".join(run.store.export(run.root_id, format="jsonl")), len(run.session.context()))
    with run.open_store(run.databases.new()) as other:
        session = other.create_session(id="written", context_window=1_000)
        session.append([{"role": "user", "content": _AWKWARD}, {"role": "assistant", "content": _AWKWARD}])
        session.append_json('{"role": "user",\n "content": "' + _AWKWARD.replace("\x00", "\\u0000").replace("\n", "\\n")
                            .replace("\x0b", "\\u000b").replace("\x1c", "\\u001c") + '"}')  # fmt: skip
        yield from _line_faults("".join(other.export("written", format="jsonl")), 3)
        yield from _line_faults("".join(other.export("written", format="jsonl", lineage=True)), None)


def bounded_time(run: CaseRun, check: Check) -> Iterator[str]:
    """The steps came to an end in time."""
    yield from out_of_bounds({"le": check["seconds"]}, run.elapsed, "seconds")


def _line_faults(text: str, records: int | None) -> Iterator[str]:
    lines = text.splitlines()
    if records is not None and len(lines) != records:
        yield f"{len(lines)} lines for {records} records"
    for number, line in enumerate(lines, 1):
        try:
            value = json.loads(line)
        except ValueError as error:
            yield f"line {number} is no JSON: {error}"
            continue
        if not isinstance(value, dict):
            yield f"line {number} is no object"


def _report(run: CaseRun) -> Any:
    if run.report is None:
        raise CaseFailed("nothing was imported")
    return run.report


LINEAGE: Final[Mapping[str, CheckFunction]] = {
    function.__name__: function
    for function in (
        tip_is, all_resumes_equal_tip, children, lineage_depth, job_states, old_or_new, doctor_reports, repair_reported,
        imported, reported_lines, chain_intact, writer_one_line_per_record, bounded_time,
    )
}  # fmt: skip
