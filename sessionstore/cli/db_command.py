"""``sessionstore db``: the database's schema."""
from __future__ import annotations

from contextlib import closing

import click

from sessionstore.cli.arguments import json_option
from sessionstore.cli.json_output import print_json
from sessionstore.cli.settings import Settings, pass_settings
from sessionstore.cli.terminal import Terminal
from sessionstore.errors import SchemaError


@click.group("db")
def command() -> None:
    """Check or upgrade the database's schema."""


@command.command("upgrade")
@pass_settings
def upgrade(settings: Settings) -> None:
    """Create the database, or upgrade an older one.

    Rows stay as they are. Every command that opens the database for work does the same.

    \b
    Example
      sessionstore --db agent.db db upgrade
    """
    with settings.open() as store:
        Terminal().print((f"{store.url} is at revision {_newest()}, which is this version's", ""))


@command.command("current")
@json_option
@pass_settings
def current(settings: Settings, as_json: bool) -> None:
    """Show the revision the database is at.

    Nothing is changed.

    \b
    Example
      sessionstore db current --json
    """
    url, found = _found(settings)
    if as_json:
        print_json({"url": url, "revision": found, "expected": _newest()})
    else:
        Terminal().print((f"{url} is at revision {found or 'none'}; this version works with {_newest()}", ""))


@command.command("check")
@pass_settings
def check(settings: Settings) -> None:
    """Check that the database is up to date.

    That is, at the revision this version works with. Nothing is changed; exit status 1 when it isn't.

    \b
    Example
      sessionstore db check
    """
    url, found = _found(settings)
    if found != _newest():
        raise SchemaError(
            f"{url} is at revision {found or 'none'}, this version works with {_newest()}; run `sessionstore db upgrade`",
            found=found,
            expected=_newest(),
        )
    Terminal().print((f"{url} is at revision {found}, as it should be", ""))


def _found(settings: Settings) -> tuple[str, str | None]:
    from sessionstore.storage.schema import current_revision

    with closing(settings.existing_database()) as database:
        return database.url, database.read(current_revision)


def _newest() -> str:
    from sessionstore.storage.schema import HEAD

    return HEAD
