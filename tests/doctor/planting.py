"""A database in which every feature was used, and faults planted in it by SQL."""
from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sessionstore import CompactionPolicy, SessionStore
from tests.store.conversations import SMALL, WINDOW, compacted, talk

LINEAGE = "fix-auth"


def call(call_id: str, *names: str) -> dict[str, Any]:
    """A message of the assistant that calls a tool, once a name."""
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": f"{call_id}{index or ''}", "type": "function", "function": {"name": name, "arguments": '{"path": "a.py"}'}}
            for index, name in enumerate(names or ("read_file",))
        ],
    }


def answer(call_id: str, text: str = "contents") -> dict[str, Any]:
    """The result of a call."""
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def use_everything(store: SessionStore) -> None:
    """Lineages in every state that the API can bring one into."""
    session = store.create_session(LINEAGE, title="Fix auth", context_window=WINDOW, system_prompt="Take care.", model="m")
    session.append([*talk(20), call("c1"), answer("c1", "x" * 4_000), *talk(10, start=20)])
    session.pin(4)
    session.task.set_goal("mend the login")
    session.record_usage(prompt=4_000, completion=10)
    session.pressure()
    batch = session.reader("gateway").read()
    batch.commit()
    session = compacted(session).session
    session.append(talk(20, start=40))
    session = compacted(session).session
    session.append(talk(4, start=60))
    session.append([call("c2", "read_file", "list_files"), answer("c2"), answer("c21")])
    session = session.undo_compaction()
    session = session.rewind(3)
    session.append(talk(20, start=70))
    session.append([call("c3")])  # in flight
    session.fork("forked")
    session.fork("forked-early", at_seq=10)
    store.create_session("child", relation="subagent", forked_from=f"{LINEAGE}#3").append(talk(3))
    store.create_session("child-of-another-title", title="Fix auth (9)")
    ended = store.create_session("ended", title="Ended", context_window=WINDOW)
    ended.append(talk(6))
    ended.end("finished")
    idle = store.create_session("idle")
    idle.append(talk(2))
    idle.end("idle")
    pruned = store.create_session("pruned", context_window=WINDOW)
    outputs = [message for n in range(12) for message in (call(f"p{n}"), answer(f"p{n}", f"line {n}\n" * 200))]
    pruned.append([talk(1)[0], *outputs, *talk(4)])
    pruned.compact(policy=CompactionPolicy(summarize=False, head_messages=1, tail_messages=3, keep_tool_results=0))
    aborted = store.create_session("aborted", context_window=WINDOW)
    aborted.append(talk(30))
    aborted.compact(policy=SMALL, summarizer=lambda _prompt: "")
    text = "".join(store.export("pruned", lineage=True))
    store.delete("pruned")
    store.import_lines(text.splitlines(), name="pruned.jsonl")
    store.create_session("empty")


def plant_job(path: Path, *, generation: int, status: str, lease_expires_at: float | None) -> None:
    """A job of a process that is gone."""
    micros = None if lease_expires_at is None else int(lease_expires_at * 1_000_000)
    columns = (
        "lineage_id, job_id, generation, \"trigger\", status, policy, head, middle, tail, degraded, warnings, attempts, "
        "lease_expires_at, fencing_token, created_at"
    )
    values = (LINEAGE, "planted", generation, "manual", status, "{}", "[]", "[]", "[]", 0, "[]", 1, micros, 9, 1)
    with outside(path) as connection:
        connection.execute(f"INSERT INTO compactions ({columns}) VALUES ({', '.join('?' * len(values))})", values)


@contextmanager
def outside(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that may do what no API may, foreign keys off."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        yield connection
    finally:
        connection.close()


def without_unique_parents(connection: sqlite3.Connection) -> None:
    """Take the constraint away that lets a session have one continuation only."""
    (sql,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'sessions'").fetchone()
    loosened = sql.replace("CONSTRAINT uq_sessions_lineage_id_parent_generation UNIQUE (lineage_id, parent_generation), ", "")
    if loosened == sql:
        loosened = "\n".join(line for line in sql.split("\n") if "UNIQUE" not in line)
    assert loosened != sql
    connection.execute("PRAGMA legacy_alter_table = ON")
    connection.execute("ALTER TABLE sessions RENAME TO sessions_before")
    connection.execute(loosened)
    connection.execute("INSERT INTO sessions SELECT * FROM sessions_before")
    connection.execute("DROP TABLE sessions_before")
