"""Checks of what is said in the contexts, the log and the summaries; each gives the faults it finds."""
from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.cases.check_form import CheckFunction, last_load, loads_at, out_of_bounds, texts_at
from tests.cases.kept import Load
from tests.cases.pairing import all_text, blocks_of, result_ids_of, result_texts_of, spoken_text
from tests.cases.running import CaseRun

Check = Mapping[str, Any]

_REFERENCE: Final = re.compile(r"#(\d+)")
_IMAGES: Final = ("image_url", "image", "input_image")


def last_user_verbatim(run: CaseRun, check: Check) -> Iterator[str]:
    """The user's last message is there as it was, and no older one comes after it."""
    load = last_load(run)
    index = _last_request(load)
    if index is None:
        yield "there is no message of the user"
        return
    said = spoken_text(load.messages[index])
    if said != check["text"] and not (check.get("allow_merged") and check["text"] in said):
        yield f"the last user message says {said[:200]!r}"
    origin = [row.seq for row in load.rows if row.kind == "message" and spoken_text(row.message) == said]
    spoken = [row for row in load.rows if row.kind == "message" and spoken_text(row.message).strip()]
    requests = [row.seq for row in spoken if row.role == "user"]
    if origin and max(requests, default=-1) > max(origin):
        yield "a newer user message stands before it"


def last_user_has_image(run: CaseRun, _check: Check) -> Iterator[str]:
    """The images of the input's last user message are in it."""
    load = last_load(run)
    index = _last_request(load)
    said = [message for message in run.input_messages.values() if message.get("role") == "user"]
    given = [message for message in said if not result_ids_of(message)]
    wanted = [source for block in blocks_of(given[-1]) for source in _image_sources(block)] if given else []
    if not wanted:
        yield "the last user message of the input has no image"
    shown = "" if index is None else all_text(load.messages[index])
    yield from (f"the image {source[:60]!r} is gone" for source in wanted if source not in shown)


def contains_text(run: CaseRun, check: Check) -> Iterator[str]:
    """A text occurs."""
    for texts in texts_at(run, check.get("where", "loaded")):
        if not any(check["text"] in text for text in texts):
            yield f"{check['text']!r} doesn't occur"


def not_contains_text(run: CaseRun, check: Check) -> Iterator[str]:
    """A text doesn't occur."""
    for texts in texts_at(run, check.get("where", "loaded")):
        yield from (f"{check['text']!r} occurs in {text[:200]!r}" for text in texts if check["text"] in text)


def text_occurs(run: CaseRun, check: Check) -> Iterator[str]:
    """So many messages that aren't summaries have a text."""
    where = check.get("where", "loaded")
    if where == "raw":
        listed = [[all_text(row.message) for row in run.log() if row.kind != "summary"]]
    elif where in ("summary", "messages"):
        listed = texts_at(run, where)
    else:
        listed = [
            [all_text(message) for message in load.messages if not load.is_summary(message)] for load in loads_at(run, where)
        ]
    for texts in listed:
        yield from out_of_bounds(check, sum(check["text"] in text for text in texts), f"messages with {check['text']!r}")


def full_copies(run: CaseRun, check: Check) -> Iterator[str]:
    """So many tool results hold the whole of a text."""
    count = sum(check["text"] in text for message in last_load(run).messages for text in result_texts_of(message))
    yield from out_of_bounds(check, count, "full copies")


def stub_points_to_message(run: CaseRun, _check: Check) -> Iterator[str]:
    """Each back-reference of a pruned duplicate names a row of the context that has the full text."""
    load = last_load(run)
    log = {row.seq: row for row in run.log()}
    in_context = {row.seq for row in load.rows}
    found = 0
    for row in load.rows:
        if row.kind != "rendition":
            continue
        for text, full in zip(result_texts_of(row.message), result_texts_of(log[row.origin_seq].message), strict=True):
            for seq in {int(number) for number in _REFERENCE.findall(text)} - {row.origin_seq}:
                found += 1
                if seq not in log or seq not in in_context or full not in result_texts_of(log[seq].message):
                    yield f"the stub #{row.seq} points to #{seq}, which isn't the full text in the context"
    if not found:
        yield "no stub points anywhere"


