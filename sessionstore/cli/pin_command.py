"""``sessionstore pin``: keeps messages out of every compaction."""
from __future__ import annotations

import click

from sessionstore.cli.arguments import names_a_session, seq_of
from sessionstore.cli.figures import spans_text
from sessionstore.cli.settings import Settings, pass_settings
from sessionstore.cli.terminal import Terminal
from sessionstore.domain.spans import spans_of


@click.command("pin")
@names_a_session
@click.argument("seqs", type=seq_of, nargs=-1, required=True, metavar="SEQ...")
@click.option("--remove", is_flag=True, help="Let them go at the next compaction.")
@pass_settings
def command(settings: Settings, reference: str, namespace: str | None, seqs: tuple[int, ...], remove: bool) -> None:
    """Keep messages whole through every compaction.

    They stay in the context word for word until they are removed from the pins.

    \b
    Examples
      sessionstore pin fix-auth 14 15
      sessionstore pin fix-auth 14 --remove
    """
    with settings.open_existing() as store:
        session = store.resume(reference, namespace=namespace)
        if remove:
            session.unpin(*seqs)
        else:
            session.pin(*seqs)
        pins = store.lineage(session.id).lineage.pins
    Terminal().print((f"{session.lineage_id}: pinned {spans_text(spans_of(pins))}", ""))
