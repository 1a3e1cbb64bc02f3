"""A version before the first: its databases, with rows in them, and the migration from there to the schema of now.

It had no ``titles`` and no ``lineages.cooldown_until``; the migration makes both, and fills the table from the rows there are.
"""
from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Final

from sessionstore.storage import schema

OLDER: Final = "0000"
"""What the older version wrote into its databases."""

_OLDER: Final = """
revision = "0000"
down_revision = None
branch_labels = depends_on = None


def upgrade() -> None:
    pass
"""

_NEWER: Final = """
import sqlalchemy as sa
from alembic import op

from sessionstore.storage.tables import metadata

revision = "{head}"
down_revision = "0000"
branch_labels = depends_on = None


def upgrade() -> None:
    op.add_column("lineages", sa.Column("cooldown_until", sa.BigInteger(), nullable=True))
    metadata.tables["titles"].create(op.get_bind())
    op.execute("INSERT INTO titles SELECT namespace, title, lineage_id FROM lineages WHERE title IS NOT NULL")
"""


def make_older(path: Path) -> None:
    """Turn a database of now into one of the older version; its other rows stay."""
    connection = sqlite3.connect(path)
    connection.execute("ALTER TABLE lineages DROP COLUMN cooldown_until")
    connection.execute("DROP TABLE titles")
    connection.execute("UPDATE alembic_version SET version_num = ?", (OLDER,))
    connection.commit()
    connection.close()


def know_the_older(folder: Path) -> None:
    """Let this process know the older version: its migrations are those of ``folder``, which is made if need be."""
    if not folder.exists():
        shutil.copytree(schema.migrations_folder(), folder, ignore=shutil.ignore_patterns("versions", "__pycache__"))
        versions = folder / "versions"
        versions.mkdir()
        (versions / "0000_older.py").write_text(_OLDER, encoding="utf-8")
        (versions / "0001_newer.py").write_text(_NEWER.format(head=schema.HEAD), encoding="utf-8")
    schema.migrations_folder = lambda: folder
