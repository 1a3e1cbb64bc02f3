"""A store with something of everything, and a process that copies it and is killed on the way."""
from __future__ import annotations

import os
import signal
from typing import Any

from sqlalchemy import Connection, event

from sessionstore import CompactionHooks, SessionStore
from sessionstore.formats.copying import copy_store
from sessionstore.storage.engines import Database
from sessionstore.storage.schema import prepare_schema
from tests.counters import PieceCounter
from tests.store.conversations import WINDOW, compacted, talk

ODD: list[dict[str, Any]] = [
    {"role": "user", "content": "a NUL \x00, a lone surrogate \ud800, \u2028 and 中文 🎉", "n": 10**40, "e": [], "none": None},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "t", "type": "function", "function": {"name": "read", "arguments": '{"path": "a.py"}'}}]},
    {"role": "tool", "tool_call_id": "t", "content": "x" * 100_000},
]  # fmt: skip


def fill(url: str) -> None:
    """Conversations with all that a lineage can have."""
    hooks = CompactionHooks(flush_memories=lambda _messages: ["The parser is strict."])
    with SessionStore.open(url, counter=PieceCounter(), hooks=hooks, search_index=True) as store:
        plain = store.create_session("plain", title="Plain", namespace="team", owner="ana", source="cli", metadata={"a": [1]})
        plain.append(talk(700), client_id=[f"m{index}" for index in range(700)])
        plain.append_json('{"role": "user",  "content": "kept \\u00e9 as it is"}')
        rich = store.create_session("rich", title="Rich", context_window=WINDOW, system_prompt_parts={"identity": "Be brief."})
        rich.append(talk(40))
        rich.pin(3)
        rich.task.set_goal("Mend the parser")
        rich.task.write_todos([{"id": "1", "content": "read it", "status": "completed"}])
        rich.record_usage(prompt=4_000, completion=30)
        batch = rich.reader("gateway").read(limit=7)
        batch.commit()
        second = compacted(rich).session
        second.append([*talk(30, start=40), *ODD])
        third = compacted(second).session
        third.append(talk(4, start=70))
        third.undo_compaction().append(talk(2, start=74))
        store.resume("rich").fork("forked", at_seq=30)
        rewound = store.create_session("rewound", relation="reset", forked_from="plain")
        rewound.append(talk(12))
        rewound.rewind(5).end("finished")
        for index in range(12):
            store.create_session(f"small-{index:02}").append(talk(index))


def exports(url: str) -> dict[str, str]:
    """Every conversation with all its state, as text."""
    with SessionStore.open(url, counter=PieceCounter()) as store:
        listed = [line.lineage_id for line in store.list_sessions(limit=1_000)]
        return {name: "".join(store.export(name, lineage=True)) for name in listed}


def copy_and_die(source: str, target: str, *, after_lineages: int, after_statements: int) -> None:
    """Copy, and end this process so many statements after so many conversations have arrived."""
    reading, writing = Database(source), Database(target)
    prepare_schema(writing)
    arrived = statements = 0

    def count(_connection: Connection, *_: Any) -> None:
        nonlocal statements
        if arrived >= after_lineages:
            if statements == after_statements:
                os.kill(os.getpid(), signal.SIGKILL)
            statements += 1

    def tell(done: int, _total: int) -> None:
        nonlocal arrived
        arrived = done

    event.listen(writing._engine, "before_cursor_execute", count)
    copy_store(reading, writing, tell=tell)
