"""``sessionstore doctor``: looks for breaches of what the store promises, and mends them."""
from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from sessionstore.cli.arguments import json_option
from sessionstore.cli.figures import UNKNOWN, counted
from sessionstore.cli.json_output import print_json
from sessionstore.cli.settings import Settings, pass_settings
from sessionstore.cli.terminal import Column, Terminal, printable

if TYPE_CHECKING:
    from sessionstore.domain.health.finding import DoctorReport, Finding

DAMAGE_LEFT = 1
"""Exit status when damage is left: for a cron job that tells somebody."""


@click.command("doctor")
@click.option("--repair", is_flag=True, help="Mend what needs no model. Rows of a log are never changed.")
@json_option
@pass_settings
def command(settings: Settings, repair: bool, as_json: bool) -> None:
    """Look for faults in the database.

    The file, the schema, every conversation, the search index. Exit status 1 when damage is left, 0 when there is none, or all
    of it was repaired. Calls without a result, and results without a call, are oddities that a caller wrote: every rendering
    mends them, and they don't count.

    \b
    Examples
      sessionstore doctor
      sessionstore doctor --repair --json
    """
    with settings.open_existing() as store:
        report = store.doctor(repair=repair)
    if as_json:
        print_json(
            {
                "healthy": report.is_healthy,
                "lineages": report.lineages,
                "findings": [{**asdict(finding), "damage": finding.is_damage} for finding in report],
            }
        )
    else:
        _print(report)
    if not report.is_healthy:
        click.get_current_context().exit(DAMAGE_LEFT)


def _print(report: DoctorReport) -> None:
    terminal = Terminal()
    seen = f"{counted(report.lineages, 'conversation')} examined"
    if not report:
        terminal.print(("healthy", "bold green"), (f": {seen}, nothing found", ""))
        return
    columns = [Column("state"), Column("code"), Column("where", whole=True), Column("what")]
    terminal.table(columns, [_row(one) for one in report])
    left = sum(finding.is_damage and not finding.repaired for finding in report)
    mended = sum(finding.repaired for finding in report)
    terminal.print((f"{seen}; {counted(len(report), 'finding')}, {mended} repaired, {left} left as damage", "bold"))


def _row(finding: Finding) -> list[tuple[str, str]]:
    state = ("repaired", "green") if finding.repaired else ("damage", "bold red") if finding.is_damage else ("oddity", "dim")
    place = finding.session_id or finding.lineage_id or UNKNOWN
    where = place if finding.seq is None else f"{place} #{finding.seq}"
    return [state, (finding.code, ""), (printable(where), "bold"), (printable(finding.message), "")]
