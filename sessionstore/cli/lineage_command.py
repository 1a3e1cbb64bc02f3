"""``sessionstore lineage``: what was compacted when, into what, and where the rest is."""
from __future__ import annotations

import click

from sessionstore.cli.arguments import json_option, names_a_session
from sessionstore.cli.context_meter import context_tokens_of
from sessionstore.cli.json_output import print_json
from sessionstore.cli.lineage_json import lineage_json
from sessionstore.cli.lineage_tree import lineage_tree
from sessionstore.cli.settings import Settings, pass_settings
from sessionstore.cli.terminal import Terminal


@click.command("lineage")
@names_a_session
@json_option
@pass_settings
def command(settings: Settings, reference: str, namespace: str | None, as_json: bool) -> None:
    """Trace what was compacted when, and into what.

    The generations of the conversation are drawn as a tree, with every compaction, undo and rewind between them.

    \b
    Examples
      sessionstore lineage fix-auth
      sessionstore lineage fix-auth --json
    """
    with settings.open_existing() as store:
        trace = store.lineage(reference, namespace=namespace, ledgers=as_json)
        tokens = context_tokens_of(store, trace)
    if as_json:
        print_json(lineage_json(trace, tokens))
    else:
        Terminal().tree(lineage_tree(trace, tokens))
