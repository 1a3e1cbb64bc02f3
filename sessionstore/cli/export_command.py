"""``sessionstore export``: a conversation as text for other programs and for people."""
from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Literal
from uuid import uuid4

import click

from sessionstore.cli.arguments import names_a_session
from sessionstore.cli.settings import Settings, pass_settings


@click.command("export")
@names_a_session
@click.option(
    "--format",
    "format_",
    type=click.Choice(["jsonl", "openai", "markdown"]),
    default="jsonl",
    show_default=True,
    help="jsonl: a message a line, as stored. openai: one list, ready for a model. markdown: for people.",
)
@click.option("--lineage", "whole_lineage", is_flag=True, help="All generations with their state, to be imported elsewhere.")
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="A file in place of standard output.")
@pass_settings
def command(
    settings: Settings,
    reference: str,
    namespace: str | None,
    format_: Literal["jsonl", "openai", "markdown"],
    whole_lineage: bool,
    output: Path | None,
) -> None:
    """Write out a conversation.

    By default its context; with --lineage all of it, which `import` turns into an equal lineage.

    \b
    Examples
      sessionstore export fix-auth --format markdown
      sessionstore export fix-auth --lineage --output fix-auth.jsonl
    """
    with settings.open_existing() as store:
        session = store.resume(reference, namespace=namespace)
        pieces = store.export(session.id, format=format_, lineage=whole_lineage)
        if output is None:
            _write_out(pieces)
        else:
            _write_file(output, pieces)


def _write_out(pieces: Iterable[str]) -> None:
    # What is exported is UTF-8 whatever the terminal speaks: an import must find what was stored.
    for piece in pieces:
        sys.stdout.buffer.write(piece.encode("utf-8"))
    sys.stdout.buffer.flush()


def _write_file(target: Path, pieces: Iterable[str]) -> None:
    """Write beside the target first, so that a failure leaves an older export as it was."""
    unfinished = target.with_name(f".{target.name}.{uuid4().hex}")
    try:
        with unfinished.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(pieces)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
