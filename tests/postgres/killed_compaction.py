"""A process that compacts and ends itself, without a chance to clean up, before its n-th statement or commit."""
from __future__ import annotations

import os
import signal
from multiprocessing.connection import Connection as Pipe
from typing import Any

from sqlalchemy import Engine, event

from sessionstore import SessionStore
from tests.counters import PieceCounter
from tests.store.conversations import SMALL


def compact_and_die(url: str, at: int, answer: Pipe) -> None:
    """Compact ``a``; tells how many statements and commits it took when it comes to its end."""
    with SessionStore.open(url, counter=PieceCounter()) as store:
        session = store.resume("a")
        sent = 0

        def count(*_: Any) -> None:
            nonlocal sent
            if sent == at:
                os.kill(os.getpid(), signal.SIGKILL)
            sent += 1

        event.listen(Engine, "before_cursor_execute", count)
        event.listen(Engine, "commit", count)
        session.compact(policy=SMALL, summarizer=lambda _prompt: "The modules were looked at one by one.")
    answer.send(sent)
