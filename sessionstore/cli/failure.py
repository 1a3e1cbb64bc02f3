"""How a failure looks: one line on stderr."""
from __future__ import annotations

from typing import Any

import click


class OneLineError(click.ClickException):
    """A failure as one line on stderr, exit status 1."""

    def show(self, file: Any = None) -> None:
        """Print it: ``error: `` and the message with its line breaks taken out."""
        print_error(self.message, file=file)


def print_error(message: str, *, file: Any = None) -> None:
    """Print one line on stderr: ``error: `` and the message with its line breaks taken out."""
    click.echo(f"error: {' '.join(message.split())}", err=True, file=file)
