"""``sessionstore undo``: takes a compaction back."""
from __future__ import annotations

import click

from sessionstore.cli.arguments import names_a_session
from sessionstore.cli.figures import counted
from sessionstore.cli.settings import Settings, pass_settings
from sessionstore.cli.terminal import Terminal


@click.command("undo")
@names_a_session
@pass_settings
def command(settings: Settings, reference: str, namespace: str | None) -> None:
    """Take back the newest compaction.

    That is, the newest one in force. What was said since stays. Undoing again goes further back.

    \b
    Example
      sessionstore undo fix-auth
    """
    with settings.open_existing() as store:
        session = store.resume(reference, namespace=namespace).undo_compaction()
        length = session.record().flush_cursor
    Terminal().print(
        ("undone: ", "green"), ("go on in ", ""), (session.id, "bold"), (f", {counted(length, 'message')} in its context", "")
    )
