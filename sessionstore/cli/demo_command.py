"""``sessionstore demo``: a real conversation, compacted twice, before your eyes."""
from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from sessionstore.cli.context_meter import context_tokens_of
from sessionstore.cli.figures import counted, saving, spans_text
from sessionstore.cli.lineage_tree import lineage_tree
from sessionstore.cli.settings import database_url
from sessionstore.cli.terminal import Terminal, printable

if TYPE_CHECKING:
    from sessionstore.session import Session
    from sessionstore.store import SessionStore

DEMO_ID: Final = "tallybook"
"""Id of the conversation of the demo."""

CONTEXT_WINDOW: Final = 48_000
"""Window of the imagined model: its threshold, half of it, is passed by the first part and again by the second."""

FIRST_PART: Final = 142
"""Lines of the transcript that come in before the first compaction: up to a request of the user two thirds on."""

_TITLE: Final = "The June statement"
_SECTION_LINES: Final = 2
_SECTION_WIDTH: Final = 110


@click.command("demo")
@click.option(
    "--keep",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PATH",
    help="Keep the scratch database as this file, to go on with.",
)
def command(keep: Path | None) -> None:
    """See a real conversation compacted and traced.

    A recorded conversation of a coding agent is compacted twice. It works on a scratch database, needs no network and
    no model, and takes a few seconds.

    \b
    Examples
      sessionstore demo
      sessionstore demo --keep demo.db
    """
    if keep is not None and keep.exists():
        raise click.BadParameter(f"{keep} exists already; give a new name", param_hint="--keep")
    from sessionstore.store import SessionStore

    terminal = Terminal()
    with _database_file(keep) as path, _transcript() as (first_part, whole):
        terminal.print(("scratch database ", "dim"), (str(path), "bold"))
        with SessionStore.open(database_url(str(path))) as store:
            _play(terminal, store, first_part, whole)
            _show_what_is_left(terminal, store)
    _say_what_next(terminal, keep)


@contextmanager
def _database_file(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="sessionstore-demo-") as folder:
        yield Path(folder) / "demo.db"


@contextmanager
def _transcript() -> Iterator[tuple[Path, Path]]:
    """The transcript that ships with the package, as a file that ends in the middle and as the whole one."""
    bundled = resources.files("sessionstore.cli") / "demo_transcript.jsonl"
    with resources.as_file(bundled) as whole, tempfile.TemporaryDirectory(prefix="sessionstore-demo-") as folder:
        first_part = Path(folder) / "first_part.jsonl"
        lines = whole.read_text(encoding="utf-8").splitlines(keepends=True)
        first_part.write_text("".join(lines[:FIRST_PART]), encoding="utf-8")
        yield first_part, whole


def _play(terminal: Terminal, store: SessionStore, first_part: Path, whole: Path) -> None:
    _heading(terminal, "1. A coding agent works on a bug; its first messages come in")
    brought = store.import_file(first_part, id=DEMO_ID, title=_TITLE)
    session = store.resume(DEMO_ID)
    session.set_model("recorded", CONTEXT_WINDOW)
    _say_pressure(terminal, session, brought.imported)
    _heading(terminal, "2. Compaction: a summary takes the place of the oldest messages")
    _compact(terminal, session)
    _heading(terminal, "3. The agent goes on, in the continuation")
    brought = store.import_file(whole, id=DEMO_ID)
    session = store.resume(DEMO_ID)
    _say_pressure(terminal, session, brought.imported)
    _heading(terminal, "4. Compaction again: the second summary updates the first")
    _compact(terminal, session)


def _say_pressure(terminal: Terminal, session: Session, imported: int) -> None:
    pressure = session.pressure()
    terminal.print(
        (f"{counted(imported, 'message')} imported into ", ""),
        (session.id, "bold"),
        (f": {pressure.tokens:,} tokens of a window of {CONTEXT_WINDOW:,}, ", ""),
        ("time to compact" if pressure.due else "not yet time to compact", "yellow"),
    )


def _compact(terminal: Terminal, session: Session) -> None:
    result = session.compact()
    result.raise_for_status()
    terminal.print(
        (f"{result.status}: {result.outcome.session_id} → ", ""),
        (result.session.id, "bold green"),
        (f"  {result.tokens_before:,} → {result.tokens_after:,} tokens", "cyan"),
        (f" ({saving(result.tokens_before, result.tokens_after)})", "green"),
        (f", {result.messages_before} → {result.messages_after} messages", ""),
    )


def _show_what_is_left(terminal: Terminal, store: SessionStore) -> None:
    from sessionstore.domain.section_parsing import parse_sections
    from sessionstore.domain.sections import SECTIONS
    from sessionstore.domain.summary import previous_body

    trace = store.lineage(DEMO_ID)
    _heading(terminal, "The lineage: who continues whom, and what went where")
    terminal.tree(lineage_tree(trace, context_tokens_of(store, trace)))
    session = store.resume(DEMO_ID)
    rows = session.context_rows()
    summary = next(row for row in rows if row.kind == "summary")
    _heading(terminal, f"The summary, #{summary.seq}, shortened here")
    sections = parse_sections(previous_body(str(summary.message["content"])))
    for heading in SECTIONS:
        terminal.print((heading, "bold"))
        _print_shortened(terminal, sections.get(heading, "None."))
    _heading(terminal, "What the model is sent now")
    recent = [(row.seq, row.seq) for row in rows if row.kind != "summary"]
    first, last = recent[0][0], recent[-1][0]
    terminal.print(
        (f"the system prompt, the summary #{summary.seq}, and {counted(len(recent), 'message')} word for word", ""),
        (f" ({spans_text([(first, last)])}): {session.pressure().tokens:,} tokens", "cyan"),
    )
    replaced = len(session.expand(summary.seq))
    terminal.print(
        (f"nothing is lost: the log has all its {trace.tip.next_seq} rows, among them the {replaced} that ", ""),
        (f"#{summary.seq} stands for, and undo brings them back", ""),
    )


def _print_shortened(terminal: Terminal, text: str) -> None:
    lines = printable(text).split("\n")
    for line in lines[:_SECTION_LINES]:
        whole = len(line) <= _SECTION_WIDTH
        terminal.text(line if whole else f"{line[: _SECTION_WIDTH - 1]}…", indent=2)
    if len(lines) > _SECTION_LINES:
        terminal.text(f"… {counted(len(lines) - _SECTION_LINES, 'more line')}", style="dim", indent=2)


def _say_what_next(terminal: Terminal, keep: Path | None) -> None:
    _heading(terminal, "What to try next")
    program = f"sessionstore --db {keep or 'demo.db'}"
    suggestions = [
        (f"{program} show {DEMO_ID}", "the context as the model sees it"),
        (f"{program} show {DEMO_ID} --range 0-9", "the beginning, word for word"),
        (f"{program} undo {DEMO_ID}", "take the last compaction back"),
        (f"{program} export {DEMO_ID} --format markdown", "the conversation for people"),
        ("sessionstore import YOUR-TRANSCRIPT.jsonl", "your own conversations"),
    ]
    if keep is None:
        suggestions.insert(0, ("sessionstore demo --keep demo.db", "keep the database of this demo"))
    width = max(len(command_line) for command_line, _ in suggestions)
    for command_line, what in suggestions:
        terminal.print((command_line.ljust(width), "bold"), (f"  {what}", "dim"))


def _heading(terminal: Terminal, text: str) -> None:
    terminal.print()
    terminal.print((text, "bold underline" if terminal.is_interactive else ""))
