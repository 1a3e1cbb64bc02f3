"""Rows of ``titles``: what makes a title unique within a namespace."""
from __future__ import annotations

from sqlalchemy import Connection, delete, select

from sessionstore.storage.tables import titles
from sessionstore.storage.upserts import insert_missing


def take_title(connection: Connection, namespace: str, title: str, lineage_id: str) -> bool:
    """Give a title to a lineage if nobody has it; says whether it was free."""
    row = {"namespace": namespace, "title": title, "lineage_id": lineage_id}
    return insert_missing(connection, titles, [row]) == 1


def holder_of_title(connection: Connection, namespace: str, title: str) -> str | None:
    """The lineage that has the title in that namespace, None when it is free."""
    statement = select(titles.c.lineage_id).where(titles.c.namespace == namespace, titles.c.title == title)
    return connection.execute(statement).scalar()


def holders_of_title(connection: Connection, title: str) -> list[str]:
    """The lineages of all namespaces that have the title, at most eleven."""
    statement = select(titles.c.lineage_id).where(titles.c.title == title).order_by(titles.c.lineage_id).limit(11)
    return list(connection.execute(statement).scalars())


def free_title(connection: Connection, namespace: str, title: str, lineage_id: str) -> None:
    """Take a title back from a lineage, if that has it."""
    connection.execute(
        delete(titles).where(
            titles.c.namespace == namespace, titles.c.title == title, titles.c.lineage_id == lineage_id
        )
    )
