"""Keeping a database: backup, retention and numbers, as flows of steps."""
from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from sqlalchemy import Connection

from sessionstore.domain.keeping import BackupReport, PrunedLineage, StoreStats
from sessionstore.operations.steps import Steps, read, write
from sessionstore.storage.backing_up import back_up
from sessionstore.storage.lineage_rows import delete_lineage
from sessionstore.storage.locks import lock_tip
from sessionstore.storage.stats_rows import is_quiet, quiet_lineages, read_stats

PAGE: Final = 500
"""Conversations that are looked up at a time."""


def backup(target: Path) -> Steps[BackupReport]:
    """Copy the database to a file and compare the two."""
    return read(lambda c: back_up(c, target))


def stats() -> Steps[StoreStats]:
    """Count everything."""
    return read(read_stats)


def prune(*, before: float, namespace: str | None, ended_only: bool, dry_run: bool) -> Steps[list[PrunedLineage]]:
    """Delete whole lineages by their last activity, each in a transaction that looks once more; nothing in a dry run."""
    pruned: list[PrunedLineage] = []
    limit = 2**31 - 1 if dry_run else PAGE
    search = partial(quiet_lineages, before=before, namespace=namespace, ended_only=ended_only, limit=limit)
    while found := (yield from read(search)):
        if dry_run:
            return found
        gone = 0
        for lineage in found:
            if (yield from write(partial(_delete_if_quiet, lineage_id=lineage.lineage_id, before=before))):
                pruned.append(lineage)
                gone += 1
        if not gone:
            break
    return pruned


def _delete_if_quiet(connection: Connection, *, lineage_id: str, before: float) -> bool:
    lock_tip(connection, lineage_id)
    return is_quiet(connection, lineage_id, before=before) and delete_lineage(connection, lineage_id)
