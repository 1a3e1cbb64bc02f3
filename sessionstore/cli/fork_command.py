"""``sessionstore fork``: copies a conversation."""
from __future__ import annotations

import click

from sessionstore.cli.arguments import names_a_session, new_id, seq_of
from sessionstore.cli.figures import counted
from sessionstore.cli.settings import Settings, pass_settings
from sessionstore.cli.terminal import Terminal


@click.command("fork")
@names_a_session
@click.option("--at", "at_seq", type=seq_of, metavar="SEQ", help="The last message of the copy; without it all are copied.")
@click.option("--id", "fork_id", type=new_id, metavar="ID", help="Id of the copy; without it a new one is made.")
@click.option("--title", help="Title of the copy; without it the original's with a number.")
@pass_settings
def command(
    settings: Settings, reference: str, namespace: str | None, at_seq: int | None, fork_id: str | None, title: str | None
) -> None:
    """Copy a conversation, up to a message, under a new id.

    Messages keep their numbers. The copy stands alone: either can be deleted, and the original doesn't change.

    \b
    Examples
      sessionstore fork fix-auth
      sessionstore fork fix-auth --at 57 --id fix-auth-again
    """
    with settings.open_existing() as store:
        session = store.resume(reference, namespace=namespace).fork(fork_id, at_seq=at_seq, title=title)
        record = session.record()
    Terminal().print(
        ("forked: ", "green"),
        ("go on in ", ""),
        (session.id, "bold"),
        (f", {counted(record.flush_cursor, 'message')} in its context, {counted(record.next_seq, 'message')} in its log", ""),
    )
