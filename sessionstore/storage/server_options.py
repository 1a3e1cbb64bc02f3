"""How connections to a database server are opened: by driver, by what stands between, and by what each kind of unit needs."""
from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any, Final, Literal

from sqlalchemy.engine import URL

from sessionstore.errors import StoreUnavailableError

READING: Final = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
"""Execution options of a unit that only reads: every statement of it sees the same state."""

READING_ONCE: Final = {"isolation_level": "AUTOCOMMIT"}
"""Execution options of a unit that is a single query, which is a snapshot by itself and needs no transaction round it."""

TRUSTS_INDEX: Final = "sessionstore_trusts_index"
"""Execution option: the search index is written without savepoints, and its damage ends the transaction."""

WRITING: Final = {"isolation_level": "READ COMMITTED", "postgresql_readonly": False, TRUSTS_INDEX: True}
"""Execution options of a unit that writes: it takes the lock of its session or lineage, and sees what the last holder did."""

WRITING_GUARDED: Final = {**WRITING, TRUSTS_INDEX: False}
"""The same for a unit that met a damaged search index: it survives that."""

_POOLER: Final = "pooler"


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """What an engine is made with: the URL without our own parameters, and arguments of ``create_engine``.

    ``reads_once`` says whether a single query may go without a transaction round it.
    """

    url: URL
    arguments: dict[str, Any]
    reads_once: bool


def server_options(url: URL, *, busy_timeout: float, durability: Literal["full", "normal"]) -> ServerOptions:
    """Options for the URL of a server.

    ``?pooler=transaction`` is for a pooler that gives every transaction another connection (pgbouncer's transaction mode):
    nothing is prepared on a connection, and nothing is set on one. Without it a statement waits for a lock as long as
    ``busy_timeout`` allows, and ``durability="normal"`` lets a commit return before it is on the disk.
    Raises ``StoreUnavailableError`` for another pooler.
    """
    pooler = url.query.get(_POOLER)
    bare = url.difference_update_query([_POOLER])
    if pooler not in (None, "transaction"):
        raise StoreUnavailableError(
            url.render_as_string(hide_password=True), f"the pooler {pooler!r} is unknown; the only one is pooler=transaction"
        )
    is_asyncpg = bare.get_driver_name() == "asyncpg"
    connect: dict[str, Any] = {}
    if pooler is not None:
        if is_asyncpg:
            connect = {
                "statement_cache_size": 0,
                "prepared_statement_cache_size": 0,
                "prepared_statement_name_func": _unique_statement_name,
            }
        else:
            connect = {"prepare_threshold": None}
    else:
        settings = {"lock_timeout": str(max(1, round(busy_timeout * 1_000)))}
        if durability == "normal":
            settings["synchronous_commit"] = "off"
        if is_asyncpg:
            connect = {"server_settings": settings}
        elif "options" not in bare.query:
            connect = {"options": " ".join(f"-c {name}={value}" for name, value in settings.items())}
    # What an error shows of a statement must not be a message's text.
    arguments = {"connect_args": connect, "pool_timeout": busy_timeout, "hide_parameters": True}
    # asyncpg prepares even a single query, in a round trip of its own: behind a pooler both must meet the same connection.
    return ServerOptions(bare, arguments, reads_once=not (is_asyncpg and pooler is not None))


def _unique_statement_name() -> str:
    return f"sessionstore_{uuid.uuid4().hex}"
