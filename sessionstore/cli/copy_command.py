"""``sessionstore copy``: moves conversations between databases."""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict

import click

from sessionstore.cli.arguments import json_option
from sessionstore.cli.figures import counted
from sessionstore.cli.json_output import print_json
from sessionstore.cli.settings import Settings
from sessionstore.cli.terminal import Terminal


@click.command("copy")
@click.argument("source", metavar="SOURCE_URL")
@click.argument("target", metavar="TARGET_URL")
@json_option
def command(source: str, target: str, as_json: bool) -> None:
    """Copy every conversation of a database into another.

    Both are URLs (postgresql+psycopg://user@host/agents) or paths of SQLite files; the target's tables are created.
    Each conversation is written in one transaction and compared with the original by number and digest of its rows. A
    copy that was broken off is run again: it goes on where it was. A conversation that went another way at the target
    ends it with exit status 1; one that is there in an earlier state is replaced.

    \b
    Example
      sessionstore copy store.db moved.db
    """
    from sessionstore.formats.copying import copy_store
    from sessionstore.storage.engines import Database
    from sessionstore.storage.schema import prepare_schema

    reading, writing = Settings(source).existing_database(), Database(Settings(target).url())
    try:
        for database in (reading, writing):
            prepare_schema(database)
        with _progress() as tell:
            report = copy_store(reading, writing, tell=tell)
    finally:
        reading.close()
        writing.close()
    if as_json:
        print_json(asdict(report))
        return
    parts = [f"{counted(report.copied, 'conversation')} copied with {counted(report.rows, 'row')}"]
    parts.append(f"{report.unchanged:,} there already")
    Terminal().print((f"{', '.join(parts)}; all compared", ""))


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None] | None]:
    """A bar on a terminal, None elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("copying", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
