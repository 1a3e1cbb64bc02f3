"""What the global options say, and the way from them to an open store."""
from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import click

if TYPE_CHECKING:
    from sessionstore.storage.engines import Database
    from sessionstore.store import SessionStore

DATABASE_VARIABLE: Final = "SESSIONSTORE_DB"
"""Environment variable that names the database when ``--db`` doesn't."""

DEFAULT_FILE: Final = "sessions.db"
"""Name of the SQLite file in the user's data folder."""

_IN_MEMORY: Final = ":memory:"


class Settings(NamedTuple):
    """The global options. ``database`` is a URL or a path, None for the default file."""

    database: str | None = None

    def url(self) -> str:
        """The database's URL; the folder of the default file is created."""
        if self.database is not None:
            return database_url(self.database)
        import platformdirs

        folder = platformdirs.user_data_path("sessionstore")
        folder.mkdir(parents=True, exist_ok=True)
        return database_url(str(folder / DEFAULT_FILE))

    def open(self) -> SessionStore:
        """The store, with its schema created or upgraded; close it at the end."""
        from sessionstore.store import SessionStore

        return SessionStore.open(self.url())

    def open_existing(self) -> SessionStore:
        """The same for a command about what is there. Raises ``StoreUnavailableError`` where there is no SQLite file."""
        from sessionstore.store import SessionStore

        return SessionStore.open(self._existing_url())

    def existing_database(self) -> Database:
        """The database as it is: nothing is created or upgraded. Raises ``StoreUnavailableError`` for a missing SQLite file."""
        from sessionstore.storage.engines import Database

        return Database(self._existing_url())

    def _existing_url(self) -> str:
        from pathlib import Path

        from sessionstore.errors import StoreUnavailableError

        url = self.url()
        path = url.removeprefix("sqlite:///").removeprefix("file:")
        if url.startswith("sqlite:///") and not Path(path.partition("?")[0]).exists():
            advice = "there is no such file; `sessionstore import` or `sessionstore db upgrade` creates it"
            raise StoreUnavailableError(url, advice)
        return url


pass_settings = click.make_pass_decorator(Settings)
"""Gives a command the settings as its first argument."""


def database_url(text: str) -> str:
    """A URL as it is, and the path of a SQLite file as its URL.

    ``agent.db`` gives ``sqlite:///agent.db``, ``/var/agent.db`` gives ``sqlite:////var/agent.db``.
    """
    if "://" in text:
        return text
    if text == _IN_MEMORY:
        return "sqlite://"
    from pathlib import Path

    return f"sqlite:///{Path(text).expanduser()}"
