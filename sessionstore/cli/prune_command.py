"""``sessionstore prune``: removes conversations that have long been quiet."""
from __future__ import annotations

import re
from dataclasses import asdict
from typing import Final

import click

from sessionstore.cli.arguments import json_option
from sessionstore.cli.failure import OneLineError
from sessionstore.cli.figures import UNKNOWN, counted, iso_time, local_time
from sessionstore.cli.json_output import print_json
from sessionstore.cli.settings import Settings, pass_settings
from sessionstore.cli.terminal import Column, Terminal, printable

_UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def length_of_time(text: str) -> float:
    """Seconds from ``90d``, ``12h``, ``30m``, ``45s`` or ``2w``."""
    match = re.fullmatch(r"([0-9]{1,9})([smhdw])", text.strip().lower())
    if match is None:
        raise click.BadParameter(f"{text!r} is no length of time, such as 90d, 12h or 2w")
    return float(int(match.group(1)) * _UNITS[match.group(2)])


@click.command("prune")
@click.option("--older-than", required=True, type=length_of_time, metavar="TIME", help="Quiet for so long: 90d, 12h.")
@click.option("--namespace", metavar="NAME", help="Those of this namespace only.")
@click.option("--ended", "ended_only", is_flag=True, help="Those only that have ended.")
@click.option("--dry-run", is_flag=True, help="Show which, and delete nothing.")
@click.option("--yes", "-y", is_flag=True, help="Don't ask.")
@json_option
@pass_settings
def command(
    settings: Settings,
    older_than: float,
    namespace: str | None,
    ended_only: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Delete conversations that are long quiet.

    Each goes whole, with every generation; one with any activity since is kept whole. There is no way back.

    \b
    Examples
      sessionstore prune --older-than 90d --dry-run
      sessionstore prune --older-than 90d --ended --yes
    """
    with settings.open_existing() as store:
        found = store.prune(older_than=older_than, namespace=namespace, ended_only=ended_only, dry_run=True)
        if found and not dry_run:
            if not yes and not click.confirm(f"Delete {counted(len(found), 'conversation')}?", err=True):
                raise OneLineError("nothing was deleted")
            found = store.prune(older_than=older_than, namespace=namespace, ended_only=ended_only)
    if as_json:
        listed = [{**asdict(one), "last_activity": iso_time(one.last_activity)} for one in found]
        print_json({"deleted": not dry_run, "lineages": listed})
        return
    terminal = Terminal()
    if found:
        columns = [Column("id", whole=True), Column("title"), Column("messages", numeric=True), Column("last active")]
        terminal.table(
            columns,
            [
                [
                    (printable(one.lineage_id), "bold"),
                    (printable(one.title or UNKNOWN), ""),
                    (f"{one.messages:,}", ""),
                    (local_time(one.last_activity), "dim"),
                ]
                for one in found
            ],
        )
    verb = "would be deleted" if dry_run else "deleted"
    terminal.print((f"{counted(len(found), 'conversation')} {verb}", ""))
