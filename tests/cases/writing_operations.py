"""Operations that write messages, sessions and settings, and how a case's own messages get into the store."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from datetime import datetime
from typing import Any, Final

from sessionstore import Session, SessionStoreError
from tests.cases.bringing_in import bring_in_summary
from tests.cases.kept import Thread
from tests.cases.outside_operations import plant_fixture
from tests.cases.pairing import plain_text
from tests.cases.running import DEFAULT_WINDOW, START, CaseFailed, CaseRun, need

Step = Mapping[str, Any]


def append_all(run: CaseRun, _step: Step) -> None:
    """Create the case's session and append its messages one at a time."""
    options = run.case.options
    for title in options.get("other_titles", []):
        run.store.create_session(title=title)
    prompt, messages = _split_prompt(run.case.messages)
    session = run.store.create_session(
        id=run.case.id,
        title=options.get("title"),
        context_window=options.get("context_tokens", DEFAULT_WINDOW),
        profile=run.profile,
        system_prompt=prompt,
        tool_schema_tokens=options.get("tool_schema_tokens", 0),
    )
    run.root_id = session.id
    run.threads[None] = Thread(session, [])
    offset = len(run.case.messages) - len(messages)
    run.main_branch = messages[0].get("_meta", {}).get("branch") if messages else None
    place: tuple[Thread, int] | None = None
    for message in messages:
        meta = message.get("_meta", {})
        if meta.get("kind") == "summary":
            first, last = meta["covers"]
            bring_in_summary(run, _without_meta(message), (first - offset, last - offset))
            place = None
            continue
        if "ts" in meta:
            run.clock.at = _seconds(meta["ts"])
        thread = _thread_of(run, meta.get("branch"), place)
        seq = _append_one(run, thread, _without_meta(message))
        place = place if seq is None else (thread, seq)
    if "todo" in options:
        need(run.session, "task").write_todos(options["todo"])
    plant_fixture(run)


def import_lines(run: CaseRun) -> None:
    """Bring in the lines of the case and go on in the conversation that they become."""
    lines = run.case.options["import_lines"]
    run.report = run.store.import_lines(lines, format="jsonl")
    if not run.report.lineages:
        raise CaseFailed("the import made no conversation")
    session = run.store.resume(run.report.lineages[0].session_id)
    run.root_id = session.lineage_id
    run.threads[None] = Thread(session, session.context())


def append(run: CaseRun, step: Step) -> None:
    """Append messages to the session held, or through a handle on the very first one."""
    if step.get("session") not in (None, "root"):
        raise CaseFailed(f"append knows no session {step['session']!r}")
    messages = deepcopy(step["messages"])
    session = run.store.session(run.root_id) if step.get("session") == "root" else run.session
    seqs = session.append(messages)
    run.remember_input(run.root_id, seqs, messages)
    run.main.held += messages


def buffer(run: CaseRun, step: Step) -> None:
    """Let the writer's list grow without a word to the store."""
    run.main.held += deepcopy(step["messages"])


def flush(run: CaseRun, _step: Step) -> None:
    """Flush the list held."""
    _flush(run, run.main.held)


def flush_full_list(run: CaseRun, step: Step) -> None:
    """Let the list grow and flush the whole of it."""
    run.main.held += deepcopy(step["extra"])
    _flush(run, run.main.held)


def flush_with_history(run: CaseRun, step: Step) -> None:
    """Flush the list from before the last compaction, with something new, to the session held now."""
    if step["history"] != "pre-compaction":
        raise CaseFailed(f"flush_with_history knows no history {step['history']!r}")
    _flush(run, [*run.held_before_compact, *deepcopy(step["messages"])])


def report_usage(run: CaseRun, step: Step) -> None:
    """Tell what a provider measured."""
    run.session.record_usage(prompt=step["tokens"], completion=0)


def add_child(run: CaseRun, step: Step) -> None:
    """Add a lineage that names this one; the session held stays."""
    before = run.clock.at
    if "started_at" in step:
        run.clock.at = START + float(step["started_at"])
    try:
        if step["kind"] == "branch":
            need(run.session, "fork")()
        elif step["kind"] in ("subagent", "reset"):
            run.store.create_session(relation=step["kind"], forked_from=run.session.id)
        else:
            raise CaseFailed(f"add_child knows no kind {step['kind']!r}")
    finally:
        run.clock.at = before


def rewind(run: CaseRun, step: Step) -> None:
    """Go back to a message of the case, by its index."""
    _rewind_to(run, step["to"] - (len(run.case.messages) - len(_split_prompt(run.case.messages)[1])))


def rewind_in_lineage(run: CaseRun, step: Step) -> None:
    """Go back to the newest message whose whole text is the given one, wherever it is in the log."""
    messages = [row for row in run.log() if row.kind == "message"]
    found = [row.seq for row in messages if plain_text(row.message.get("content")) == step["to_text"]]
    if not found:
        raise CaseFailed(f"no message says {step['to_text']!r}")
    _rewind_to(run, found[-1])


def undo_compaction(run: CaseRun, step: Step) -> None:
    """Undo the newest compaction; with ``error_or_fork`` a typed error is as good."""
    if step.get("expect") not in (None, "error_or_fork"):
        raise CaseFailed(f"undo_compaction knows no outcome {step['expect']!r}")
    try:
        _go_on(run, run.session.undo_compaction())
    except SessionStoreError as error:
        run.record("undo_compaction", error, excused="expect" in step)


def advance_clock(run: CaseRun, step: Step) -> None:
    """Let time pass."""
    run.clock.at += float(step["seconds"])


def _rewind_to(run: CaseRun, seq: int) -> None:
    _go_on(run, run.session.rewind(seq))


def _go_on(run: CaseRun, session: Session) -> None:
    run.main.session = session
    run.main.held = session.context()


def _flush(run: CaseRun, messages: Sequence[Mapping[str, Any]]) -> None:
    seqs = run.session.flush(messages)
    run.remember_input(run.root_id, seqs, messages[len(messages) - len(seqs) :])


def _append_one(run: CaseRun, thread: Thread, message: dict[str, Any]) -> int | None:
    try:
        seqs = thread.session.append(message)
    except SessionStoreError as error:
        run.record("append_all", error)
        return None
    run.remember_input(thread.session.lineage_id, seqs, [message])
    thread.held.append(message)
    return seqs[0]


def _thread_of(run: CaseRun, branch: str | None, place: tuple[Thread, int] | None) -> Thread:
    """The thread of a branch; a new one is a fork made at the row before."""
    if branch not in (None, run.main_branch) and branch not in run.threads:
        if place is None:
            raise CaseFailed(f"there is no row before the branch {branch!r}")
        fork = need(place[0].session, "fork")(at_seq=place[1])
        run.threads[branch] = Thread(fork, fork.context())
    return run.thread(branch)


def _split_prompt(messages: Sequence[Mapping[str, Any]]) -> tuple[str | None, Sequence[Mapping[str, Any]]]:
    if messages and messages[0].get("role") in ("system", "developer"):
        return plain_text(messages[0].get("content")), messages[1:]
    return None, messages


def _without_meta(message: Mapping[str, Any]) -> dict[str, Any]:
    stored = {key: deepcopy(value) for key, value in message.items() if key != "_meta"}
    meta = message.get("_meta", {})
    if "provider_item_id" in meta:
        stored["id"] = meta["provider_item_id"]
    if "requires" in meta:
        stored["requires"] = meta["requires"]
    return stored


def _seconds(moment: Any) -> float:
    return datetime.fromisoformat(moment).timestamp() if isinstance(moment, str) else float(moment)


WRITING: Final[Mapping[str, Callable[[CaseRun, Step], None]]] = {
    "append_all": append_all,
    "append": append,
    "buffer": buffer,
    "flush": flush,
    "flush_full_list": flush_full_list,
    "flush_with_history": flush_with_history,
    "report_usage": report_usage,
    "add_child": add_child,
    "rewind": rewind,
    "rewind_in_lineage": rewind_in_lineage,
    "undo_compaction": undo_compaction,
    "advance_clock": advance_clock,
}
