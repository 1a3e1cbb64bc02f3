"""``sessionstore rewind``: goes back to a message."""
from __future__ import annotations

import click

from sessionstore.cli.arguments import names_a_session, seq_of
from sessionstore.cli.figures import counted
from sessionstore.cli.settings import Settings, pass_settings
from sessionstore.cli.terminal import Terminal


@click.command("rewind")
@names_a_session
@click.argument("seq", type=seq_of, metavar="SEQ")
@pass_settings
def command(settings: Settings, reference: str, namespace: str | None, seq: int) -> None:
    """Go back to an earlier message.

    Message SEQ stays; what came after it leaves the context and is kept in the log.

    \b
    Example
      sessionstore rewind fix-auth 57
    """
    with settings.open_existing() as store:
        session = store.resume(reference, namespace=namespace).rewind(seq)
        length = session.record().flush_cursor
    Terminal().print(
        (f"back at #{seq}: ", "green"),
        ("go on in ", ""),
        (session.id, "bold"),
        (f", {counted(length, 'message')} in its context", ""),
    )
