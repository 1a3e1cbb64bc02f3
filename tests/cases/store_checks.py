"""Checks of the meter and of what the store holds; each gives the faults it finds."""
from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from tests.cases.check_form import CheckFunction, loads_at, out_of_bounds
from tests.cases.pairing import all_text
from tests.cases.running import CaseFailed, CaseRun, need

Check = Mapping[str, Any]

_SYSTEM: Final = ("system", "developer")


def token_count(run: CaseRun, check: Check) -> Iterator[str]:
    """Tokens of the context before the first compaction, or at the meter step."""
    yield from out_of_bounds(check, _pressure(run).tokens, "tokens")


def triggered(run: CaseRun, _check: Check) -> Iterator[str]:
    """It was due, or an automatic step began a compaction."""
    if not _was_triggered(run):
        yield f"it isn't due: {_pressure(run)}"


def not_triggered(run: CaseRun, _check: Check) -> Iterator[str]:
    """It wasn't due, and no automatic step began a compaction."""
    if _was_triggered(run):
        yield f"it is due: {_pressure(run)}"


def meter_parts(run: CaseRun, check: Check) -> Iterator[str]:
    """Each part has tokens, and they add up to the whole."""
    found = _pressure(run)
    yield from (f"{part} has {found.parts.get(part)} tokens" for part in check["parts"] if not found.parts.get(part, 0) > 0)
    if sum(found.parts.values()) != found.tokens:
        yield f"{found.parts} don't add up to {found.tokens}"


def meter_method_recorded(run: CaseRun, _check: Check) -> Iterator[str]:
    """The number says how it was got, and so does the store."""
    if not _pressure(run).method:
        yield "the number doesn't say how it was got"
    current = run.session.pressure(run.policy)
    stored = run.session.record().context_tokens_method
    if not stored or (stored not in current.method and "provider" not in current.method):
        yield f"{stored!r} is stored for {current.method!r}"


def meter_after_failure(run: CaseRun, check: Check) -> Iterator[str]:
    """Tokens right after the first attempt that wasn't committed."""
    failed = next((attempt for attempt in run.attempts if attempt.status != "committed"), None)
    if failed is None:
        yield "no attempt failed"
        return
    yield from out_of_bounds(check, failed.pressure_after.tokens, "tokens after the failure")


def compactions(run: CaseRun, check: Check) -> Iterator[str]:
    """So many compactions were committed."""
    jobs = run.store.lineage(run.root_id).compactions
    yield from out_of_bounds(check, sum(job.status == "committed" for job in jobs), "committed compactions")


def message_count(run: CaseRun, check: Check) -> Iterator[str]:
    """The system message and the rows of kind message; the rendering must have handed out a message for each of them."""
    for load in loads_at(run, check.get("where", "loaded")):
        system = sum(message.get("role") in _SYSTEM for message in load.messages)
        yield from out_of_bounds(check, system + sum(row.kind == "message" for row in load.rows), "messages")


def no_duplicates(run: CaseRun, _check: Check) -> Iterator[str]:
    """No seq stands twice in the context, no client id twice in the log."""
    yield from _repeated([row.seq for row in run.session.context_rows()], "seq")
    yield from _repeated([row.client_id for row in run.log() if row.client_id is not None], "client id")


def order_equals_input(run: CaseRun, check: Check) -> Iterator[str]:
    """The input's messages stand in the input's order."""
    given = [seq for lineage_id, seq, _body in run.inputs if lineage_id == run.session.lineage_id]
    for load in loads_at(run, check.get("where", "loaded")):
        present = [row.seq for row in load.rows if row.seq in given]
        if present != [seq for seq in given if seq in present]:
            yield f"the rows stand as {present}"
        wanted = [all_text(run.input_messages[load.session_id.partition("~")[0], seq]) for seq in present]
        if [all_text(row.message) for row in load.rows if row.seq in present] != wanted:
            yield "the rows don't hold what was given"


def sequence_contiguous(run: CaseRun, _check: Check) -> Iterator[str]:
    """The log is numbered 0, 1, 2, …"""
    seqs = [row.seq for row in run.log()]
    if seqs != list(range(len(seqs))) or len(seqs) != run.store.lineage(run.root_id).tip.next_seq:
        yield f"the seqs are {seqs[:20]}…, {len(seqs)} of them"


def stable_reload(run: CaseRun, _check: Check) -> Iterator[str]:
    """Rendering again, and after the store was opened again, gives the same."""
    first, second = run.session.render(run.profile), run.session.render(run.profile)
    with run.open_store() as again:
        third = again.session(run.session.id).render(run.profile)
    if not json.dumps(first) == json.dumps(second) == json.dumps(third):
        yield "two renderings of the same context differ"


def raw_text_occurs(run: CaseRun, check: Check) -> Iterator[str]:
    """So many messages of the whole log have a text."""
    count = sum(row.kind == "message" and check["text"] in all_text(row.message) for row in run.log())
    yield from out_of_bounds(check, count, f"rows with {check['text']!r}")


def coverage_is_ids(run: CaseRun, _check: Check) -> Iterator[str]:
    """What a summary says it covers is in the log, and older than it."""
    log = {row.seq for row in run.log()}
    jobs = [job for job in run.store.lineage(run.root_id).compactions if job.summary_seq is not None]
    if not jobs:
        yield "no summary covers anything"
    for job in jobs:
        for span in job.middle:
            wrong = [seq for seq in range(span.first, span.last + 1) if seq not in log or seq >= (job.summary_seq or 0)]
            if wrong:
                yield f"the summary #{job.summary_seq} covers {wrong}"


