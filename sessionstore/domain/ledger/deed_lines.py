"""What was done as lines of a summary: commands, actions, files, and the errors that came of them."""
from __future__ import annotations

from typing import Final

from sessionstore.domain import sections
from sessionstore.domain.ledger.deeds import MUTATIONS
from sessionstore.domain.ledger.entry import LedgerEntry
from sessionstore.domain.ledger.fact_line import BRIEF_LENGTH, FactLine, LedgerSight, short_command, shortened
from sessionstore.domain.ledger.open_errors import error_origin
from sessionstore.domain.ledger.result_facts import is_failure, status_in
from sessionstore.domain.ledger.worth import SCRATCH, deed_worth, is_exact

_COMMAND_SHOWN: Final = 240
_COMMAND_BRIEF: Final = 200
_OUTCOME_BRIEF: Final = 60
_ERROR_BRIEF: Final = 300
_ORIGIN_SHOWN: Final = 80
_LENGTH_PENALTY: Final = 12.0
"""Most that a long command loses: a script is better read at its seq than quoted in part."""
_OPERATION_ORDER: Final = ("created", "written", "edited", "moved away", "deleted", "read", "searched")


def command_line(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    """A command with its exit status, and an earlier one where it was another."""
    text = f"{entry.ordinal}. `{shortened(entry.text, _COMMAND_SHOWN)}` → {entry.outcome or 'no result'}"
    now = status_in(entry.outcome) or shortened(entry.outcome, _OUTCOME_BRIEF) or "no result"
    if before := [f"{status} #{seq}" for seq, told in entry.outcomes if (status := status_in(told)) not in ("", now)]:
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


def action_line(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    """A tool call that is no command, with what it came to."""
    text = f"{entry.ordinal}. {shortened(entry.text, _COMMAND_SHOWN)}"
    if entry.outcome not in ("", "ok", "done"):
        text += f" → {entry.outcome}"
    score = {"file": 40.0, "tool": 42.0, "look": 16.0}[entry.about]
    brief = shortened(entry.text, BRIEF_LENGTH)
    if entry.about == "tool" and is_exact(entry.outcome):
        brief += f" → {shortened(entry.outcome, _OUTCOME_BRIEF)}"
    worth = deed_worth(entry)
    return sight.line(
        entry, sections.COMPLETED_ACTIONS, text, score, "actions", place=entry.ordinal, brief=brief, worth=worth
    )


def file_line(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    """A path with what was done to it."""
    operations = dict(entry.operations)
    counts = {name: len(operations[name]) for name in _OPERATION_ORDER if name in operations}
    done = [name if count == 1 else f"{name} {count}×" for name, count in counts.items()]
    changed = bool(MUTATIONS & operations.keys())
    score = 72.0 if changed else 60.0 if "read" in operations else 14.0
    score += min(len(entry.seqs), 5) - (20 if entry.text.startswith(SCRATCH) else 0)
    group = 0 if changed else 1
    lead = next(iter(counts))
    plural = "changed files" if changed else "files read" if "read" in operations else "places searched"
    text = f"{entry.text} ({', '.join(done)})"
    return sight.line(
        entry, sections.RELEVANT_FILES, text, score, plural, group=group, place=0, brief=entry.text, lead=lead,
        worth=deed_worth(entry),
    )


def error_line(entry: LedgerEntry, sight: LedgerSight) -> FactLine | None:
    """An error verbatim: still open, seen earlier, or resolved."""
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
