"""A Citus cluster that somebody runs: ``SESSIONSTORE_TEST_CITUS`` is a URL of its coordinator, for a role that may create
databases and extensions.

A database of a test is made on every node, with the extension, and the nodes are told of each other in it.
"""
from __future__ import annotations

import uuid
from typing import Any, Final

import psycopg
from sqlalchemy.engine import URL, make_url

from tests.postgres_server import PostgresServer

CITUS: Final = "SESSIONSTORE_TEST_CITUS"
"""The environment variable that names a cluster."""

_NODES: Final = "SELECT nodename, nodeport, groupid = 0 FROM pg_dist_node WHERE noderole = 'primary' ORDER BY groupid"


class CitusServer(PostgresServer):
    """A cluster that gives out empty databases; the workers are those of the database that its URL names."""

    def __init__(self, url: str) -> None:
        super().__init__(make_url(url).set(drivername="postgresql+psycopg"))
        with _connected(self.url) as connection:
            nodes = connection.execute(_NODES.encode()).fetchall()
        self._workers = [self.url.set(host=host, port=port) for host, port, is_coordinator in nodes if not is_coordinator]

    def new_database(self) -> str:
        """Make an empty database on every node; gives its URL on the coordinator."""
        name = f"test_{uuid.uuid4().hex}"
        for node in (self.url, *self._workers):
            with _connected(node) as connection:
                connection.execute(f'CREATE DATABASE "{name}" TEMPLATE template0'.encode())
            with _connected(node.set(database=name)) as connection:
                connection.execute(b"CREATE EXTENSION citus")
        with _connected(self.url.set(database=name)) as connection:
            connection.execute("SELECT citus_set_coordinator_host(%s, %s)", (self.url.host, self.url.port or 5432))
            for worker in self._workers:
                connection.execute("SELECT citus_add_node(%s, %s)", (worker.host, worker.port or 5432))
        return self.url.set(database=name).render_as_string(hide_password=False)

    def drop_database(self, url: str) -> None:
        """Take a database away from every node."""
        for node in (self.url, *self._workers):
            with _connected(node) as connection:
                connection.execute(f'DROP DATABASE IF EXISTS "{make_url(url).database}" WITH (FORCE)'.encode())


def _connected(url: URL) -> psycopg.Connection[tuple[Any, ...]]:
    address = url.set(drivername="postgresql").render_as_string(hide_password=False)
    return psycopg.connect(address, autocommit=True)