def expand_equals_originals(run: CaseRun, _check: Check) -> Iterator[str]:
    """Each summary expands to the messages that left the context when it was written, all of them, equal, in order."""
    expected = dict(run.brought_in)
    for attempt in run.attempts:
        kept = {row.seq for row in attempt.rows_after} | {row.origin_seq for row in attempt.rows_after}
        gone = [row for row in attempt.rows_before if row.seq not in kept]
        originals: set[int] = set()
        for row in gone:
            own = {row.seq if row.origin_seq is None else row.origin_seq}
            originals |= expected.get(row.seq, set()) if row.kind == "summary" else own
        known = {row.seq for row in attempt.log_before}
        for row in attempt.rows_after:
            if row.kind == "summary" and row.seq not in known:
                expected[row.seq] = originals
    if not expected:
        yield "no summary was written"
    for seq, originals in expected.items():
        rows = run.session.expand(seq)
        if [row.seq for row in rows] != sorted(originals):
            yield f"#{seq} expands to {[row.seq for row in rows]}, not {sorted(originals)}"
        given = [run.input_messages.get((run.root_id, row.seq)) for row in rows]
        if [json.dumps(row.message) for row in rows] != [json.dumps(message) for message in given]:
            yield f"#{seq} doesn't expand to the messages that were given"


def equals_before_first_compaction(run: CaseRun, check: Check) -> Iterator[str]:
    """The load is the context before the first compaction and what was written since."""
    first = next((attempt for attempt in run.attempts if attempt.status == "committed"), None)
    if first is None:
        raise CaseFailed("nothing was compacted")
    known = {row.seq for row in first.log_before}
    since = [row.message for row in run.log() if row.kind == "message" and row.seq not in known]
    for load in loads_at(run, check.get("where", "loaded")):
        if [row.message for row in load.rows] != [*first.context_before, *since]:
            yield f"{len(load.rows)} rows aren't the {len(first.context_before)} of before and {len(since)} since"


def prefix_stable_renders(run: CaseRun, _check: Check) -> Iterator[str]:
    """Each rendering begins with the whole of the one before it."""
    renderings = run.renders if len(run.renders) > 1 else [load.messages for load in run.loads]
    if len(renderings) <= 1:
        yield "there is no second rendering"
    for before, after in pairwise(renderings):
        if json.dumps(after[: len(before)]) != json.dumps(before):
            yield "a rendering doesn't begin with the one before it"


def todo_equal(run: CaseRun, _check: Check) -> Iterator[str]:
    """The todo list is as the case gave it, and the rendered system prompt shows all of it."""
    found = [dict(todo) for todo in need(need(run.session, "task"), "todos")]
    wanted = [{"status": "pending", **todo, "id": str(todo["id"])} for todo in run.case.options["todo"]]
    if found != [{name: todo[name] for name in ("id", "content", "status")} for todo in wanted]:
        yield f"the todos are {found}"
    shown = all_text([message for message in run.session.render(run.profile) if message.get("role") in _SYSTEM])
    for todo in wanted:
        line = next((line for line in shown.splitlines() if todo["content"] in line), "")
        if todo["status"] not in line:
            yield f"the system prompt doesn't show {todo}"


def system_equals(run: CaseRun, check: Check) -> Iterator[str]:
    """The stored system prompt of the session held."""
    if run.session.system_prompt() != check["text"]:
        yield f"it is {run.session.system_prompt()!r}"


def parent_system_equals(run: CaseRun, check: Check) -> Iterator[str]:
    """The stored system prompt of its parent."""
    parent = run.session.record().parent_session_id
    text = None if parent is None else run.store.session(parent).system_prompt()
    if text != check["text"]:
        yield f"the prompt of {parent} is {text!r}"


def search_hits(run: CaseRun, check: Check) -> Iterator[str]:
    """So many hits of the last search."""
    if run.hits is None:
        raise CaseFailed("nothing was searched")
    yield from out_of_bounds(check, len(run.hits), "hits")


def _pressure(run: CaseRun) -> Any:
    if run.pressures:
        return run.pressures[-1]
    return run.attempts[0].pressure_before if run.attempts else run.session.pressure(run.policy)


def _was_triggered(run: CaseRun) -> bool:
    began = any(
        attempt.automatic and len(attempt.tables_after["compactions"]) > len(attempt.tables_before["compactions"])
        for attempt in run.attempts
    )
    return bool(_pressure(run).due) or began


def _repeated(values: Sequence[Any], what: str) -> Iterator[str]:
    yield from (f"the {what} {value} stands twice" for value in sorted({one for one in values if values.count(one) > 1}))


STORE: Final[Mapping[str, CheckFunction]] = {
    function.__name__: function
    for function in (
        token_count, triggered, not_triggered, meter_parts, meter_method_recorded, meter_after_failure, compactions,
        message_count, no_duplicates, order_equals_input, sequence_contiguous, stable_reload, raw_text_occurs,
        coverage_is_ids, expand_equals_originals, equals_before_first_compaction, prefix_stable_renders, todo_equal,
        system_equals, parent_system_equals, search_hits,
    )
}  # fmt: skip
