"""What time it is for everybody who shares a database, whatever the clocks of their machines say."""
from __future__ import annotations

import time

from sqlalchemy import Connection, func, select

_SERVER_TIME = select(func.extract("epoch", func.clock_timestamp()))
"""A statement of its own: a server that is spread over machines takes no such function inside an UPDATE."""


def store_time(connection: Connection) -> float:
    """Seconds since 1970 by the server's clock; for a SQLite file, whose processes are on one machine, by that machine's."""
    if connection.dialect.name == "sqlite":
        return time.time()
    return float(connection.execute(_SERVER_TIME).scalar_one())
