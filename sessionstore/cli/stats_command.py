"""``sessionstore stats``: the database in numbers."""
from __future__ import annotations

from dataclasses import asdict

import click

from sessionstore.cli.arguments import json_option
from sessionstore.cli.figures import counted, figure, iso_time, local_time
from sessionstore.cli.json_output import print_json
from sessionstore.cli.settings import Settings, pass_settings
from sessionstore.cli.terminal import Terminal


@click.command("stats")
@json_option
@pass_settings
def command(settings: Settings, as_json: bool) -> None:
    """Show the database in numbers.

    Conversations, messages, compactions by how they ended, bytes.

    \b
    Example
      sessionstore stats --json
    """
    with settings.open_existing() as store:
        found, url = store.stats(), store.url
    if as_json:
        times = {"oldest": iso_time(found.oldest), "last_activity": iso_time(found.last_activity)}
        print_json({"url": url, **asdict(found), **times})
        return
    terminal = Terminal()
    attempts = ", ".join(f"{count:,} {status}" for status, count in found.compactions.items()) or "none"
    lines = [
        ("database", f"{url}, {figure(found.bytes)} bytes"),
        ("conversations", f"{found.lineages:,}, {found.open_lineages:,} of them open, {counted(found.sessions, 'session')}"),
        ("messages", f"{found.messages:,}, and {found.summaries:,} summaries and {found.renditions:,} renditions"),
        ("compactions", f"{attempts}; {found.tokens_saved:,} tokens saved"),
    ]
    if found.oldest is not None and found.last_activity is not None:
        lines.append(("from, to", f"{local_time(found.oldest)}, {local_time(found.last_activity)}"))
    for name, value in lines:
        terminal.print((f"{name:<14}", "dim"), (value, ""))
