"""What every test may use: a fresh store, its URL, a clock that the test moves, and a counter that needs no vocabulary.

A test that asks for ``database_url`` or ``store`` runs once on every kind of database that ``--backend`` names.
"""
from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import iscoroutinefunction
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

from sessionstore import SessionStore
from tests.citus_server import CITUS, CitusServer
from tests.databases import Databases, PostgresDatabases, SqliteFiles
from tests.pooler import BINARY, Pooler
from tests.postgres_server import PostgresServer, running_server
from tests.sharding_rules import watch_statement

BACKENDS = ("sqlite", "postgresql", *(["citus"] if os.environ.get(CITUS) else []))
"""The kinds of database that tests run on."""

POOLED = {"test_append", "test_flush", "test_compaction_attempts", "test_compaction_integrity"}
"""Files of tests whose every test runs through pgbouncer too, where that is installed."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The databases to run on, and options of ``tests/cases``."""
    choice = ("sqlite", "postgresql", "pgbouncer", "citus", "all")
    parser.addoption("--backend", choices=choice, default="all", help="run the tests that touch a database on this kind only")
    group = parser.getgroup("cases")
    group.addoption("--cases", metavar="DIR", help="run the *.json cases of DIR instead of the project's own")
    group.addoption("--slow", action="store_true", help="run slow cases too")


@dataclass
class Clock:
    """A clock that stands until the test moves it; seconds since 1970."""

    at: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.at

    def advance(self, seconds: float) -> None:
        """Let so much time pass."""
        self.at += seconds


@pytest.fixture
def clock() -> Clock:
    """A clock that only the test moves."""
    return Clock()


def chosen_backends(config: pytest.Config) -> tuple[str, ...]:
    """The kinds of database that this run is about."""
    chosen = config.getoption("--backend")
    return BACKENDS if chosen == "all" else (chosen,)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what touches a database once on every kind; what runs on an event loop, on the async-only driver too."""
    if "backend" in metafunc.fixturenames:
        chosen = chosen_backends(metafunc.config)
        if metafunc.module.__name__.rpartition(".")[2] in POOLED and BINARY and metafunc.config.getoption("--backend") == "all":
            chosen = (*chosen, "pgbouncer")
        is_async = iscoroutinefunction(getattr(metafunc.function, "__wrapped__", None))
        metafunc.parametrize("backend", (*chosen, "asyncpg") if is_async and "postgresql" in chosen else chosen)


@pytest.fixture(scope="session", autouse=True)
def _watched_statements() -> Iterator[None]:
    """Hold everything that the library sends to a server against the rules of a sharded database."""
    event.listen(Engine, "before_cursor_execute", watch_statement)
    yield
    event.remove(Engine, "before_cursor_execute", watch_statement)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A PostgreSQL server, started for the first test that needs one."""
    server = running_server()
    yield server
    server.stop()


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The URL of an empty database on PostgreSQL."""
    url = postgres_server.new_database()
    yield url
    postgres_server.drop_database(url)


@pytest.fixture(scope="session")
def citus_server() -> CitusServer:
    """The cluster that the environment names."""
    return CitusServer(os.environ[CITUS])


@pytest.fixture
def citus_url(citus_server: CitusServer) -> Iterator[str]:
    """The URL of an empty database of a cluster."""
    url = citus_server.new_database()
    yield url
    citus_server.drop_database(url)


@pytest.fixture(scope="session")
def pooler(postgres_server: PostgresServer) -> Iterator[Pooler]:
    """pgbouncer in transaction mode, started for the first test that needs it."""
    running = Pooler(postgres_server)
    yield running
    running.stop()


@pytest.fixture
def pooled_url(pooler: Pooler, postgres_url: str) -> str:
    """The URL of an empty database on PostgreSQL, through pgbouncer in transaction mode."""
    return pooler.url_of(postgres_url)


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """The URL of a SQLite file that does not exist yet: for what only SQLite does."""
    return f"sqlite:///{tmp_path}/store.db"


@pytest.fixture
def databases(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, Databases]]:
    """Where databases come from, by kind, of every kind that this run is about."""
    postgres: list[PostgresDatabases] = []
    found: dict[str, Databases] = {}
    for kind in chosen_backends(request.config):
        if kind == "sqlite":
            found[kind] = SqliteFiles(tmp_path)
        else:
            server = "citus_server" if kind == "citus" else "postgres_server"
            postgres.append(PostgresDatabases(request.getfixturevalue(server)))
            found[kind] = postgres[-1]
    yield found
    for one in postgres:
        one.drop()


@pytest.fixture
def database_url(request: pytest.FixtureRequest, backend: str) -> str:
    """The URL of a database without tables, of the kind that it is the turn of."""
    fixtures = {"sqlite": "sqlite_url", "pgbouncer": "pooled_url", "citus": "citus_url"}
    url: str = request.getfixturevalue(fixtures.get(backend, "postgres_url"))
    return url.replace("+psycopg", "+asyncpg") if backend == "asyncpg" else url


def sync_url(url: str) -> str:
    """The URL by which the sync front opens the same database."""
    return url.replace("+asyncpg", "+psycopg")


@pytest.fixture
def store(database_url: str, clock: Clock) -> Iterator[SessionStore]:
    """A fresh store on a real database."""
    with SessionStore.open(database_url, clock=clock) as opened:
        yield opened
