"""Signs of life of a running job: its lease is prolonged while a model, a hook or a token counter takes its time."""
from __future__ import annotations

import threading
from typing import Final

from sqlalchemy import Connection

from sessionstore.compaction.claiming import LEASE_SECONDS, prolong
from sessionstore.domain.records import CompactionRecord
from sessionstore.errors import SessionStoreError
from sessionstore.operations.environment import Environment

BEAT_SECONDS: Final = LEASE_SECONDS / 4
"""Time between two signs of life: three may fail before the lease is lost."""


class Heartbeat:
    """A thread that prolongs the lease of one job until it is stopped, or the lease is lost.

    It has a connection of its own, so no transaction is open while a model answers. A memory database has a single connection
    and no other process: there nobody beats, and the lease is a long one from the start.
    """

    def __init__(self, environment: Environment, job: CompactionRecord, *, every: float = BEAT_SECONDS) -> None:
        self._environment = environment
        self._job = job
        self._every = every
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"sessionstore-lease-{job.job_id}", daemon=True)

    def start(self) -> None:
        """Begin to beat, after the first pause."""
        if not self._environment.database.is_in_memory:
            self._thread.start()

    def stop(self) -> None:
        """Beat no more; what is being written is waited for."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def _beat(self) -> None:
        while not self._stopped.wait(self._every):
            try:
                if not self._environment.database.write(self._prolong):
                    return
            except SessionStoreError:
                # A busy or unreachable database: the next beat may get through, and the commit looks at the lease itself.
                continue

    def _prolong(self, connection: Connection) -> bool:
        return prolong(connection, self._job, now=self._environment.shared_time(connection))
