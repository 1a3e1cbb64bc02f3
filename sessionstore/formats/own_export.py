"""A lineage with all its state as JSON Lines, out and in again: the rows of every table but readers, leases and cached counts.

The first line is ``{"sessionstore": 1, "lineage_id": …, "rows": n}``, every other one ``{"table": …, "row": {…}}`` in an
order in which rows can be written. Text is ASCII with escapes, so a line is a record whatever is in it.
"""
from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, StatementError

from sessionstore.errors import ImportFormatError, SchemaError, SessionExistsError
from sessionstore.formats.json_lines import read_json_lines
from sessionstore.formats.parsed import DamagedLine
from sessionstore.formats.report import ImportedLineage, ImportReport
from sessionstore.storage.dump_rows import DUMPED, columns_of, count_dumped, dump_lineage, restore_row
from sessionstore.storage.lineage_rows import change_lineage, delete_lineage, find_lineage
from sessionstore.storage.message_rows import count_rows
from sessionstore.storage.search_rows import index_lineage
from sessionstore.storage.session_rows import find_tip
from sessionstore.storage.title_rows import take_title

EXPORT_VERSION: Final = 1
"""Version of the form of an export; a reader refuses a newer one."""


@dataclass(frozen=True, slots=True)
class DumpedRow:
    """One line of an export: which table, the row, and the line it stood on."""

    table: str
    row: dict[str, Any]
    line: int


def export_lineage(connection: Connection, lineage_id: str) -> Iterator[str]:
    """The lines of an export, each with its line end."""
    header = {"sessionstore": EXPORT_VERSION, "lineage_id": lineage_id, "rows": count_dumped(connection, lineage_id)}
    yield json.dumps(header) + "\n"
    for table, row in dump_lineage(connection, lineage_id):
        yield json.dumps({"table": table, "row": row}) + "\n"


def is_own_export(value: Any) -> bool:
    """Whether a record is the first line of an export."""
    return isinstance(value, dict) and "sessionstore" in value and "lineage_id" in value


def begins_own_export(lines: Iterable[str]) -> bool:
    """Whether the first line that is not blank is the first line of an export."""
    for line in lines:
        if line.strip():
            return line.lstrip().startswith('{"sessionstore"')
    return False


def read_own_export(lines: Iterable[str], *, name: str) -> tuple[dict[str, list[DumpedRow]], list[DamagedLine]]:
    """The rows of every lineage of an export (several may stand one after the other), and what could not be read.

    Raises ``ImportFormatError`` for a newer version of the form.
    """
    lineages: dict[str, list[DumpedRow]] = {}
    damaged: list[DamagedLine] = []
    expected: dict[str, int] = {}
    last_line = 0
    for record in read_json_lines(lines, is_record=lambda _value: True):
        last_line = record.line
        if isinstance(record, DamagedLine):
            damaged.append(record)
            continue
        value = record.value
        if is_own_export(value):
            if value["sessionstore"] != EXPORT_VERSION:
                raise ImportFormatError(name, f"its version {value['sessionstore']} is newer than {EXPORT_VERSION}; upgrade")
            lineages.setdefault(value["lineage_id"], [])
            expected[value["lineage_id"]] = value.get("rows", 0)
            continue
        problem = _problem(value)
        if problem is not None:
            damaged.append(DamagedLine(record.line, problem))
            continue
        row = value["row"]
        lineages.setdefault(row["lineage_id"], []).append(DumpedRow(value["table"], row, record.line))
    for lineage_id, count in expected.items():
        missing = count - len(lineages[lineage_id])
        if missing > 0:
            damaged.append(DamagedLine(last_line, f"{missing} of {count} rows of {lineage_id!r} are missing"))
    return lineages, damaged


def restore_lineage(connection: Connection, lineage_id: str, rows: list[DumpedRow], *, name: str) -> ImportedLineage:
    """Write the rows of one lineage as they were.

    A lineage that the store has already is left alone when it has all of them, and replaced in the same transaction when it is
    an earlier state of the same. Raises ``SessionExistsError`` when the two have gone different ways.
    """
    messages = sum(row.table == "messages" for row in rows)
    stored = count_rows(connection, lineage_id) if find_lineage(connection, lineage_id) is not None else None
    if stored is not None:
        ours = list(dump_lineage(connection, lineage_id))
        theirs = [(row.table, row.row) for row in rows]
        if {_identity(row) for row in theirs} <= {_identity(row) for row in ours}:
            return _report(connection, lineage_id, created=False, imported=0, skipped=messages)
        if not _is_earlier(ours, theirs):
            raise SessionExistsError(lineage_id)
        delete_lineage(connection, lineage_id)
    for row in rows:
        values = row.row
        if row.table == "titles":
            _restore_title(connection, lineage_id, values)
            continue
        try:
            restore_row(connection, row.table, values)
        except (DBAPIError, StatementError) as error:
            raise ImportFormatError(name, f"line {row.line}: its row of {row.table} doesn't fit ({error.args[0]})") from error
    if find_tip(connection, lineage_id) is None:
        raise ImportFormatError(name, f"the lineage {lineage_id!r} has no tip in it")
    index_lineage(connection, lineage_id)
    return _report(
        connection, lineage_id, created=stored is None, imported=messages - (stored or 0), skipped=stored or 0
    )


def _identity(row: tuple[str, dict[str, Any]]) -> str:
    return json.dumps(row, sort_keys=True)


def _restore_title(connection: Connection, lineage_id: str, row: dict[str, Any]) -> None:
    """Take the title of an exported lineage; where another one has it here, with a free number behind it."""
    namespace, wanted = row["namespace"], row["title"]
    title, number = wanted, 1
    while not take_title(connection, namespace, title, lineage_id):
        number += 1
        title = f"{wanted} ({number})"
    if title != wanted:
        change_lineage(connection, lineage_id, title=title)


def _is_earlier(ours: list[tuple[str, dict[str, Any]]], theirs: list[tuple[str, dict[str, Any]]]) -> bool:
    """Whether every message that the store has is in the export too."""
    exported = {row["seq"]: row for table, row in theirs if table == "messages"}
    return all(exported.get(row["seq"]) == row for table, row in ours if table == "messages")


def _report(
    connection: Connection, lineage_id: str, *, created: bool, imported: int, skipped: int
) -> ImportedLineage:
    tip = find_tip(connection, lineage_id)
    if tip is None:
        raise SchemaError(f"the lineage {lineage_id!r} has no tip")
    lineage = find_lineage(connection, lineage_id)
    return ImportedLineage(
        session_id=tip.session_id,
        lineage_id=lineage_id,
        created=created,
        imported=imported,
        skipped=skipped,
        relation=None if lineage is None else lineage.relation,
    )


def _problem(value: Any) -> str | None:
    if not isinstance(value, dict) or not isinstance(value.get("row"), dict):
        return "it is no row of an export"
    table, row = value.get("table"), value["row"]
    if table not in DUMPED:
        return f"there is no table {table!r} in an export"
    unknown = sorted(set(row) - columns_of(table))
    if unknown:
        return f"{table} has no column {', '.join(unknown)}"
    if not isinstance(row.get("lineage_id"), str):
        return "it has no lineage_id"
    return None


def report_of(name: str, lineages: Iterable[ImportedLineage], damaged: Iterable[DamagedLine]) -> ImportReport:
    """The report of an import of an export."""
    return ImportReport(name=name, format="sessionstore", lineages=tuple(lineages), damaged=tuple(damaged))
