"""How many bytes a message takes on PostgreSQL, and how much log a turn writes: what a capacity is reckoned with."""
from __future__ import annotations

from typing import Any

import psycopg

from benchmarks import payloads
from benchmarks.machine import load
from benchmarks.report import Cell, Table
from benchmarks.server.comparing import started
from benchmarks.settings import Settings
from sessionstore import SessionStore

BODY_BYTES = 1000
LINEAGES = 100
SETTINGS = ("full_page_writes=on", "max_wal_size=4GB", "shared_buffers=256MB")
"""The log of a server that could survive a power cut; whether it waits for its disk doesn't change what is written."""

_SIZES = """SELECT relname, pg_relation_size(oid), pg_indexes_size(oid), pg_total_relation_size(oid)
FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"""


def capacity(settings: Settings) -> list[Table]:
    """Bytes at two sizes, with and without search index; log by turns."""
    return [_bytes(settings), _log(settings)]


def _bytes(settings: Settings) -> Table:
    rows: list[tuple[Cell, ...]] = []
    plans = (
        (settings.pick(99_900, 3_000), "turns of three, one conversation after another in turn", 3, False),
        (settings.pick(99_900, 3_000), "the same, with the search index", 3, True),
        (settings.pick(999_900, 6_000), "batches of 303", 303, False),
    )
    with started(SETTINGS) as server:
        for count, how, batch, indexed in plans:
            url = server.new_database()
            with SessionStore.open(url, search_index=indexed) as store:
                payload = _filled(store, count, batch)
            found = _asked(url, "VACUUM ANALYZE") or _asked(url, _SIZES)
            server.drop_database(url)
            tables = {row[0]: row[1:] for row in found}
            heap, indexes, whole = tables["messages"]
            search = tables.get("search_documents", (0, 0, 0))[2]
            everything = sum(row[2] for row in tables.values())
            each = [size / count for size in (payload, heap, indexes, search, everything)]
            rows.append((count, how, *each, whole / payload))
    columns = (
        "messages", "written in", "JSON bytes", "heap", "its indexes", "search index", "all tables, bytes a message",
        "messages to payload",
    )  # fmt: skip
    about = f"{LINEAGES} conversations; pg_total_relation_size after VACUUM; nothing is compressed below 2 kB a row"
    return Table("Bytes a message on PostgreSQL", columns, tuple(rows), (about,))


def _filled(store: SessionStore, count: int, batch: int) -> int:
    sessions = [store.create_session(f"{number:032x}") for number in range(LINEAGES)]
    payload = 0
    for number, begin in enumerate(range(0, count, batch)):
        listed = payloads.messages(min(batch, count - begin), BODY_BYTES, first_turn=begin)
        payload += payloads.payload_bytes(listed)
        sessions[number % LINEAGES].append(listed)
    return payload


def _log(settings: Settings) -> Table:
    turns = settings.pick(5_000, 100)
    rows: list[tuple[Cell, ...]] = []
    with started(SETTINGS) as server:
        for indexed in (False, True):
            url = server.new_database()
            with SessionStore.open(url, search_index=indexed) as store:
                _filled(store, settings.pick(30_000, 600), 3)
                sessions = [store.session(f"{number:032x}") for number in range(LINEAGES)]
                _asked(url, "CHECKPOINT")
                for what in ("right after a checkpoint", "later, before the next"):
                    before = _asked(url, "SELECT pg_current_wal_lsn()")[0][0]
                    payload = 0
                    for number in range(turns):
                        turn = payloads.turn(10**6 + number, BODY_BYTES)
                        payload += payloads.payload_bytes(turn)
                        sessions[number % LINEAGES].append(turn)
                    written = _asked(url, f"SELECT pg_current_wal_lsn() - '{before}'::pg_lsn")[0][0]
                    rows.append((indexed, what, payload / turns, float(written) / turns, float(written) / payload))
            server.drop_database(url)
    columns = ("search index", "when", "JSON bytes a turn", "log bytes a turn", "log to payload")
    about = (
        f"{turns:,} turns of three messages over {LINEAGES} conversations, by pg_current_wal_lsn, full_page_writes on; the "
        f"first change of a page after a checkpoint logs the whole page; {load()}"
    )
    return Table("Write-ahead log a turn", columns, tuple(rows), (about,))


def _asked(url: str, statement: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []
