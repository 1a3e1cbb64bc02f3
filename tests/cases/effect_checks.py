"""Checks of what the steps did to context, log and store, and of what the summariser was asked; each gives its faults."""
from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

import sessionstore
from sessionstore import SessionStoreError
from tests.cases.check_form import CheckFunction, out_of_bounds
from tests.cases.kept import Attempt
from tests.cases.pairing import all_text
from tests.cases.running import CaseFailed, CaseRun

Check = Mapping[str, Any]
Tables = Mapping[str, list[tuple[Any, ...]]]

_BRACKETS: Final = str.maketrans("‹›<>&", "_____")
_OF_THE_ATTEMPT: Final = frozenset({"strikes", "strike_seq", "cooldown_until"})


def shrinks(run: CaseRun, _check: Check) -> Iterator[str]:
    """The context has fewer tokens than before the first compaction, counted the same way."""
    if not run.attempts:
        yield "nothing was compacted"
        return
    before, now = run.attempts[0].pressure_before, run.session.pressure(run.policy)
    sizes = (before.tokens, now.tokens)
    if before.method != now.method:
        # A number that the provider measured can't be compared with an estimate.
        contexts = (run.attempts[0].context_before, run.session.context())
        sizes = (run.counter.count(all_text(contexts[0])), run.counter.count(all_text(contexts[1])))
    if sizes[1] >= sizes[0]:
        yield f"{sizes[0]} tokens before, {sizes[1]} now"


def monotone_tokens(run: CaseRun, _check: Check) -> Iterator[str]:
    """No attempt left more tokens than there were."""
    for attempt in run.attempts:
        if attempt.pressure_after.tokens > attempt.pressure_before.tokens:
            yield f"{attempt.pressure_before.tokens} tokens became {attempt.pressure_after.tokens}"


def unchanged(run: CaseRun, _check: Check) -> Iterator[str]:
    """The last attempt changed nothing and wasn't committed."""
    last = _last(run)
    yield from _differences(last)
    if last.status == "committed":
        yield "it was committed"


def store_unchanged(run: CaseRun, _check: Check) -> Iterator[str]:
    """All rows are as before the last attempt, but for its own job, the lineage's counters and flushed memories."""
    last = _last(run)
    job_id = None if last.result is None else last.result.job_id
    before, after = _comparable(last.tables_before, job_id, last), _comparable(last.tables_after, job_id, last)
    for table in sorted(before.keys() | after.keys()):
        if before.get(table) != after.get(table):
            gone = [row for row in before.get(table, []) if row not in after.get(table, [])]
            new = [row for row in after.get(table, []) if row not in before.get(table, [])]
            yield f"{table}: {str(gone)[:300]} became {str(new)[:300]}"


def source_rows_unchanged(run: CaseRun, _check: Check) -> Iterator[str]:
    """Every row of the input has the body that was stored for it at first."""
    for lineage_id, seq, body in run.inputs:
        rows = run.store.session(lineage_id).history(seq, seq)
        message = run.input_messages[lineage_id, seq]
        if [row.body for row in rows] != [body] or json.dumps(rows[0].message) != json.dumps(message):
            yield f"#{seq} was changed"


def idempotent(run: CaseRun, _check: Check) -> Iterator[str]:
    """The last step that wrote, once more, changes nothing."""
    from tests.cases.runner import carry_out  # the runner imports the checks

    if run.last_write is None:
        yield "no step wrote anything"
        return
    before = (run.log(), run.session.context(), len(run.store.lineage(run.root_id).sessions))
    # The repetition is no part of the run that the other checks look at.
    kept = {name: list(getattr(run, name)) for name in ("attempts", "errors", "loads", "inputs")}
    carry_out(run, run.last_write)
    for name, value in kept.items():
        setattr(run, name, value)
    after = (run.log(), run.session.context(), len(run.store.lineage(run.root_id).sessions))
    if before != after:
        yield f"doing {run.last_write['op']} again changed the store"


def fits(run: CaseRun, check: Check) -> Iterator[str]:
    """The context has at most so many tokens."""
    yield from out_of_bounds({"le": check["tokens"]}, run.session.pressure(run.policy).tokens, "tokens of the context")


def result_status(run: CaseRun, check: Check) -> Iterator[str]:
    """How the last compaction ended."""
    ended = [attempt for attempt in run.attempts if attempt.status is not None]
    if not ended:
        yield "no compaction gave a result"
    elif ended[-1].status != check["eq"]:
        reason = "" if ended[-1].result is None else f" ({ended[-1].result.reason})"
        yield f"it is {ended[-1].status}{reason}, not {check['eq']}"


def error(run: CaseRun, check: Check) -> Iterator[str]:
    """A step raised an error of that class."""
    kind = getattr(sessionstore, check["type"], None)
    if not isinstance(kind, type) or not issubclass(kind, SessionStoreError):
        raise CaseFailed(f"the package has no error {check['type']!r}")
    if not any(isinstance(recorded.error, kind) for recorded in run.errors):
        yield f"there was no {check['type']}, only {[type(recorded.error).__name__ for recorded in run.errors]}"


def no_exception(run: CaseRun, _check: Check) -> Iterator[str]:
    """No error was recorded."""
    yield from (f"{one.step} raised {type(one.error).__name__}: {one.error}" for one in run.errors)


def summarizer_calls(run: CaseRun, check: Check) -> Iterator[str]:
    """The summariser was asked so often."""
    yield from out_of_bounds(check, len(run.summarizer.requests), "calls of the summariser")


def summarizer_saw(run: CaseRun, check: Check) -> Iterator[str]:
    """Some question, or the one with that number, has a text."""
    prompts = run.summarizer.prompts
    looked_at = prompts if "call" not in check else prompts[check["call"] - 1 : check["call"]]
    if not any(check["text"] in prompt for prompt in looked_at):
        yield f"none of {len(looked_at)} inputs has {check['text']!r}"


def summarizer_not_saw(run: CaseRun, check: Check) -> Iterator[str]:
    """No question has a text."""
    yield from (f"{check['text']!r} is in an input" for prompt in run.summarizer.prompts if check["text"] in prompt)


def summarizer_input_nonempty(run: CaseRun, _check: Check) -> Iterator[str]:
    """Every question has some history in it."""
    yield from ("an input has no history" for request in run.summarizer.requests if not request.history.strip())


def summarizer_max_input(run: CaseRun, check: Check) -> Iterator[str]:
    """The largest question has at most so many tokens, instructions included."""
    largest = max((run.counter.count(prompt) for prompt in run.summarizer.prompts), default=0)
    yield from out_of_bounds(check, largest, "tokens of the largest input")


def prompt_fence_once(run: CaseRun, _check: Check) -> Iterator[str]:
    """The marks round the history occur once each, whatever is between them."""
    for request in run.summarizer.requests:
        # What looks like a mark may stand in the input in another form, so the brackets are not compared.
        start = request.prompt.translate(_BRACKETS).find(request.history.translate(_BRACKETS))
        if start < 0:
            yield "the history isn't in the input"
            continue
        opening = request.prompt[:start].rstrip("\n").rsplit("\n", 1)[-1]
        closing = request.prompt[start + len(request.history) :].lstrip("\n").split("\n", 1)[0]
        for mark in (opening, closing):
            if not mark.strip() or request.prompt.count(mark) != 1:
                yield f"the mark {mark!r} occurs {request.prompt.count(mark)} times"


def prompt_mentions_language(run: CaseRun, _check: Check) -> Iterator[str]:
    """Every question asks for the user's language."""
    for prompt in run.summarizer.prompts:
        if "language of the user" not in prompt.lower() and "user's language" not in prompt.lower():
            yield "an input doesn't ask for the language of the user"


def _last(run: CaseRun) -> Attempt:
    if not run.attempts:
        raise CaseFailed("nothing was compacted")
    return run.attempts[-1]


def _differences(last: Attempt) -> Iterator[str]:
    for what, before, after in (
        ("context", last.context_before, last.context_after),
        ("log", last.log_before, last.log_after),
        ("generations", last.generations_before, last.generations_after),
    ):
        if before != after:
            yield f"the {what} changed"


def _comparable(tables: Tables, job_id: str | None, last: Attempt) -> dict[str, list[tuple[Any, ...]]]:
    """The rows without what an attempt may leave behind: its job (the newest, where an exception hid its id) and counters."""
    known_jobs = {dict(row)["job_id"] for row in last.tables_before.get("compactions", [])}
    found: dict[str, list[tuple[Any, ...]]] = {}
    for table, rows in tables.items():
        if table == "compactions":
            found[table] = [row for row in rows if dict(row)["job_id"] != job_id and dict(row)["job_id"] in known_jobs]
        elif table == "lineages":
            found[table] = [tuple(pair for pair in row if pair[0] not in _OF_THE_ATTEMPT) for row in rows]
        elif table != "memories":
            found[table] = rows
    return found


EFFECT: Final[Mapping[str, CheckFunction]] = {
    function.__name__: function
    for function in (
        shrinks, monotone_tokens, unchanged, store_unchanged, source_rows_unchanged, idempotent, fits, result_status, error,
        no_exception, summarizer_calls, summarizer_saw, summarizer_not_saw, summarizer_input_nonempty, summarizer_max_input,
        prompt_fence_once, prompt_mentions_language,
    )
}  # fmt: skip
