"""``sessionstore pin``: keeps messages out of every compaction."""
from __future__ import annotations

import click

from sessionstore.cli.arguments import SEQ, names_a_session
from sessionstore.cli.figures import spans_text
from sessionstore.cli.settings import Settings, pass_settings
from sessionstore.cli.terminal import Terminal
from sessionstore.domain.spans import spans_of


@click.command("pin")
@names_a_session
@click.argument("seqs", type=SEQ, nargs=-1, required=True, metavar="SEQ...")
@click.option("--remove", is_flag=True, help="Let them go at the next compaction.")
@pass_settings
def command(settings: Settings, reference: str, namespace: str | None, seqs: tuple[int, ...], remove: bool) -> None:
    """Keep messages of the context word for word through every compaction.

    \b
    Examples
      sessionstore pin fix-auth 14 15
      sessionstore pin fix-auth 14 --remove
    """
    with settings.open() as store:
        session = store.resume(reference, namespace=namespace)
        if remove:
            session.unpin(*seqs)
        else:
            session.pin(*seqs)
        pins = store.lineage(session.id).lineage.pins
    Terminal().print((f"{session.lineage_id}: pinned {spans_text(spans_of(pins))}", ""))