def field_preserved(run: CaseRun, check: Check) -> Iterator[str]:
    """A message has a field with its value."""
    if not any(message.get(check["field"]) == check["value"] for message in last_load(run).messages):
        yield f"no message has {check['field']} = {check['value']!r}"


def bytes_equal_input(run: CaseRun, _check: Check) -> Iterator[str]:
    """Every input message is in the log as it came, imported ones byte for byte."""
    for (lineage_id, seq), message in run.input_messages.items():
        row = run.store.session(lineage_id).history(seq, seq)[0]
        if json.dumps(row.message) != json.dumps(message):
            yield f"#{seq} is {row.body[:100]!r} and was {json.dumps(message)[:100]!r}"
    if run.report is not None and "import_lines" in run.case.options:
        given = "".join(run.case.options["import_lines"])
        for lineage in run.report.lineages:
            for row in run.log(run.store.session(lineage.session_id)):
                if row.kind == "message" and row.body not in given:
                    yield f"#{row.seq} isn't the text of its line: {row.body[:100]!r}"


def summary_count(run: CaseRun, check: Check) -> Iterator[str]:
    """So many summaries."""
    where = check.get("where", "loaded")
    listed = [run.log()] if where == "raw" else [load.rows for load in loads_at(run, where)]
    for rows in listed:
        yield from out_of_bounds(check, sum(row.kind == "summary" for row in rows), "summaries")


def summary_tokens(run: CaseRun, check: Check) -> Iterator[str]:
    """The last summary has at most so many tokens."""
    summaries = [row for row in run.log() if row.kind == "summary"]
    if not summaries:
        yield "there is no summary"
        return
    yield from out_of_bounds(check, run.counter.count(spoken_text(summaries[-1].message)), "tokens of the summary")


def summary_not_contains(run: CaseRun, check: Check) -> Iterator[str]:
    """No summary and no ledger beside one has a text."""
    text = check["text"]
    summaries = [row for row in run.log() if row.kind == "summary"]
    yield from (f"the summary #{row.seq} has it" for row in summaries if text in all_text(row.message))
    trace = run.store.lineage(run.root_id, ledgers=True)
    for job in trace.compactions:
        if text in all_text([job.summary, dict(trace.ledgers.get(job.job_id, {}))]):
            yield f"the job {job.job_id} has it"


def references_stable(run: CaseRun, _check: Check) -> Iterator[str]:
    """What a summary referred to when it was written is the same row now."""
    log = {row.seq: row.body for row in run.log()}
    if not any(attempt.references for attempt in run.attempts):
        yield "no summary refers to anything"
    for attempt in run.attempts:
        for seq, body in attempt.references.items():
            if seq not in log:
                yield f"#{seq} isn't in the log"
            elif log[seq] != body or run.session.history(seq, seq)[0].body != body:
                yield f"#{seq} is another row now"


def _last_request(load: Load) -> int | None:
    for index in range(len(load.messages) - 1, -1, -1):
        message = load.messages[index]
        says_something = bool(spoken_text(message).strip()) or _has_image(message)
        if message.get("role") != "user" or not says_something:
            continue
        if not load.is_summary(message) and not load.is_bridge(message):
            return index
    return None


def _has_image(message: Mapping[str, Any]) -> bool:
    return any(block.get("type") in _IMAGES for block in blocks_of(message))


def _image_sources(block: Mapping[str, Any]) -> Iterator[str]:
    """The address of an image, or its data, which look the same in every dialect."""
    if block.get("type") not in _IMAGES:
        return
    source = block.get("image_url", block.get("source"))
    if isinstance(source, Mapping):
        source = source.get("url", source.get("data"))
    if isinstance(source, str):
        yield source.partition(";base64,")[2] or source


CONTENT: Final[Mapping[str, CheckFunction]] = {
    function.__name__: function
    for function in (
        last_user_verbatim, last_user_has_image, contains_text, not_contains_text, text_occurs, full_copies,
        stub_points_to_message, field_preserved, bytes_equal_input, summary_count, summary_tokens, summary_not_contains,
        references_stable,
    )
}  # fmt: skip
