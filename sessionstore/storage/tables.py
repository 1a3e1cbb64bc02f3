"""The tables, declared once; the migrations must add up to exactly this.

Every key begins with ``lineage_id``, the distribution column of a sharded engine (``titles`` is distributed by namespace).
Times are integers, microseconds since 1970 in UTC. JSON is TEXT: ``jsonb`` reorders keys and refuses ``\\u0000``.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import (
    TEXT,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    TextClause,
    UniqueConstraint,
    text,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateIndex
from sqlalchemy.sql.compiler import DDLCompiler

from sessionstore.domain.closed_sets import (
    EDGES,
    END_REASONS,
    JOB_STATUSES,
    KINDS,
    PROFILES,
    RELATIONS,
    TIERS,
    TRIGGERS,
)

NAMING: Final = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}

metadata: Final = MetaData(naming_convention=NAMING)

# Ids are compared byte by byte on every engine, so that a range finds a prefix and an order means the same everywhere.
_KEY: Final = Text().with_variant(TEXT(collation="C"), "postgresql")


def _one_of(column: str, values: Sequence[str], *, nullable: bool = False) -> CheckConstraint:
    listed = ", ".join(f"'{value}'" for value in values)
    condition = f"{column} IN ({listed})"
    return CheckConstraint(f"{column} IS NULL OR {condition}" if nullable else condition, name=column)


_CONDITION: Final = "condition"
"""What an index over part of the rows keeps its condition under."""


def _index_of_some(name: str, *columns: Column[Any], where: TextClause, unique: bool = False) -> None:
    """Declare an index over the rows for which a condition holds."""
    # Told to the server's dialect when the index is made there: to be told now, it would have to be loaded, which takes a
    # seventh of the time that all of SQLAlchemy takes.
    Index(name, *columns, unique=unique, sqlite_where=where, info={_CONDITION: where})


@compiles(CreateIndex, "postgresql")
def _create_index(element: CreateIndex, compiler: DDLCompiler, **options: Any) -> str:
    index = element.element
    if _CONDITION in index.info:
        index.dialect_options["postgresql"]["where"] = index.info[_CONDITION]
    sql: str = compiler.visit_create_index(element, **options)  # type: ignore[no-untyped-call]  # SQLAlchemy's own is
    return sql


lineages: Final = Table(
    "lineages",
    metadata,
    Column("lineage_id", _KEY, nullable=False),
    Column("namespace", _KEY, nullable=False),
    Column("owner", Text),
    Column("source", Text),
    Column("title", Text),
    Column("metadata", Text, nullable=False),
    Column("tip_generation", Integer, nullable=False),
    Column("pins", Text, nullable=False),
    Column("strikes", Integer, nullable=False),
    Column("strike_seq", BigInteger),
    Column("cooldown_until", BigInteger),
    Column("forked_from", Text),
    Column("forked_from_seq", BigInteger),
    Column("relation", Text),
    Column("created_at", BigInteger, nullable=False),
    Column("closed_at", BigInteger),
    PrimaryKeyConstraint("lineage_id"),
    _one_of("relation", RELATIONS, nullable=True),
)

system_prompts: Final = Table(
    "system_prompts",
    metadata,
    Column("lineage_id", _KEY, nullable=False),
    Column("digest", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("parts", Text, nullable=False),
    PrimaryKeyConstraint("lineage_id", "digest"),
    ForeignKeyConstraint(["lineage_id"], ["lineages.lineage_id"]),
)

sessions: Final = Table(
    "sessions",
    metadata,
    Column("lineage_id", _KEY, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("parent_generation", Integer),
    Column("basis_generation", Integer),
    Column("edge", Text, nullable=False),
    Column("model", Text),
    Column("context_window", BigInteger),
    Column("profile", Text, nullable=False),
    Column("system_prompt_digest", Text),
    Column("flush_cursor", BigInteger, nullable=False),
    Column("next_seq", BigInteger, nullable=False),
    Column("start_seq", BigInteger, nullable=False),
    Column("tail_digest", Text),
    Column("plan_revision", Integer, nullable=False),
    Column("warned_tier", Text, nullable=False),
    Column("tool_schema_tokens", BigInteger, nullable=False),
    Column("prompt_tokens_total", BigInteger, nullable=False),
    Column("completion_tokens_total", BigInteger, nullable=False),
    Column("usage_prompt", BigInteger),
    Column("usage_completion", BigInteger),
    Column("usage_seq", BigInteger),
    Column("context_tokens", BigInteger),
    Column("context_tokens_method", Text),
    Column("context_tokens_seq", BigInteger),
    Column("started_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger),
    Column("end_reason", Text),
    Column("metadata", Text, nullable=False),
    PrimaryKeyConstraint("lineage_id", "generation"),
    ForeignKeyConstraint(["lineage_id"], ["lineages.lineage_id"]),
    ForeignKeyConstraint(["lineage_id", "parent_generation"], ["sessions.lineage_id", "sessions.generation"]),
    ForeignKeyConstraint(["lineage_id", "system_prompt_digest"], ["system_prompts.lineage_id", "system_prompts.digest"]),
    # At most one continuation a session, whatever a lease says.
    UniqueConstraint("lineage_id", "parent_generation"),
    _one_of("edge", EDGES),
    _one_of("profile", PROFILES),
    _one_of("warned_tier", TIERS),
    _one_of("end_reason", END_REASONS, nullable=True),
)

_TIP_CONDITION: Final = "end_reason IS NULL OR end_reason NOT IN ('compaction', 'undo', 'rewind')"
IS_TIP: Final = text(f"({_TIP_CONDITION})")
"""The condition of a tip, in the very words of the partial index: the planner takes the index for no other."""

# Listing goes by last activity; only tips are listed, so only they are in the index.
_index_of_some("ix_sessions_activity", sessions.c.updated_at, sessions.c.lineage_id, where=text(_TIP_CONDITION))

messages: Final = Table(
    "messages",
    metadata,
    Column("lineage_id", _KEY, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("role", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("origin_seq", BigInteger),
    Column("client_id", _KEY),
    Column("tool_names", Text),
    Column("call_ids", Text),
    Column("created_at", BigInteger, nullable=False),
    Column("body", Text, nullable=False),
    PrimaryKeyConstraint("lineage_id", "seq"),
    ForeignKeyConstraint(["lineage_id", "generation"], ["sessions.lineage_id", "sessions.generation"]),
    _one_of("kind", KINDS),
)

_index_of_some(
    "uq_messages_client_id",
    messages.c.lineage_id,
    messages.c.client_id,
    unique=True,
    where=text("client_id IS NOT NULL"),
)

message_tokens: Final = Table(
    "message_tokens",
    metadata,
    Column("lineage_id", _KEY, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("method", Text, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    PrimaryKeyConstraint("lineage_id", "seq", "method"),
    ForeignKeyConstraint(["lineage_id", "seq"], ["messages.lineage_id", "messages.seq"]),
    sqlite_with_rowid=False,
)

context_spans: Final = Table(
    "context_spans",
    metadata,
    Column("lineage_id", _KEY, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("first_seq", BigInteger, nullable=False),
    Column("last_seq", BigInteger),
    PrimaryKeyConstraint("lineage_id", "generation", "ordinal"),
    ForeignKeyConstraint(["lineage_id", "generation"], ["sessions.lineage_id", "sessions.generation"]),
    sqlite_with_rowid=False,
)

compactions: Final = Table(
    "compactions",
    metadata,
    Column("lineage_id", _KEY, nullable=False),
    Column("job_id", Text, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("opened_generation", Integer),
    Column("trigger", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("reason", Text),
    Column("focus", Text),
    Column("policy", Text, nullable=False),
    Column("watermark", BigInteger),
    Column("head", Text, nullable=False),
    Column("middle", Text, nullable=False),
    Column("tail", Text, nullable=False),
    Column("tokens_before", BigInteger),
    Column("tokens_after", BigInteger),
    Column("tokens_method", Text),
    Column("messages_before", BigInteger),
    Column("messages_after", BigInteger),
    Column("summary_seq", BigInteger),
    Column("summary", Text),
    Column("summarizer", Text),
    Column("model", Text),
    Column("prompt_version", Text),
    Column("usage", Text),
    Column("degraded", Boolean(create_constraint=False), nullable=False),
    Column("warnings", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("lease_owner", Text),
    Column("lease_expires_at", BigInteger),
    Column("fencing_token", BigInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("started_at", BigInteger),
    Column("finished_at", BigInteger),
    Column("error", Text),
    PrimaryKeyConstraint("lineage_id", "job_id"),
    ForeignKeyConstraint(["lineage_id", "generation"], ["sessions.lineage_id", "sessions.generation"]),
    ForeignKeyConstraint(["lineage_id", "opened_generation"], ["sessions.lineage_id", "sessions.generation"]),
    _one_of("trigger", TRIGGERS),
    _one_of("status", JOB_STATUSES),
)

IS_LIVE: Final = text("status IN ('queued', 'running')")
"""The condition of a live job, in the very words of the partial index: the planner takes the index for no other."""

# At most one live job a session; the index is also how a worker finds the live ones.
_index_of_some(
    "uq_compactions_live", compactions.c.lineage_id, compactions.c.generation, unique=True, where=IS_LIVE
)

# Apart from the job's row, which is written again at every sign of life: a ledger grows with the history.
ledgers: Final = Table(
    "ledgers",
    metadata,
    Column("lineage_id", _KEY, nullable=False),
    Column("job_id", Text, nullable=False),
    Column("ledger", Text, nullable=False),
    PrimaryKeyConstraint("lineage_id", "job_id"),
    ForeignKeyConstraint(["lineage_id", "job_id"], ["compactions.lineage_id", "compactions.job_id"]),
)

task_states: Final = Table(
    "task_states",
    metadata,
    Column("lineage_id", _KEY, nullable=False),
    Column("version", Integer, nullable=False),
    Column("goal", Text),
    Column("todos", Text, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("at", BigInteger, nullable=False),
    PrimaryKeyConstraint("lineage_id", "version"),
    ForeignKeyConstraint(["lineage_id", "generation"], ["sessions.lineage_id", "sessions.generation"]),
)

memories: Final = Table(
    "memories",
    metadata,
    Column("lineage_id", _KEY, nullable=False),
    Column("memory_id", Text, nullable=False),
    Column("fact", Text, nullable=False),
    Column("source_seqs", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    PrimaryKeyConstraint("lineage_id", "memory_id"),
    ForeignKeyConstraint(["lineage_id"], ["lineages.lineage_id"]),
)

readers: Final = Table(
    "readers",
    metadata,
    Column("lineage_id", _KEY, nullable=False),
    Column("reader", _KEY, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("history_offset", BigInteger, nullable=False),
    Column("last_seq", BigInteger, nullable=False),
    PrimaryKeyConstraint("lineage_id", "reader"),
    ForeignKeyConstraint(["lineage_id", "generation"], ["sessions.lineage_id", "sessions.generation"]),
)

titles: Final = Table(
    "titles",
    metadata,
    Column("namespace", _KEY, nullable=False),
    Column("title", _KEY, nullable=False),
    Column("lineage_id", _KEY, nullable=False),
    PrimaryKeyConstraint("namespace", "title"),
    Index("ix_titles_title", "title"),
)

OF_A_LINEAGE: Final = (
    message_tokens,
    context_spans,
    ledgers,
    compactions,
    task_states,
    memories,
    readers,
    messages,
    sessions,
    system_prompts,
    lineages,
)
"""The tables keyed by lineage, in an order in which their rows can be deleted."""
