"""Looking at a whole database for faults, as a flow: page by page, each repair in a transaction of its own."""
from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import Final

from sqlalchemy import Connection

from sessionstore.domain.health.finding import DoctorReport, Finding
from sessionstore.flows.search_flow import index_some, rebuild_search_index
from sessionstore.operations.environment import Environment
from sessionstore.operations.examining import examine_lineage, mend_lineage
from sessionstore.operations.steps import Steps, read, write
from sessionstore.storage.health_rows import file_faults, lineage_ids_after, orphan_rows
from sessionstore.storage.schema_drift import has_every_column, make_missing_indexes, schema_differences
from sessionstore.storage.search_rows import lineages_behind
from sessionstore.storage.search_schema import has_any_search_table

PAGE: Final = 50
"""Lineages that are looked at in one transaction."""


def examine_store(environment: Environment, *, repair: bool) -> Steps[DoctorReport]:
    """Look at everything; with ``repair`` each faulty lineage is looked at again and mended in a transaction of its own."""
    faults = yield from read(file_faults)
    if faults:
        # Nothing else can be believed of a file whose pages are damaged.
        return DoctorReport([Finding("damaged_file", None, None, None, fault) for fault in faults], 0)
    if not (yield from read(has_every_column)):
        return DoctorReport((yield from _examine_schema(repair=False)), 0)
    findings = yield from _examine_schema(repair=repair)
    count, last, more = 0, "", True
    while more:
        found, page = yield from read(partial(_page, environment, last=last))
        for lineage_id, of_lineage in groupby(found, key=lambda finding: finding.lineage_id):
            listed = list(of_lineage)
            if repair and lineage_id is not None:
                listed = yield from write(partial(_mend, environment, lineage_id))
            findings.extend(listed)
        count += len(page)
        last, more = page[-1] if page else "", len(page) == PAGE
    findings.extend((yield from read(_orphans)))
    findings.extend((yield from _examine_search_index(repair=repair)))
    return DoctorReport(findings, count)


def _page(environment: Environment, connection: Connection, *, last: str) -> tuple[list[Finding], list[str]]:
    now = environment.shared_time(connection)
    lineage_ids = lineage_ids_after(connection, last, limit=PAGE)
    findings = [
        diagnosis.finding for lineage_id in lineage_ids for diagnosis in examine_lineage(connection, lineage_id, now=now)
    ]
    return findings, lineage_ids


def _mend(environment: Environment, lineage_id: str, connection: Connection) -> list[Finding]:
    return mend_lineage(connection, lineage_id=lineage_id, now=environment.shared_time(connection))


def _examine_schema(*, repair: bool) -> Steps[list[Finding]]:
    found = yield from read(schema_differences)
    left = found
    if found and repair:
        yield from write(make_missing_indexes)
        left = yield from read(schema_differences)
    return [Finding("schema_drift", None, None, None, one, repaired=one not in left) for one in found]


def _orphans(connection: Connection) -> list[Finding]:
    return [
        Finding("orphan_rows", lineage_id, None, None, f"{count} rows of {table} belong to nothing that is there")
        for table, lineage_id, count in orphan_rows(connection)
    ]


def _examine_search_index(*, repair: bool) -> Steps[list[Finding]]:
    if not (yield from read(has_any_search_table)):
        return []  # there is none, which is a choice: searches read the log
    behind = yield from read(lineages_behind)
    if behind is None:
        if repair:
            yield from rebuild_search_index()
        message = "the search index is out of order; searches read the log meanwhile"
        return [Finding("search_index_stale", None, None, None, message, repaired=repair)]
    for lineage_id, _ in behind if repair else ():
        while (yield from index_some(lineage_id)):
            pass
    return [
        Finding(
            "search_index_stale",
            lineage_id,
            None,
            indexed if indexed >= 0 else None,
            f"{f'#{indexed} is the last row' if indexed >= 0 else 'no row'} of {lineage_id} in the search index",
            repaired=repair,
        )
        for lineage_id, indexed in behind
    ]
