"""Facts as lines of a summary: under which heading each stands, how it reads, and how much it matters."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from sessionstore.domain import sections
from sessionstore.domain.ledger.deed_lines import action_line, command_line, error_line, file_line
from sessionstore.domain.ledger.deeds import MUTATIONS
from sessionstore.domain.ledger.entry import FactKind, Ledger, LedgerEntry
from sessionstore.domain.ledger.fact_line import FactLine, LedgerSight
from sessionstore.domain.ledger.references import NAMES
from sessionstore.domain.ledger.speech_lines import (
    constraint_line,
    decision_line,
    finding_line,
    question_line,
    request_line,
    statement_line,
)
from sessionstore.domain.ledger.worth import reference_worth

_FILES_IN_STATE: Final = 12
_SOURCE_WEIGHT: Final = {"user": 66.0, "assistant": 56.0, "call": 44.0, "bulk": 24.0, "output": 22.0}
_REFERENCE_NAMES: Final = {"url": "URL", "id": "id", "commit": "commit", "host": "host", "port": "port", "version": "version",
                           "path": "path",
                           "number": "number"}


def fact_lines(ledger: Ledger, *, active_seq: int | None, brief: bool = False) -> list[FactLine]:
    """Every fact that still holds as a line; ``active_seq`` is the request that Active Task quotes, left out here.

    What a later fact replaced (a value, a plan, a todo taken off the list) has no line. ``brief`` leaves out LABELS: that
    only repeat the heading.
    """
    sight = LedgerSight(ledger, active_seq, brief=brief)
    lines: list[FactLine] = []
    for entry in ledger.entries:
        line = _WRITERS[entry.kind](entry, sight)
        if line is not None:
            lines.append(line)
    lines.extend(_modified_files(sight))
    if sight.first_request is None and active_seq is not None:
        text = f"What the request under Active Task asks #{active_seq}"
        lines.append(FactLine(sections.GOAL, text, text, (active_seq,), 98, (0, 0, ""), "answered requests"))
    return lines


def _todo(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    match entry.outcome:
        case "in_progress":
            return sight.line(entry, sections.IN_PROGRESS, entry.text, 94, "todos in progress")
        case "pending":
            return sight.line(entry, sections.REMAINING_WORK, entry.text, 90, "pending todos")
        case "completed":
            text = f"Done: {entry.text}"
            return sight.line(
                entry, sections.COMPLETED_ACTIONS, text, 36, "completed todos", group=1, brief=entry.text, lead="done", worth=20
            )
        case _:
            return None


def _next(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    if entry.closed_by is not None:
        return None
    return sight.line(entry, sections.REMAINING_WORK, entry.text, 74, "next steps", group=1)


def _reference(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    if entry.about == "path" and sight.is_known_file(entry.text):
        return None
    housed = sight.is_housed(entry)
    if entry.closed_by is not None or (housed and entry.about not in NAMES):
        return None
    if entry.source == "user" and sight.is_replaced(entry):
        return None
    score = _SOURCE_WEIGHT[entry.source]
    if housed:
        # Its sentence says it better; where there is no room for that, the name alone still leads there.
        score -= 50
    if entry.about in ("number", "version") and entry.source != "user":
        score -= 14
    if entry.about in ("id", "commit") and entry.source in ("user", "assistant"):
        score += 12
    if entry.source == "user" and sight.is_crowded(entry):
        score -= 24
    name = _REFERENCE_NAMES[entry.about]
    worth = reference_worth(entry, crowded=entry.source == "user" and sight.is_crowded(entry), housed=housed)
    text = entry.text if entry.about in ("number", "port") else f"{name} {entry.text}"
    return sight.line(
        entry, sections.CRITICAL_CONTEXT, text, score, f"{name}s", group=5 + (entry.about != "url"), brief=entry.text,
        lead=f"{name}s", worth=worth,
    )


def _state(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    names = {"directory": "Working directory", "branch": "Branch", "commit": "Last commit", "tests": "Last test run"}
    seq = entry.outcomes[-1][0]
    return sight.line(entry, sections.ACTIVE_STATE, f"{names[entry.key]}: {entry.text}", 96, "states", seqs=(seq,))


_WRITERS: Final[Mapping[FactKind, Callable[[LedgerEntry, LedgerSight], FactLine | None]]] = {
    "request": request_line, "constraint": constraint_line, "statement": statement_line, "finding": finding_line,
    "decision": decision_line, "question": question_line, "command": command_line, "action": action_line, "file": file_line,
    "error": error_line, "todo": _todo, "next": _next, "reference": _reference, "state": _state,
}


def _modified_files(sight: LedgerSight) -> Iterator[FactLine]:
    changed: list[tuple[int, LedgerEntry]] = []
    for entry in sight.ledger.of_kind("file"):
        last = max((seqs[-1] for name, seqs in entry.operations if name in MUTATIONS), default=-1)
        if last > sight.last_commit:
            changed.append((last, entry))
    if not changed:
        return
    changed.sort(key=lambda item: -item[0])
    since = "since the last commit" if sight.last_commit >= 0 else "so far"
    shown = ", ".join(entry.text for _seq, entry in changed[:_FILES_IN_STATE])
    more = len(changed) - _FILES_IN_STATE
    text = f"Modified {since} ({len(changed)} {'file' if len(changed) == 1 else 'files'}, newest first): {shown}"
    text += f", + {more} more" if more > 0 else ""
    seqs = (min(seq for seq, _entry in changed), changed[0][0])
    cited = f"#{seqs[0]}–#{seqs[1]}" if seqs[0] != seqs[1] else f"#{seqs[0]}"
    yield FactLine(sections.ACTIVE_STATE, f"{text} {cited}", text, seqs, 110, (1, 0, ""), "states")
