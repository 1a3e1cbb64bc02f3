"""The ledger of a job moves from its row, which is written again and again, to a table of its own."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from sessionstore.storage.distributing import distribute_tables

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

KEY = sa.Text().with_variant(sa.TEXT(collation="C"), "postgresql")
REFERENCE = "fk_ledgers_lineage_id_job_id"
OWN, OTHERS = ["lineage_id", "job_id"], ["compactions.lineage_id", "compactions.job_id"]


def upgrade() -> None:
    on_sqlite = op.get_bind().dialect.name == "sqlite"
    op.create_table(
        "ledgers",
        sa.Column("lineage_id", KEY, nullable=False),
        sa.Column("job_id", sa.Text(), nullable=False),
        sa.Column("ledger", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("lineage_id", "job_id", name=op.f("pk_ledgers")),
        *([sa.ForeignKeyConstraint(OWN, OTHERS, name=op.f(REFERENCE))] if on_sqlite else []),
    )
    if not on_sqlite:
        # On a distributed database a table that isn't distributed yet may not refer to one that is.
        distribute_tables(op.get_bind())
        op.create_foreign_key(op.f(REFERENCE), "ledgers", "compactions", OWN, ["lineage_id", "job_id"])
    op.execute(
        "INSERT INTO ledgers (lineage_id, job_id, ledger) "
        "SELECT lineage_id, job_id, ledger FROM compactions WHERE ledger IS NOT NULL"
    )
    op.drop_column("compactions", "ledger")


def downgrade() -> None:
    raise NotImplementedError("restore a backup instead")
