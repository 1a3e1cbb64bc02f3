"""A process that appends and compacts until it is killed, and tells each thing that was acknowledged to it.

Run as ``python -m tests.store.killed_writer URL SESSION``. A line of its output is written after the call returned:
``append SEQ CONTENT`` or ``compact ID``, or ``undo ID``.
"""
from __future__ import annotations

import os
import sys
from random import Random

from sessionstore import SessionStore
from tests.counters import PieceCounter
from tests.store.conversations import SMALL, talk


def acknowledge(line: str) -> None:
    """Tell it at once: a pipe keeps what was written to it when the writer dies."""
    os.write(1, f"{line}\n".encode())


def write_for_ever(url: str, name: str, seed: int) -> None:
    """Append single messages and whole turns, flush, compact, and now and then undo."""
    chance = Random(seed)
    with SessionStore.open(url, counter=PieceCounter()) as store:
        session = store.resume(name)
        acknowledge("ready")
        while True:
            start = session.record().next_seq
            messages = talk(chance.randint(1, 6), start=start)
            if chance.random() < 0.5:
                seqs = session.append(messages)
            else:
                seqs = session.flush([*session.context(), *messages])
            for seq, message in zip(seqs, messages, strict=True):
                acknowledge(f"append {seq} {message['content']}")
            if chance.random() < 0.4:
                result = session.compact(policy=SMALL)
                session = result.session
                acknowledge(f"compact {session.id}")
            elif chance.random() < 0.05 and session.record().edge == "compaction":
                session = session.undo_compaction()
                acknowledge(f"undo {session.id}")


if __name__ == "__main__":
    write_for_ever(sys.argv[1], sys.argv[2], int(sys.argv[3]))
