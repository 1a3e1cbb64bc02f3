"""The tables of the first release."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

KEY = sa.Text().with_variant(sa.TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "lineages",
        sa.Column("lineage_id", KEY, nullable=False),
        sa.Column("namespace", KEY, nullable=False),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("source", sa.Text(), nullable=True),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.Column("tip_generation", sa.Integer(), nullable=False),
        sa.Column("pins", sa.Text(), nullable=False),
        sa.Column("strikes", sa.Integer(), nullable=False),
        sa.Column("strike_seq", sa.BigInteger(), nullable=True),
        sa.Column("cooldown_until", sa.BigInteger(), nullable=True),
        sa.Column("forked_from", sa.Text(), nullable=True),
        sa.Column("forked_from_seq", sa.BigInteger(), nullable=True),
        sa.Column("relation", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("closed_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("relation IS NULL OR relation IN ('fork', 'subagent', 'reset')", name=op.f("ck_lineages_relation")),
        sa.PrimaryKeyConstraint("lineage_id", name=op.f("pk_lineages")),
    )
    op.create_table(
        "titles",
        sa.Column("namespace", KEY, nullable=False),
        sa.Column("title", KEY, nullable=False),
        sa.Column("lineage_id", KEY, nullable=False),
        sa.PrimaryKeyConstraint("namespace", "title", name=op.f("pk_titles")),
    )
    op.create_index("ix_titles_title", "titles", ["title"], unique=False)
    op.create_table(
        "memories",
        sa.Column("lineage_id", KEY, nullable=False),
        sa.Column("memory_id", sa.Text(), nullable=False),
        sa.Column("fact", sa.Text(), nullable=False),
        sa.Column("source_seqs", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["lineage_id"], ["lineages.lineage_id"], name=op.f("fk_memories_lineage_id")),
        sa.PrimaryKeyConstraint("lineage_id", "memory_id", name=op.f("pk_memories")),
    )
    op.create_table(
        "system_prompts",
        sa.Column("lineage_id", KEY, nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("parts", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["lineage_id"], ["lineages.lineage_id"], name=op.f("fk_system_prompts_lineage_id")),
        sa.PrimaryKeyConstraint("lineage_id", "digest", name=op.f("pk_system_prompts")),
    )
    op.create_table(
        "sessions",
        sa.Column("lineage_id", KEY, nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("parent_generation", sa.Integer(), nullable=True),
        sa.Column("basis_generation", sa.Integer(), nullable=True),
        sa.Column("edge", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("context_window", sa.BigInteger(), nullable=True),
        sa.Column("profile", sa.Text(), nullable=False),
        sa.Column("system_prompt_digest", sa.Text(), nullable=True),
        sa.Column("flush_cursor", sa.BigInteger(), nullable=False),
        sa.Column("next_seq", sa.BigInteger(), nullable=False),
        sa.Column("start_seq", sa.BigInteger(), nullable=False),
        sa.Column("tail_digest", sa.Text(), nullable=True),
        sa.Column("plan_revision", sa.Integer(), nullable=False),
        sa.Column("warned_tier", sa.Text(), nullable=False),
        sa.Column("tool_schema_tokens", sa.BigInteger(), nullable=False),
        sa.Column("prompt_tokens_total", sa.BigInteger(), nullable=False),
        sa.Column("completion_tokens_total", sa.BigInteger(), nullable=False),
        sa.Column("usage_prompt", sa.BigInteger(), nullable=True),
        sa.Column("usage_completion", sa.BigInteger(), nullable=True),
        sa.Column("usage_seq", sa.BigInteger(), nullable=True),
        sa.Column("context_tokens", sa.BigInteger(), nullable=True),
        sa.Column("context_tokens_method", sa.Text(), nullable=True),
        sa.Column("context_tokens_seq", sa.BigInteger(), nullable=True),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column("end_reason", sa.Text(), nullable=True),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.CheckConstraint("edge IN ('root', 'compaction', 'undo', 'rewind')", name=op.f("ck_sessions_edge")),
        sa.CheckConstraint(
            "end_reason IS NULL OR end_reason IN "
            "('user', 'reset', 'finished', 'idle', 'shutdown', 'compaction', 'undo', 'rewind')",
            name=op.f("ck_sessions_end_reason"),
        ),
        sa.CheckConstraint("profile IN ('openai', 'anthropic', 'responses', 'strict')", name=op.f("ck_sessions_profile")),
        sa.CheckConstraint("warned_tier IN ('ok', 'notice', 'high', 'due')", name=op.f("ck_sessions_warned_tier")),
        sa.ForeignKeyConstraint(
            ["lineage_id", "parent_generation"],
            ["sessions.lineage_id", "sessions.generation"],
            name=op.f("fk_sessions_lineage_id_parent_generation"),
        ),
        sa.ForeignKeyConstraint(
            ["lineage_id", "system_prompt_digest"],
            ["system_prompts.lineage_id", "system_prompts.digest"],
            name=op.f("fk_sessions_lineage_id_system_prompt_digest"),
        ),
        sa.ForeignKeyConstraint(["lineage_id"], ["lineages.lineage_id"], name=op.f("fk_sessions_lineage_id")),
        sa.PrimaryKeyConstraint("lineage_id", "generation", name=op.f("pk_sessions")),
        sa.UniqueConstraint("lineage_id", "parent_generation", name=op.f("uq_sessions_lineage_id_parent_generation")),
    )
    op.create_index(
        "ix_sessions_activity",
        "sessions",
        ["updated_at", "lineage_id"],
        unique=False,
        sqlite_where=sa.text("end_reason IS NULL OR end_reason NOT IN ('compaction', 'undo', 'rewind')"),
        postgresql_where=sa.text("end_reason IS NULL OR end_reason NOT IN ('compaction', 'undo', 'rewind')"),
    )
    op.create_table(
        "compactions",
        sa.Column("lineage_id", KEY, nullable=False),
        sa.Column("job_id", sa.Text(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("opened_generation", sa.Integer(), nullable=True),
        sa.Column("trigger", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("focus", sa.Text(), nullable=True),
        sa.Column("policy", sa.Text(), nullable=False),
        sa.Column("watermark", sa.BigInteger(), nullable=True),
        sa.Column("head", sa.Text(), nullable=False),
        sa.Column("middle", sa.Text(), nullable=False),
        sa.Column("tail", sa.Text(), nullable=False),
        sa.Column("tokens_before", sa.BigInteger(), nullable=True),
        sa.Column("tokens_after", sa.BigInteger(), nullable=True),
        sa.Column("tokens_method", sa.Text(), nullable=True),
        sa.Column("messages_before", sa.BigInteger(), nullable=True),
        sa.Column("messages_after", sa.BigInteger(), nullable=True),
        sa.Column("summary_seq", sa.BigInteger(), nullable=True),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.Column("ledger", sa.Text(), nullable=True),
        sa.Column("summarizer", sa.Text(), nullable=True),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("prompt_version", sa.Text(), nullable=True),
        sa.Column("usage", sa.Text(), nullable=True),
        sa.Column("degraded", sa.Boolean(), nullable=False),
        sa.Column("warnings", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("lease_owner", sa.Text(), nullable=True),
        sa.Column("lease_expires_at", sa.BigInteger(), nullable=True),
        sa.Column("fencing_token", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "status IN ('queued', 'running', 'committed', 'noop', 'deferred', 'aborted', 'stuck', 'interrupted')",
            name=op.f("ck_compactions_status"),
        ),
        sa.CheckConstraint(
            "trigger IN ('manual', 'auto', 'preflight', 'hygiene', 'offline')", name=op.f("ck_compactions_trigger")
        ),
        sa.ForeignKeyConstraint(
            ["lineage_id", "generation"],
            ["sessions.lineage_id", "sessions.generation"],
            name=op.f("fk_compactions_lineage_id_generation"),
        ),
        sa.ForeignKeyConstraint(
            ["lineage_id", "opened_generation"],
            ["sessions.lineage_id", "sessions.generation"],
            name=op.f("fk_compactions_lineage_id_opened_generation"),
        ),
        sa.PrimaryKeyConstraint("lineage_id", "job_id", name=op.f("pk_compactions")),
    )
    op.create_index(
        "uq_compactions_live",
        "compactions",
        ["lineage_id", "generation"],
        unique=True,
        sqlite_where=sa.text("status IN ('queued', 'running')"),
        postgresql_where=sa.text("status IN ('queued', 'running')"),
    )
    op.create_table(
        "context_spans",
        sa.Column("lineage_id", KEY, nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("first_seq", sa.BigInteger(), nullable=False),
        sa.Column("last_seq", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["lineage_id", "generation"],
            ["sessions.lineage_id", "sessions.generation"],
            name=op.f("fk_context_spans_lineage_id_generation"),
        ),
        sa.PrimaryKeyConstraint("lineage_id", "generation", "ordinal", name=op.f("pk_context_spans")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "messages",
        sa.Column("lineage_id", KEY, nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("origin_seq", sa.BigInteger(), nullable=True),
        sa.Column("client_id", KEY, nullable=True),
        sa.Column("tool_names", sa.Text(), nullable=True),
        sa.Column("call_ids", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.CheckConstraint("kind IN ('message', 'summary', 'rendition')", name=op.f("ck_messages_kind")),
        sa.ForeignKeyConstraint(
            ["lineage_id", "generation"],
            ["sessions.lineage_id", "sessions.generation"],
            name=op.f("fk_messages_lineage_id_generation"),
        ),
        sa.PrimaryKeyConstraint("lineage_id", "seq", name=op.f("pk_messages")),
    )
    op.create_index(
        "uq_messages_client_id",
        "messages",
        ["lineage_id", "client_id"],
        unique=True,
        sqlite_where=sa.text("client_id IS NOT NULL"),
        postgresql_where=sa.text("client_id IS NOT NULL"),
    )
    op.create_table(
        "readers",
        sa.Column("lineage_id", KEY, nullable=False),
        sa.Column("reader", KEY, nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("history_offset", sa.BigInteger(), nullable=False),
        sa.Column("last_seq", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["lineage_id", "generation"],
            ["sessions.lineage_id", "sessions.generation"],
            name=op.f("fk_readers_lineage_id_generation"),
        ),
        sa.PrimaryKeyConstraint("lineage_id", "reader", name=op.f("pk_readers")),
    )
    op.create_table(
        "task_states",
        sa.Column("lineage_id", KEY, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("goal", sa.Text(), nullable=True),
        sa.Column("todos", sa.Text(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["lineage_id", "generation"],
            ["sessions.lineage_id", "sessions.generation"],
            name=op.f("fk_task_states_lineage_id_generation"),
        ),
        sa.PrimaryKeyConstraint("lineage_id", "version", name=op.f("pk_task_states")),
    )
    op.create_table(
        "message_tokens",
        sa.Column("lineage_id", KEY, nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["lineage_id", "seq"], ["messages.lineage_id", "messages.seq"], name=op.f("fk_message_tokens_lineage_id_seq")
        ),
        sa.PrimaryKeyConstraint("lineage_id", "seq", "method", name=op.f("pk_message_tokens")),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    raise NotImplementedError("restore a backup instead: going back would drop tables with their rows")
