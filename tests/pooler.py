"""pgbouncer in transaction mode before the test server: every transaction of a client may meet another connection."""
from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from sqlalchemy.engine import make_url

from tests.postgres_server import PostgresServer, free_port, give_away, run_unprivileged, wait_for

BINARY: Final = shutil.which("pgbouncer", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin")
"""Where pgbouncer is on this machine, None when it isn't installed."""

CONNECTIONS: Final = 3
"""Connections to the server a database: fewer than the clients, so that they really change hands."""


class Pooler:
    """A running pgbouncer."""

    def __init__(self, server: PostgresServer) -> None:
        assert BINARY is not None, "pgbouncer is not installed"
        self._folder = Path(tempfile.mkdtemp(prefix="sessionstore-pgbouncer-"))
        self.port = free_port()
        password = f" password={server.url.password}" if server.url.password else ""
        (self._folder / "pgbouncer.ini").write_text(
            f"[databases]\n* = host={server.url.host} port={server.url.port or 5432} user={server.url.username}{password}\n"
            "[pgbouncer]\npool_mode = transaction\nauth_type = any\nlisten_addr = 127.0.0.1\n"
            f"listen_port = {self.port}\nunix_socket_dir =\ndefault_pool_size = {CONNECTIONS}\nmax_client_conn = 500\n"
            f"server_idle_timeout = 5\nlogfile = {self._folder}/log\npidfile = {self._folder}/pid\n"
        )
        self._folder.chmod(0o755)
        give_away(self._folder)
        run_unprivileged(BINARY, "-q", "-d", self._folder / "pgbouncer.ini")
        wait_for(self.url_of(server.url.render_as_string(hide_password=False)))

    def url_of(self, url: str) -> str:
        """The URL of a database of the server, through the pooler."""
        pooled = make_url(url).set(host="127.0.0.1", port=self.port)
        return pooled.update_query_dict({"pooler": "transaction"}).render_as_string(hide_password=False)

    def stop(self) -> None:
        """End it."""
        pid = (self._folder / "pid").read_text().strip()
        subprocess.run(["kill", "-INT", pid], check=False)
        shutil.rmtree(self._folder, ignore_errors=True)
