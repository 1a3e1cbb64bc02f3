"""``sessionstore backup``: a copy of the database that was compared with it."""
from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from sessionstore.cli.arguments import json_option
from sessionstore.cli.figures import counted
from sessionstore.cli.json_output import print_json
from sessionstore.cli.settings import Settings, pass_settings
from sessionstore.cli.terminal import Terminal


@click.command("backup")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@json_option
@pass_settings
def command(settings: Settings, file: Path, as_json: bool) -> None:
    """Copy the database to a file.

    Others may write meanwhile. The copy is compared with the database row by row before it takes the file's place. SQLite only.

    \b
    Example
      sessionstore backup sessions-backup.db
    """
    with settings.open_existing() as store:
        report = store.backup(file)
    if as_json:
        print_json(asdict(report))
    else:
        Terminal().print((f"{report.path}: {counted(report.rows, 'row')} compared, {counted(report.bytes, 'byte')}", ""))
