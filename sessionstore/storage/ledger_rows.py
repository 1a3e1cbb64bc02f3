"""Rows of ``ledgers``: the facts beside a summary as JSON text, apart from the job, whose row is written again and again."""
from __future__ import annotations

from sqlalchemy import Connection, bindparam, delete, select

from sessionstore.storage.hot_statements import HotStatement
from sessionstore.storage.tables import ledgers
from sessionstore.storage.upserts import insert_or_replace

_OF_A_JOB = (ledgers.c.lineage_id == bindparam("lineage"), ledgers.c.job_id == bindparam("job"))
_FORGET = HotStatement(delete(ledgers).where(*_OF_A_JOB).returning(ledgers.c.job_id))
_FIND = HotStatement(select(ledgers.c.ledger).where(*_OF_A_JOB))


def store_ledger(connection: Connection, lineage_id: str, job_id: str, ledger: str) -> None:
    """Keep the ledger of a job, in the place of the one that an earlier try of the same job left."""
    insert_or_replace(connection, ledgers, {"lineage_id": lineage_id, "job_id": job_id, "ledger": ledger})


def forget_ledger(connection: Connection, lineage_id: str, job_id: str) -> None:
    """Delete the ledger of a job that opened nothing; nothing happens when it has none."""
    _FORGET.rows(connection, lineage=lineage_id, job=job_id)


def find_ledger(connection: Connection, lineage_id: str, job_id: str) -> str | None:
    """The ledger of a job, None when it has none."""
    rows = _FIND.rows(connection, lineage=lineage_id, job=job_id)
    return str(rows[0][0]) if rows else None


def ledgers_of(connection: Connection, lineage_id: str) -> dict[str, str]:
    """Every ledger of a lineage, by job id."""
    statement = select(ledgers.c.job_id, ledgers.c.ledger).where(ledgers.c.lineage_id == lineage_id)
    return {row[0]: row[1] for row in connection.execute(statement)}
