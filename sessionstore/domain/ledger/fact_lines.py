"""Facts as lines of a summary: under which heading each stands, how it reads, and how much it matters."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from sessionstore.domain import sections
from sessionstore.domain.ledger.deeds import MUTATIONS, error_origin
from sessionstore.domain.ledger.entry import FactKind, Ledger, LedgerEntry
from sessionstore.domain.ledger.fact_line import (
    BRIEF_LENGTH, FactLine, LedgerSight, answer_in_brief, quoted_text, short_command, shortened, without_lead_in,
)
from sessionstore.domain.ledger.result_facts import is_failure
from sessionstore.domain.ledger.sentences import LABEL, is_constraint, is_decision
from sessionstore.domain.ledger.worth import SCRATCH, answer_worth, deed_worth, reference_worth, sentence_worth

_LONG_REQUEST: Final = 700
_SHORT_REQUEST: Final = 240
_COMMAND_SHOWN: Final = 240
_ANSWER_SHOWN: Final = 120
_COVERED: Final = 0.6
_SENTENCE_BRIEF: Final = 200
_COMMAND_BRIEF: Final = 200
_ERROR_BRIEF: Final = 300
_LENGTH_PENALTY: Final = 12.0
"""Most that a long command loses: a script is better read at its seq than quoted in part."""
_QUESTION_SHOWN: Final = 160
_ORIGIN_SHOWN: Final = 80
_FILES_IN_STATE: Final = 12
_OPERATION_ORDER: Final = ("created", "written", "edited", "moved away", "deleted", "read", "searched")
_SOURCE_WEIGHT: Final = {"user": 66.0, "assistant": 56.0, "call": 44.0, "bulk": 24.0, "output": 22.0}
_REFERENCE_NAMES: Final = {"url": "URL", "id": "id", "commit": "commit", "host": "host", "port": "port", "version": "version",
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


def _request(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    if entry.last_seq == sight.active_seq:
        return None
    text = _remaining_text(entry, sight)
    if not text:
        return None
    first = entry.key == sight.first_request
    repeats = sight.repeats.get(entry.text, [entry])
    if entry.closed_by is not None and entry.key != repeats[0].key:
        return None
    if entry.about == "injected":
        notice = f"In the user's role: {quoted_text(text, 120)}"
        return sight.line(entry, sections.CRITICAL_CONTEXT, notice, 12, "notices", group=9)
    if entry.closed_by is None:
        quoted = quoted_text(text, _LONG_REQUEST)
        return sight.line(entry, sections.PENDING_ASKS, quoted, 92, "requests without an answer")
    quoted = quoted_text(text, _LONG_REQUEST if first and not sight.brief else _SHORT_REQUEST)
    recent = entry.last_seq >= sight.recent_from
    if recent and entry.outcome:
        quoted += f" → {shortened(entry.outcome, _ANSWER_SHOWN)}"
    seqs = (*(repeat.last_seq for repeat in repeats), entry.closed_by)
    return sight.line(
        entry, sections.GOAL, quoted, 108 if first else 84 if recent else 56, "answered requests", seqs=tuple(sorted(set(seqs))),
        brief=quoted_text(text, BRIEF_LENGTH), worth=80 if first and not sight.is_recited(entry) else 10,
    )


def _remaining_text(entry: LedgerEntry, sight: LedgerSight) -> str:
    """The request without sentences that a later one replaced; empty when it was answered and other lines say most of it."""
    text = entry.text
    said = 0
    for fact in sight.binding.get(entry.last_seq, ()):
        if fact.closed_by is not None:
            text = text.replace(fact.text, "")
        elif fact.text in text:
            said += len(fact.text)
    text = text.strip()
    covered = said >= _COVERED * len(text) and entry.closed_by is not None and entry.key != sight.first_request
    return "" if covered else text


def _constraint(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    if entry.closed_by is not None:
        return None
    score = 100.0 if entry.source == "user" else 46.0
    if sight.is_crowded(entry):
        score -= 40 if entry.source == "user" else 16
    return sight.line(
        entry, sections.CONSTRAINTS, sight.worded(entry.text), score, "constraints",
        brief=without_lead_in(entry.text, is_constraint), worth=sentence_worth(entry, crowded=sight.is_crowded(entry), recited=sight.is_recited(entry)),
    )


def _statement(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    if entry.closed_by is not None:
        return None
    crowded = sight.is_crowded(entry)
    return sight.line(
        entry, sections.CRITICAL_CONTEXT, sight.worded(entry.text), 50.0 if crowded else 94.0, "facts the user gave",
        brief=LABEL.sub("", entry.text), worth=sentence_worth(entry, crowded=crowded, recited=sight.is_recited(entry)),
    )


def _finding(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    brief = shortened(entry.text, _SENTENCE_BRIEF)
    worth = sentence_worth(entry)
    return sight.line(entry, sections.CRITICAL_CONTEXT, entry.text, 46, "findings", group=1, brief=brief, worth=worth)


def _decision(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    brief = shortened(without_lead_in(entry.text, is_decision), _SENTENCE_BRIEF)
    worth = sentence_worth(entry)
    return sight.line(entry, sections.KEY_DECISIONS, entry.text, 64, "decisions", brief=brief, worth=worth)


def _question(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    text = shortened(entry.text, _QUESTION_SHOWN)
    if entry.closed_by is not None:
        answer = shortened(entry.outcome, _ANSWER_SHOWN)
        brief = answer_in_brief(text, answer)
        return sight.line(
            entry, sections.RESOLVED_QUESTIONS, f"{text} → {answer}", 46, "answered questions",
            seqs=(*entry.seqs, entry.closed_by), brief=brief, core=brief,
            worth=answer_worth(entry.text, entry.outcome),
        )
    if entry.source == "assistant":
        return sight.line(entry, sections.IN_PROGRESS, f"Asked the user, no answer yet: {text}", 76, "open questions", group=2)
    return None


def _command(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    text = f"{entry.ordinal}. `{shortened(entry.text, _COMMAND_SHOWN)}` → {entry.outcome or 'no result'}"
    now = entry.outcome.split(":")[0] or "no result"
    if before := [f"{status.split(':')[0]} #{seq}" for seq, status in entry.outcomes if status.split(":")[0] != now]:
        text += f" (before: {before[-1]})"
    score = {"tests": 66.0, "run": 64.0, "look": 26.0}[entry.about]
    brief = f"`{short_command(entry.text, _COMMAND_BRIEF)}` → {now}"
    worth = deed_worth(entry, told_by_error=entry.about != "tests" and error_origin(entry.text) in sight.error_origins)
    score -= min(_LENGTH_PENALTY, len(entry.text) / 40)
    if is_failure(now):
        score += 8
    core = f"{entry.text}` → {now}"
    if not entry.outcome and entry.last_seq >= sight.recent_from:
        text = f"`{shortened(entry.text, _COMMAND_SHOWN)}` has no result yet"
        return sight.line(entry, sections.IN_PROGRESS, text, 88, "commands", core=core)
    return sight.line(
        entry, sections.COMPLETED_ACTIONS, text, score, "commands", place=entry.ordinal, brief=brief, core=core, worth=worth
    )


def _action(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    text = f"{entry.ordinal}. {shortened(entry.text, _COMMAND_SHOWN)}"
    if entry.outcome not in ("", "ok"):
        text += f" → {entry.outcome}"
    score = {"file": 40.0, "tool": 42.0, "look": 16.0}[entry.about]
    brief = shortened(entry.text, BRIEF_LENGTH)
    worth = deed_worth(entry)
    return sight.line(
        entry, sections.COMPLETED_ACTIONS, text, score, "actions", place=entry.ordinal, brief=brief, worth=worth
    )


def _file(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    operations = dict(entry.operations)
    done = [_counted(name, len(operations[name])) for name in _OPERATION_ORDER if name in operations]
    changed = bool(MUTATIONS & operations.keys())
    score = 72.0 if changed else 60.0 if "read" in operations else 14.0
    score += min(len(entry.seqs), 5) - (20 if entry.text.startswith(SCRATCH) else 0)
    group = 0 if changed else 1
    lead = next(name for name in _OPERATION_ORDER if name in operations)
    plural = "changed files" if changed else "files read" if "read" in operations else "places searched"
    text = f"{entry.text} ({', '.join(done)})"
    return sight.line(
        entry, sections.RELEVANT_FILES, text, score, plural, group=group, place=0, brief=entry.text, lead=lead,
        worth=deed_worth(entry),
    )


def _error(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    text = f"{' ⏎ '.join(entry.text.splitlines())} (from {shortened(entry.about, _ORIGIN_SHOWN)})"
    brief, worth = shortened(entry.text, _ERROR_BRIEF), deed_worth(entry)
    if entry.closed_by is not None:
        return sight.line(
            entry, sections.CRITICAL_CONTEXT, f"Resolved #{entry.closed_by}: {text}", 62, "resolved errors", group=3,
            brief=brief, lead="resolved errors", worth=worth,
        )
    if entry.last_seq >= sight.recent_from:
        return sight.line(entry, sections.BLOCKED, text, 86, "errors not seen resolved", brief=brief, worth=worth)
    return sight.line(
        entry, sections.CRITICAL_CONTEXT, f"Earlier error: {text}", 67, "earlier errors", group=2, brief=brief,
        lead="earlier errors", worth=worth,
    )


def _todo(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    match entry.outcome:
        case "in_progress":
            return sight.line(entry, sections.IN_PROGRESS, entry.text, 94, "todos in progress")
        case "pending":
            return sight.line(entry, sections.REMAINING_WORK, entry.text, 90, "pending todos")
        case "completed":
            return sight.line(entry, sections.COMPLETED_ACTIONS, f"Done: {entry.text}", 36, "completed todos", group=1)
        case _:
            return None


def _next(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    if entry.closed_by is not None:
        return None
    return sight.line(entry, sections.REMAINING_WORK, entry.text, 74, "next steps", group=1)


def _reference(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    if (entry.source == "user" and sight.is_replaced(entry)) or sight.is_housed(entry):
        return None
    score = _SOURCE_WEIGHT[entry.source]
    if entry.about in ("number", "version") and entry.source != "user":
        score -= 14
    if entry.about in ("id", "commit") and entry.source in ("user", "assistant"):
        score += 12
    if entry.source == "user" and sight.is_crowded(entry):
        score -= 24
    name = _REFERENCE_NAMES[entry.about]
    text = entry.text if entry.about in ("number", "port") else f"{name} {entry.text}"
    return sight.line(
        entry, sections.CRITICAL_CONTEXT, text, score, f"{name}s", group=5 + (entry.about != "url"), brief=entry.text,
        lead=f"{name}s", worth=reference_worth(entry, crowded=entry.source == "user" and sight.is_crowded(entry)),
    )


def _state(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    names = {"directory": "Working directory", "branch": "Branch", "commit": "Last commit", "tests": "Last test run"}
    seq = entry.outcomes[-1][0]
    return sight.line(entry, sections.ACTIVE_STATE, f"{names[entry.key]}: {entry.text}", 96, "states", seqs=(seq,))


_WRITERS: Final[Mapping[FactKind, Callable[[LedgerEntry, LedgerSight], FactLine | None]]] = {
    "request": _request, "constraint": _constraint, "statement": _statement, "finding": _finding, "decision": _decision,
    "question": _question, "command": _command, "action": _action, "file": _file, "error": _error, "todo": _todo, "next": _next,
    "reference": _reference, "state": _state,
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
    text = f"Modified {since} ({_counted('file', len(changed), plural='files')}, newest first): {shown}"
    text += f", + {more} more" if more > 0 else ""
    seqs = (min(seq for seq, _entry in changed), changed[0][0])
    cited = f"#{seqs[0]}–#{seqs[1]}" if seqs[0] != seqs[1] else f"#{seqs[0]}"
    yield FactLine(sections.ACTIVE_STATE, f"{text} {cited}", text, seqs, 110, (1, 0, ""), "states")


def _counted(word: str, count: int, *, plural: str = "") -> str:
    if plural:
        return f"{count} {word if count == 1 else plural}"
    return word if count == 1 else f"{word} {count}×"
