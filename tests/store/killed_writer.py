"""A process that appends and compacts until it is killed, and tells each thing that was acknowledged to it."""
from __future__ import annotations

from multiprocessing.connection import Connection
from random import Random

from sessionstore import SessionStore
from tests.counters import PieceCounter
from tests.store.conversations import SMALL, talk


def write_for_ever(url: str, name: str, seed: int, journal: Connection) -> None:
    """Append single messages and whole turns, flush, compact, and now and then undo.

    A line of the journal is written after the call returned: ``append SEQ CONTENT``, ``compact ID`` or ``undo ID``. It is a
    pipe, which keeps what was written to it when the writer dies.
    """

    def acknowledge(line: str) -> None:
        journal.send_bytes(line.encode())

    chance = Random(seed)
    with SessionStore.open(url, counter=PieceCounter()) as store:
        session = store.resume(name)
        acknowledge("ready")
        while True:
            messages = talk(chance.randint(1, 6), start=session.record().next_seq)
            whole = chance.random() < 0.5
            seqs = session.flush([*session.context(), *messages]) if whole else session.append(messages)
            for seq, message in zip(seqs, messages, strict=True):
                acknowledge(f"append {seq} {message['content']}")
            if chance.random() < 0.4:
                session = session.compact(policy=SMALL).session
                acknowledge(f"compact {session.id}")
            elif chance.random() < 0.05 and session.record().edge == "compaction":
                session = session.undo_compaction()
                acknowledge(f"undo {session.id}")
