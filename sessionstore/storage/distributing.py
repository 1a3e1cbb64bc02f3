"""Spreading the tables over the nodes of a Citus cluster, when that extension is in the database."""
from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, text

from sessionstore.storage.tables import OF_A_LINEAGE, titles

_FIRST: Final = OF_A_LINEAGE[-1].name
"""The table that no other one precedes; the rows of a lineage lie on the node where its row of this table does."""

_IS_THERE: Final = text("SELECT 1 FROM pg_extension WHERE extname = 'citus'")
_THERE: Final = text("SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND pg_table_is_visible(oid)")
_DISTRIBUTED: Final = text("SELECT c.relname FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid")
_DISTRIBUTE: Final = text("SELECT create_distributed_table(:table, :column, colocate_with => :beside)")
# What is done to one table after another in a transaction must go by one connection a node: references check across tables.
_IN_SEQUENCE: Final = text("SET LOCAL citus.multi_shard_modify_mode TO 'sequential'")


def distribute_tables(connection: Connection) -> None:
    """Distribute every declared table that is there and isn't yet: by lineage, side by side, and titles by namespace.

    Nothing happens without the extension. A table goes after those that it refers to, since a reference is only allowed
    between tables that are distributed alike: a migration that makes a table calls this before it makes the reference.
    """
    beside = {table.name: "none" if table.name == _FIRST else _FIRST for table in reversed(OF_A_LINEAGE)}
    by_lineage = {name: ("lineage_id", other) for name, other in beside.items()}
    _distribute(connection, {**by_lineage, titles.name: ("namespace", "none")})


def distribute_by_lineage(connection: Connection, table: str) -> None:
    """Distribute a further table by its ``lineage_id``, beside the others."""
    _distribute(connection, {table: ("lineage_id", _FIRST)})


def _distribute(connection: Connection, tables: dict[str, tuple[str, str]]) -> None:
    if connection.dialect.name != "postgresql" or connection.execute(_IS_THERE).first() is None:
        return
    connection.execute(_IN_SEQUENCE)
    waiting = set(connection.execute(_THERE).scalars()) - set(connection.execute(_DISTRIBUTED).scalars())
    for table, (column, beside) in tables.items():
        if table in waiting:
            connection.execute(_DISTRIBUTE, {"table": table, "column": column, "beside": beside})
