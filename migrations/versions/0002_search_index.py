"""The search index, empty: it is derived, and catches up while its lineages are used or when it is rebuilt."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        if not op.get_bind().execute(sa.text("SELECT count(*) FROM pragma_module_list WHERE name = 'fts5'")).scalar():
            return
        op.execute(
            "CREATE TABLE search_lineages (number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, lineage_id TEXT NOT NULL UNIQUE)"
        )
        op.execute("CREATE VIRTUAL TABLE search_index USING fts5 (words, content='', detail='none', tokenize='ascii')")
        return
    op.execute(
        'CREATE TABLE search_documents (lineage_id TEXT COLLATE "C" NOT NULL, seq BIGINT NOT NULL, words TSVECTOR NOT NULL, '
        "CONSTRAINT pk_search_documents PRIMARY KEY (lineage_id, seq))"
    )
    op.execute("CREATE INDEX ix_search_documents_words ON search_documents USING gin (words)")


def downgrade() -> None:
    raise NotImplementedError("restore a backup instead: going back would drop tables with their rows")
