"""What of Citus the library touches, for a database without it: the extension's row, and a function that keeps its rules.

It stands in for the answers of a cluster, not for a cluster: rows stay where they are. The rules are those that Citus has for
distributing a table: every key holds the distribution column, and what a table refers to is distributed beside it already; and
no table that isn't distributed may come to refer to one that is.
"""
from __future__ import annotations

from sqlalchemy import Connection

STAND_IN = """
SET LOCAL allow_system_table_mods = on;
INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
    VALUES (99999, 'citus', 10, 'pg_catalog'::regnamespace, false, 'stand-in');
CREATE SCHEMA stand_in;
CREATE TABLE stand_in.pg_dist_partition (
    place serial, logicalrelid regclass PRIMARY KEY, partkey name, beside text, sequential boolean);
CREATE VIEW pg_dist_partition AS SELECT * FROM stand_in.pg_dist_partition;
CREATE FUNCTION create_distributed_table(
    table_name regclass, distribution_column text, distribution_type text DEFAULT 'hash', colocate_with text DEFAULT 'default')
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    own smallint := (SELECT attnum FROM pg_attribute WHERE attrelid = table_name AND attname = distribution_column);
    broken text := (
        SELECT string_agg(conname::text, ', ') FROM pg_constraint
        WHERE conrelid = table_name AND contype IN ('p', 'u', 'f') AND NOT own = ANY (conkey));
    unready text := (
        SELECT string_agg(confrelid::regclass::text, ', ') FROM pg_constraint
        WHERE conrelid = table_name AND contype = 'f' AND confrelid <> table_name
        AND confrelid NOT IN (SELECT logicalrelid FROM stand_in.pg_dist_partition));
BEGIN
    IF own IS NULL OR broken IS NOT NULL OR unready IS NOT NULL THEN
        RAISE EXCEPTION '% by %: keys without it: %; not distributed yet: %', table_name, distribution_column, broken, unready;
    END IF;
    INSERT INTO stand_in.pg_dist_partition (logicalrelid, partkey, beside, sequential) VALUES (
        table_name, distribution_column, colocate_with,
        coalesce(current_setting('citus.multi_shard_modify_mode', true) = 'sequential', false));
END $$;
CREATE FUNCTION stand_in.look_at_references() RETURNS event_trigger LANGUAGE plpgsql AS $$
DECLARE
    wrong text := (
        SELECT string_agg(conname::text, ', ') FROM pg_constraint
        WHERE contype = 'f' AND conrelid NOT IN (SELECT logicalrelid FROM stand_in.pg_dist_partition)
        AND confrelid IN (SELECT logicalrelid FROM stand_in.pg_dist_partition));
BEGIN
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'from a table that is not distributed to one that is: %', wrong;
    END IF;
END $$;
CREATE EVENT TRIGGER look_at_references ON ddl_command_end WHEN TAG IN ('CREATE TABLE', 'ALTER TABLE')
    EXECUTE FUNCTION stand_in.look_at_references();
"""


def pretend_to_have_citus(connection: Connection) -> None:
    """Make the stand-in in a database; the role must be a superuser."""
    # Several statements in one go, of which a function holds semicolons of its own: what the simple protocol takes.
    connection.connection.cursor().execute(STAND_IN)


def distributed(connection: Connection) -> dict[str, tuple[str, str]]:
    """The distribution column of every distributed table, and the one beside which it is, in the order of distributing."""
    query = "SELECT logicalrelid::text, partkey, beside FROM pg_dist_partition WHERE sequential ORDER BY place"
    rows = connection.exec_driver_sql(query)
    return {row[0]: (row[1], row[2]) for row in rows}
