"""What a statement may be on a database that keeps each lineage on one node: read from its text, as the server gets it.

A distributed engine routes a statement by the lineage that it names, and refuses or scatters one that names none. These are
the rules that Citus has for distributed tables, kept by everything that the library sends.
"""
from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import Connection

DISTRIBUTED: Final = {"titles": "namespace"}
"""The column by which a table is distributed where it isn't ``lineage_id``."""

LOCAL: Final = frozenset({"alembic_version"})
"""Tables with a row or two that every node has, or only one."""

_PARAMETER: Final = r"(?:%\(\w+\)s|%s|\$\d+|'[^']*')"
_WRITES: Final = re.compile(r'^\s*(?:UPDATE|DELETE FROM)\s+"?(\w+)')
_LOCKS: Final = re.compile(r"\bFOR (?:NO KEY )?UPDATE\b|\bFOR (?:KEY )?SHARE\b")
_FROM: Final = re.compile(r'\bFROM\s+"?(\w+)')
_INSERTS: Final = re.compile(r'^\s*INSERT INTO\s+"?(\w+)')
_FORBIDDEN: Final = {
    "a trigger": re.compile(r"\bCREATE (?:CONSTRAINT )?TRIGGER\b", re.IGNORECASE),
    "SET NULL": re.compile(r"\bON DELETE SET NULL\b", re.IGNORECASE),
    "a serial column": re.compile(r"\b(?:BIG|SMALL)?SERIAL\b|\bGENERATED\b.*\bIDENTITY\b", re.IGNORECASE),
    "an advisory lock": re.compile(r"\bpg_(?:try_)?advisory", re.IGNORECASE),
    "SKIP LOCKED": re.compile(r"\bSKIP LOCKED\b", re.IGNORECASE),
    "LISTEN or NOTIFY": re.compile(r"^\s*(?:LISTEN|NOTIFY)\b", re.IGNORECASE),
    "the name of a constraint": re.compile(r"\bON CONFLICT ON CONSTRAINT\b", re.IGNORECASE),
    "something set on the connection": re.compile(r"^\s*SET\s+(?!LOCAL)\w", re.IGNORECASE),
}
_VOLATILE: Final = re.compile(
    r"\b(?:now|random|clock_timestamp|gen_random_uuid|nextval)\s*\(|\bCURRENT_TIMESTAMP\b", re.IGNORECASE
)


def problems_of(statement: str) -> Iterator[str]:
    """Each rule that a statement breaks."""
    for what, pattern in _FORBIDDEN.items():
        if pattern.search(statement):
            yield f"it has {what}"
    written, inserted = _WRITES.match(statement), _INSERTS.match(statement)
    table = written or (_FROM.search(statement) if _LOCKS.search(statement) else None)
    if table is not None and table[1] not in LOCAL and not _binds(statement, table[1]):
        yield f"it writes or locks rows of {table[1]} without naming its {DISTRIBUTED.get(table[1], 'lineage_id')}"
    if (written or (inserted and " DO UPDATE " in statement)) and _VOLATILE.search(statement):
        yield "it calls a volatile function in an update"
    if inserted and re.search(r"\bVALUES\b.*\(\s*SELECT\b", statement, re.DOTALL):
        yield "it has a query among its values"
    if "WITH RECURSIVE" in statement and "lineage_id" not in statement:
        yield "it is recursive without a lineage"


def _binds(statement: str, table: str) -> bool:
    column = DISTRIBUTED.get(table, "lineage_id")
    where = statement.partition("WHERE")[2]
    return re.search(rf'\b{column}"? = {_PARAMETER}', where) is not None


def watch_statement(connection: Connection, _cursor: Any, statement: str, _p: Any, _context: Any, _many: bool) -> None:
    """Fail the test whose library call sends what a sharded database would refuse; a listener of every engine."""
    if connection.dialect.name == "postgresql" and "isolation_level" in connection.get_execution_options():
        problems = list(problems_of(statement))
        assert not problems, f"{'; '.join(problems)}: {statement}"
