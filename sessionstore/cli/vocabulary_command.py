"""``sessionstore vocabulary``: what tokens are counted with."""
from __future__ import annotations

from pathlib import Path

import click

from sessionstore.cli.terminal import Terminal


@click.group("vocabulary")
def command() -> None:
    """Fetch what tokens are counted with."""


@command.command("download")
@click.option("--url", metavar="URL", help="A mirror, or the path of a local file. Default: the official address.")
@click.option(
    "--folder", type=click.Path(file_okay=False, path_type=Path), help="Where to put it. Default: the user's cache folder."
)
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), default=60.0, show_default=True, help="Seconds.")
def download(url: str | None, folder: Path | None, timeout: float) -> None:
    """Fetch the vocabulary of OpenAI's newer models.

    This command is the only thing that uses the network. It is needed only where the package bpe-openai is missing, and
    tokens are estimated without it.

    \b
    Example
      sessionstore vocabulary download --url ./o200k_base.tiktoken
    """
    from sessionstore.counting.vocabulary import VOCABULARY_URL, download_vocabulary

    path = download_vocabulary(folder, url=url or VOCABULARY_URL, timeout=timeout)
    Terminal().print((f"the vocabulary is in {path}", ""))
