"""``sessionstore import``: brings in transcripts."""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from sessionstore.cli.arguments import json_option, new_id
from sessionstore.cli.failure import print_error
from sessionstore.cli.figures import counted
from sessionstore.cli.json_output import print_json
from sessionstore.cli.settings import Settings, pass_settings
from sessionstore.cli.terminal import Terminal, printable
from sessionstore.errors import SchemaError, SessionStoreError, StoreLockedError, StoreUnavailableError

if TYPE_CHECKING:
    from sessionstore.formats.report import ImportedLineage, ImportReport
    from sessionstore.store import SessionStore

DAMAGE_SHOWN: Final = 20
"""Damaged lines that are named one by one; --json has all of them."""

LARGE_FILE: Final = 1_000_000
"""Bytes from which a file gets a progress bar."""

_OF_THE_STORE: Final = (StoreUnavailableError, StoreLockedError, SchemaError)
"""What ends the whole import: the next file would meet it too."""

ImportFormat = Literal["auto", "jsonl", "openai", "claude-code", "sessionstore"]


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["auto", "jsonl", "openai", "claude-code", "sessionstore"]),
    default="auto",
    show_default=True,
    help="auto looks at the content.",
)
@click.option("--id", "wanted_id", type=new_id, metavar="ID", help="Id for the conversation; for a single file.")
@click.option("--title", metavar="TITLE", help="Title for the conversation; for a single file.")
@json_option
@pass_settings
def command(
    settings: Settings, files: tuple[Path, ...], format_: ImportFormat, wanted_id: str | None, title: str | None, as_json: bool
) -> None:
    """Bring in transcripts of agents.

    Formats: OpenAI chat as JSON or JSON Lines, Claude Code sessions, exports of this program. What can be read comes
    in, and damaged lines are reported with their number. Importing a file again adds nothing, and a file that has grown
    adds what is new. Exit status 1 when a file could not be read at all; the others still come in.

    \b
    Examples
      sessionstore import transcript.jsonl --id fix-auth --title "Fix auth"
      sessionstore import ~/.claude/projects/*/*.jsonl
    """
    if len(files) > 1 and (wanted_id is not None or title is not None):
        raise click.UsageError("--id and --title are for a single file")
    documents: list[dict[str, Any]] = []
    failed = 0
    with settings.open() as store:
        for path in files:
            try:
                with _progress(path) as tell:
                    report = store.import_file(path, format=format_, id=wanted_id, title=title, progress=tell)
                tokens = {done.session_id: _tokens(store, done) for done in report.lineages}
            except _OF_THE_STORE:
                raise
            except SessionStoreError as error:
                failed += 1
                message = str(error) if str(path) in str(error) else f"{path}: {error}"
                print_error(message)
                documents.append({"name": str(path), "error": str(error)})
                continue
            if as_json:
                documents.append({**report.to_json(), "name": str(path)})
            else:
                _print_report(path, report, tokens)
    if as_json:
        print_json(documents)
    if failed:
        click.get_current_context().exit(1)


def _tokens(store: SessionStore, done: ImportedLineage) -> int:
    """Tokens of the context, counted now, so that `list` knows them and a compaction needn't wait for it."""
    return store.session(done.session_id).pressure().parts["history"]


def _print_report(path: Path, report: ImportReport, tokens: dict[str, int]) -> None:
    terminal = Terminal()
    terminal.print((printable(str(path)), "bold"), (f": {report.format}, {report.imported:,} of {_found(report)} imported", ""))
    for done in report.lineages:
        parts = [f"{done.imported:,} imported", f"{done.skipped:,} already there"]
        if done.compactions:
            parts.append(counted(done.compactions, "compaction"))
        parts.append(f"{tokens[done.session_id]:,} tokens in context")
        relation = f" ({done.relation})" if done.relation is not None else ""
        verb = "created" if done.created else "continued" if done.imported else "unchanged"
        terminal.print(
            (f"  {verb} ", "green" if done.imported else "dim"),
            (printable(done.session_id), "bold"),
            (f"{relation}: {', '.join(parts)}", ""),
        )
    if report.left_out:
        listed = ", ".join(f"{count:,} {kind}" for kind, count in report.left_out.items())
        terminal.print((printable(f"  left out, as they hold no message: {listed}"), "dim"))
    for line in report.damaged[:DAMAGE_SHOWN]:
        terminal.print((f"  damaged line {line.line}: ", "yellow"), (printable(line.reason), ""))
    if len(report.damaged) > DAMAGE_SHOWN:
        terminal.print((f"  and {len(report.damaged) - DAMAGE_SHOWN:,} more damaged lines; --json lists them all", "yellow"))
    if report.notes:
        first = report.notes[0]
        others = f", and {len(report.notes) - 1:,} more such lines" if len(report.notes) > 1 else ""
        terminal.print((printable(f"  odd but complete: line {first.line}: {first.note}{others}"), "dim"))


def _found(report: ImportReport) -> str:
    return counted(report.imported + report.skipped, "message")


@contextmanager
def _progress(path: Path) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on stderr while a large file comes in, where stderr is a terminal."""
    if not sys.stderr.isatty() or not path.is_file() or path.stat().st_size < LARGE_FILE:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        # Without a total the bar only moves: the file is still being read.
        task = bar.add_task(path.name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
