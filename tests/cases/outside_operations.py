"""What comes from outside: damage by SQL that no API may do, a store that is closed and opened again, faults and their end."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from sqlalchemy import Connection, insert, text

from sessionstore.storage.tables import metadata
from tests.cases.kept import Thread
from tests.cases.running import START, CaseFailed, CaseRun
from tests.cases.vocabulary import ANY_SESSION_COLUMN
from tests.databases import outside

Step = Mapping[str, Any]

SUMMARY_FAULT: Final = "case_refuses_summaries"
_REFUSING: Final[Mapping[str, str]] = {
    "sqlite": f"""CREATE TRIGGER {SUMMARY_FAULT} BEFORE INSERT ON messages WHEN NEW.kind = 'summary'
        BEGIN SELECT RAISE(ABORT, 'a planted fault'); END""",
    "postgresql": f"""CREATE FUNCTION {SUMMARY_FAULT}() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'a planted fault'; END $$;
        CREATE TRIGGER {SUMMARY_FAULT} BEFORE INSERT ON messages FOR EACH ROW WHEN (NEW.kind = 'summary')
        EXECUTE FUNCTION {SUMMARY_FAULT}()""",
}
_LEASE: Final = 1.0
_MICROSECONDS: Final = 1_000_000
_TIMES: Final = frozenset({"started_at", "updated_at", "ended_at"})
_RELATIONS: Final = {"branch": "fork", "subagent": "subagent", "reset": "reset"}


def raw_set(run: CaseRun, step: Step) -> None:
    """Set columns of the row of the session held."""
    values = {name: value for name, value in step.items() if name in ANY_SESSION_COLUMN and name != "op"}
    settings = ", ".join(f'"{name}" = :{name}' for name in values)
    with outside(run.url) as connection:
        changed = connection.execute(
            text(f"UPDATE sessions SET {settings} WHERE lineage_id = :lineage AND generation = :of"),
            {**values, "lineage": run.session.lineage_id, "of": run.session.generation},
        ).rowcount
    if changed != 1:
        raise CaseFailed("raw_set found no row to change")
    run.planted = True


def raw_insert_job(run: CaseRun, step: Step) -> None:
    """Add a job of a process that is gone: begun long ago, its lease run out."""
    begun = run.clock.at - float(step["age_s"])
    row = {
        "lineage_id": run.session.lineage_id, "generation": run.session.generation,
        "job_id": f"outside-{step['owner']}-{step['age_s']}",
        "trigger": "manual", "status": step["state"], "policy": "{}", "head": "[]", "middle": "[]", "tail": "[]",
        "degraded": 0, "warnings": "[]", "attempts": 1, "lease_owner": step["owner"], "fencing_token": 1,
        "lease_expires_at": int(min(begun + _LEASE, run.clock.at - _LEASE) * _MICROSECONDS),
        "created_at": int(begun * _MICROSECONDS), "started_at": int(begun * _MICROSECONDS),
    }  # fmt: skip
    with outside(run.url) as connection:
        _insert(connection, "compactions", row)
    run.planted = True


def reopen(run: CaseRun, _step: Step) -> None:
    """Close the store, take the planted faults out, open it again and resume."""
    run.store.close()
    take_faults_out(run)
    run.store = run.open_store()
    run.main.session = run.store.resume(run.root_id)


def refuse_summaries(run: CaseRun) -> None:
    """From now on the insert of a summary row fails."""
    with outside(run.url) as connection:
        connection.exec_driver_sql(_REFUSING[connection.dialect.name])
    run.planted = True


def take_faults_out(run: CaseRun) -> None:
    """Take out what a step planted to make something fail; damage stays."""
    with outside(run.url) as connection:
        where = "" if connection.dialect.name == "sqlite" else " ON messages"
        connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {SUMMARY_FAULT}{where}")


def plant_fixture(run: CaseRun) -> None:
    """Write the sessions of ``options.fixture`` with their parents, whatever is wrong with them.

    Ids are the case's own words; each gets the id that a generation of its lineage has, which ``aliases`` remembers. Sessions
    that continue each other, however damaged, are one lineage, numbered in the order in which they stand; a branch, a
    sub-agent or a reset is a lineage of its own. A case without messages of its own goes on with the first of them.
    """
    listed = {one["id"]: one for one in run.case.options.get("fixture", {}).get("sessions", [])}
    if not listed:
        return
    parents = {own: None if one.get("kind") in _RELATIONS else one.get("parent") for own, one in listed.items()}
    families: dict[str, list[str]] = {}
    for own in parents:
        families.setdefault(_root_of(own, parents), []).append(own)
    numbers = {own: (members[0], number) for members in families.values() for number, own in enumerate(members, 1)}
    run.aliases = {own: root if number == 1 else f"{root}~{number}" for own, (root, number) in numbers.items()}
    with outside(run.url) as connection:
        for members in families.values():
            first = listed[members[0]]
            titles = [listed[one]["title"] for one in members if "title" in listed[one]]
            row = _lineage_row(members[0], len(members), titles[0] if titles else None)
            relation = _RELATIONS.get(first.get("kind", ""))
            origin = None if relation is None else numbers.get(first["parent"], (first["parent"], 1))[0]
            _insert(connection, "lineages", {**row, "forked_from": origin, "relation": relation})
            if titles:
                _insert(connection, "titles", {"namespace": "", "title": titles[0], "lineage_id": members[0]})
        for own, one in listed.items():
            root, number = numbers[own]
            parent = parents[own]
            generation = None if parent is None else numbers.get(parent, (root, len(parents) + 1_000))[1]
            _insert(connection, "sessions", _session_row(one, root, number, generation))
            span = {"lineage_id": root, "generation": number, "ordinal": 0, "first_seq": 0, "last_seq": None}
            _insert(connection, "context_spans", span)
    run.planted = True
    if not run.case.messages:
        run.root_id = next(iter(families.values()))[0]
        run.threads[None] = Thread(run.store.session(run.root_id), [])


def _root_of(own: str, parents: Mapping[str, str | None]) -> str:
    """The same name for all sessions that lead to each other: the root, the missing parent, or the least of a circle."""
    seen: list[str] = []
    current: str | None = own
    while current is not None and current not in seen:
        seen.append(current)
        current = parents.get(current)
    return seen[-1] if current is None else min(seen[seen.index(current) :])


def _lineage_row(lineage_id: str, tip: int, title: str | None) -> dict[str, Any]:
    return {
        "lineage_id": lineage_id, "namespace": "", "title": title, "metadata": "{}", "tip_generation": tip, "pins": "[]",
        "strikes": 0, "created_at": int(START * _MICROSECONDS),
    }  # fmt: skip


def _session_row(one: Mapping[str, Any], root: str, number: int, parent: int | None) -> dict[str, Any]:
    row = {
        "lineage_id": root, "generation": number, "parent_generation": parent,
        "edge": "root" if parent is None else "compaction", "profile": "openai", "flush_cursor": 0,
        "next_seq": 0, "start_seq": 0, "plan_revision": 0, "warned_tier": "ok", "tool_schema_tokens": 0,
        "prompt_tokens_total": 0, "completion_tokens_total": 0, "metadata": "{}", "started_at": START, "updated_at": START,
        "end_reason": one.get("end_reason"), **{name: one[name] + START for name in _TIMES & set(one)},
    }  # fmt: skip
    return {name: int(value * _MICROSECONDS) if name in _TIMES and value is not None else value for name, value in row.items()}


def _insert(connection: Connection, table: str, row: Mapping[str, Any]) -> None:
    connection.execute(insert(metadata.tables[table]), dict(row))


OUTSIDE: Final[Mapping[str, Callable[[CaseRun, Step], None]]] = {
    "raw_set": raw_set,
    "raw_insert_job": raw_insert_job,
    "reopen": reopen,
}
