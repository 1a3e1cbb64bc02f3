"""``sessionstore delete``: removes a conversation for good."""
from __future__ import annotations

import click

from sessionstore.cli.arguments import names_a_session
from sessionstore.cli.failure import OneLineError
from sessionstore.cli.figures import counted
from sessionstore.cli.settings import Settings, pass_settings
from sessionstore.cli.terminal import Terminal, printable


@click.command("delete")
@names_a_session
@click.option("--yes", "-y", is_flag=True, help="Don't ask.")
@pass_settings
def command(settings: Settings, reference: str, namespace: str | None, yes: bool) -> None:
    """Delete a whole conversation.

    Every generation and every message of it. There is no way back.

    \b
    Example
      sessionstore delete fix-auth --yes
    """
    with settings.open_existing() as store:
        trace = store.lineage(reference, namespace=namespace)
        lineage_id = trace.lineage.lineage_id
        title = f" ({printable(trace.lineage.title)})" if trace.lineage.title else ""
        size = f"{counted(len(trace.sessions), 'generation')}, {counted(trace.tip.next_seq, 'message')}"
        if not yes and not click.confirm(f"Delete {lineage_id}{title}, {size}?", err=True):
            raise OneLineError("nothing was deleted")
        store.delete(lineage_id)
    Terminal().print((f"deleted {lineage_id}, {size}", ""))
