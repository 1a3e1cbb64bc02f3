"""The operations of the matrix, each on a database that was made ready for it, with the same ids and times every time."""
from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from sessionstore import CompactionHooks, SessionStore
from sessionstore.storage.engines import Database
from sessionstore.storage.schema import upgrade
from tests.counters import PieceCounter
from tests.first_release import make_first_release
from tests.store.conversations import SMALL, WINDOW, talk

NOW: Final = 1_800_000_000.0
"""The time at which everything happens, in seconds since 1970."""

NAME: Final = "fix-auth"
SUMMARY: Final = "Critical Context: the modules were looked at and mended one by one."


@dataclass(frozen=True)
class Action:
    """An operation: what is there before, and what is done by a process that may die doing it."""

    prepare: Callable[[str], None]
    act: Callable[[str], None]


def opened(url: str, *, at: float = NOW) -> SessionStore:
    """A store whose clock stands, and whose ids are its time and a number."""
    numbers = itertools.count(1)
    return SessionStore.open(
        url,
        clock=lambda: at,
        ids=lambda: f"id-{at:.0f}-{next(numbers)}",
        counter=PieceCounter(),
        hooks=CompactionHooks(flush_memories=lambda _messages: ["the login is fragile"]),
    )


def _nothing(_url: str) -> None:
    """There are no tables."""


def _with_talk(url: str) -> None:
    with opened(url) as store:
        session = store.create_session(NAME, title="Fix auth", context_window=WINDOW, system_prompt="Take care.")
        session.append(talk(30))


def _with_continuation(url: str) -> None:
    _with_talk(url)
    with opened(url, at=NOW + 1) as store:
        session = store.resume(NAME).compact(policy=SMALL).session
        session.append(talk(4, start=30))


def _of_the_first_release(url: str) -> None:
    _with_continuation(url)
    make_first_release(url)


def _migrate(url: str) -> None:
    database = Database(url)
    database.write(lambda connection: upgrade(connection, "head"))
    database.close()


def _create(url: str) -> None:
    with opened(url, at=NOW + 9) as store:
        store.create_session("new", title="New", system_prompt="Take care.", metadata={"a": 1})


def _append(url: str) -> None:
    with opened(url, at=NOW + 9) as store:
        store.resume(NAME).append(talk(3, start=50), client_id=["a", "b", "c"])


def _flush(url: str) -> None:
    with opened(url, at=NOW + 9) as store:
        session = store.resume(NAME)
        session.flush([*session.context(), *talk(3, start=50)])


def _compact(url: str) -> None:
    with opened(url, at=NOW + 9) as store:
        store.resume(NAME).compact(policy=SMALL, summarizer=lambda _prompt: SUMMARY)


def _undo(url: str) -> None:
    with opened(url, at=NOW + 9) as store:
        store.resume(NAME).undo_compaction()


def _rewind(url: str) -> None:
    with opened(url, at=NOW + 9) as store:
        store.resume(NAME).rewind(5)


def _import(url: str) -> None:
    with opened(url, at=NOW + 9) as store:
        store.import_lines([json.dumps(message) for message in talk(12)], id="imported", name="t.jsonl")


def _open(url: str) -> None:
    opened(url, at=NOW + 9).close()


ACTIONS: Final[Mapping[str, Action]] = {
    "open_new": Action(_nothing, _open),
    "migrate": Action(_nothing, _migrate),
    "create": Action(_with_talk, _create),
    "append": Action(_with_continuation, _append),
    "flush": Action(_with_continuation, _flush),
    "compact": Action(_with_talk, _compact),
    "compact_again": Action(_with_continuation, _compact),
    "undo": Action(_with_continuation, _undo),
    "rewind": Action(_with_continuation, _rewind),
    "import": Action(_with_talk, _import),
}

ON_FILES: Final[Mapping[str, Action]] = {**ACTIONS, "upgrade": Action(_of_the_first_release, _open)}
"""The same, and what is done to a SQLite file only."""
