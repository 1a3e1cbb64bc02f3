"""``sessionstore search``: finds messages by their words."""
from __future__ import annotations

import click

from sessionstore.cli.arguments import json_option
from sessionstore.cli.figures import ago, iso_time
from sessionstore.cli.json_output import print_json
from sessionstore.cli.settings import Settings, pass_settings
from sessionstore.cli.terminal import Terminal, note, printable


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@click.option("--lineage", metavar="ID", help="Look in this conversation only.")
@click.option("--namespace", metavar="NAME", help="Look in this namespace only.")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Messages to show at most.")
@click.option("--summaries", is_flag=True, help="Look in summaries and shortened messages too.")
@click.option("--build-index", is_flag=True, help="First make a full-text index, which is kept up from then on.")
@json_option
@pass_settings
def command(
    settings: Settings,
    query: tuple[str, ...],
    lineage: str | None,
    namespace: str | None,
    limit: int,
    summaries: bool,
    build_index: bool,
    as_json: bool,
) -> None:
    """Find messages by their words.

    Messages that no context holds any more are found too. All words must be in the message; each is found from its beginning,
    and case doesn't matter. The newest come first. Without a full-text index every message is read: that is fast enough for
    some hundred thousand.

    \b
    Examples
      sessionstore search timeout src/auth.py
      sessionstore search ECONNREFUSED --lineage fix-auth
      sessionstore search --build-index deploy
    """
    import time

    with settings.open_existing() as store:
        if build_index:
            note(f"indexed {store.rebuild_search_index():,} messages")
        hits = store.search(" ".join(query), lineage=lineage, namespace=namespace, limit=limit, derived=summaries)
    if as_json:
        print_json(
            [
                {
                    "session_id": hit.session_id,
                    "lineage_id": hit.lineage_id,
                    "seq": hit.seq,
                    "role": hit.role,
                    "kind": hit.kind,
                    "snippet": hit.snippet,
                    "created_at": iso_time(hit.created_at),
                }
                for hit in hits
            ]
        )
        return
    terminal = Terminal()
    for hit in hits:
        kind = "" if hit.kind == "message" else f" {hit.kind}"
        when = ago(hit.created_at, time.time())
        terminal.print((f"{hit.session_id} #{hit.seq}", "bold"), (f"  {hit.role}{kind}, {when}", "dim"))
        terminal.text(printable(hit.snippet), indent=2)
    if not hits:
        note("no message holds all of these words")
