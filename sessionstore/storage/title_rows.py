"""Rows of ``titles``: what makes a title unique within a namespace."""
from __future__ import annotations

from sqlalchemy import Connection, delete, insert, select

from sessionstore.storage.tables import titles


def take_title(connection: Connection, namespace: str, title: str, lineage_id: str) -> None:
    """Give a title to a lineage; an ``IntegrityError`` means that somebody else has it."""
    connection.execute(insert(titles), {"namespace": namespace, "title": title, "lineage_id": lineage_id})


def holder_of_title(connection: Connection, namespace: str, title: str) -> str | None:
    """The lineage that has the title in that namespace, None when it is free."""
    statement = select(titles.c.lineage_id).where(titles.c.namespace == namespace, titles.c.title == title)
    return connection.execute(statement).scalar()


def holders_of_title(connection: Connection, title: str) -> list[str]:
    """The lineages of all namespaces that have the title, at most eleven."""
    statement = select(titles.c.lineage_id).where(titles.c.title == title).order_by(titles.c.lineage_id).limit(11)
    return list(connection.execute(statement).scalars())


def free_title(connection: Connection, namespace: str, title: str) -> None:
    """Take a title back from whoever has it."""
    connection.execute(delete(titles).where(titles.c.namespace == namespace, titles.c.title == title))
