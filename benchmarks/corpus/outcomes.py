"""What a compaction makes of every real transcript, at windows from small to large."""
from __future__ import annotations

from collections import Counter
from pathlib import Path

from benchmarks.corpus.readers import FOLDER, bring_in, corpus_files
from benchmarks.report import Cell, Table
from benchmarks.settings import Settings, scratch
from sessionstore import Session, SessionStore
from sessionstore.domain.closed_sets import Profile
from tests.validity import faults

WINDOWS = (8_000, 32_000, 128_000)
PROFILES: tuple[Profile, ...] = ("openai", "anthropic", "responses", "strict")
MOST = 40
"""Conversations of one file that are tried; some files hold hundreds of short ones."""


def corpus_outcomes(settings: Settings) -> list[Table]:
    """A row a file and window."""
    files = corpus_files()
    if not files:
        note = f"there is no corpus at {FOLDER}: set SESSIONSTORE_CORPUS"
        return [Table("Real transcripts", ("transcript",), (), (note,))]
    rows: list[tuple[Cell, ...]] = []
    for file in files[:: settings.pick(1, 12)]:
        rows += [_row(file, window, settings.pick(MOST, 2)) for window in WINDOWS]
    columns = (
        "transcript",
        "window",
        "conversations",
        "outcomes",
        "messages before",
        "after",
        "tokens before",
        "after ",
        "not smaller",
        "still over the window",
        "invalid renderings",
    )
    notes = (
        "manual compactions without a model; messages and tokens are sums over the conversations that were compacted",
        f"a rendering is the continuation's context for one of {', '.join(PROFILES)}, read by the tests' own validator",
        f"of a file with many conversations the first {MOST} are taken",
    )
    totals = [f"{window:,}: {_total(rows, window)}" for window in WINDOWS]
    return [Table("Real transcripts", columns, tuple(rows), (*notes, *totals))]


def _row(file: Path, window: int, most: int) -> tuple[Cell, ...]:
    statuses: Counter[str] = Counter()
    sums: Counter[str] = Counter()
    with scratch() as folder, SessionStore.open(f"sqlite:///{folder}/corpus.db") as store:
        sessions = bring_in(store, file)[:most]
        for session_id in sessions:
            session = store.resume(session_id)
            result = session.compact(context_window=window)
            statuses[result.status] += 1
            sums["invalid"] += _invalid(result.session)
            if result.status == "committed":
                sums["before"] += result.tokens_before
                sums["after"] += result.tokens_after
                sums["messages before"] += result.messages_before
                sums["messages after"] += result.messages_after
                sums["over"] += result.tokens_after > window
                sums["larger"] += result.tokens_after >= result.tokens_before
    outcomes = ", ".join(f"{status} {count}" for status, count in sorted(statuses.items())) or "nothing to read"
    counted: tuple[Cell, ...] = (sums["messages before"], sums["messages after"], sums["before"], sums["after"])
    counted += (sums["larger"], sums["over"], sums["invalid"])
    return (f"{file.parent.name}/{file.name}", window, len(sessions), outcomes, *counted)


def _invalid(session: Session) -> int:
    has_user = any(row.message.get("role") == "user" for row in session.context_rows())
    found = 0
    for profile in PROFILES:
        listed = faults(session.render(profile), profile)
        found += bool([fault for fault in listed if has_user or fault != "no user message"])
    return found


def _total(rows: list[tuple[Cell, ...]], window: int) -> str:
    outcomes: Counter[str] = Counter()
    for row in rows:
        if row[1] == window:
            for part in str(row[3]).split(", "):
                name, _, count = part.rpartition(" ")
                outcomes[name] += int(count) if count.isdigit() else 0
    return ", ".join(f"{name} {count}" for name, count in sorted(outcomes.items()) if count)
