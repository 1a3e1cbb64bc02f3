"""Moving conversations from one database to another, of any kind: each in one transaction, compared when it is there."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from sessionstore.errors import SessionExistsError, StoreUnavailableError
from sessionstore.storage.copy_rows import (
    Fingerprint,
    copy_lineage,
    count_lineages,
    fingerprint,
    log_fingerprint,
    shape_up_to,
)
from sessionstore.storage.engines import Database
from sessionstore.storage.health_rows import lineage_ids_after
from sessionstore.storage.search_rows import last_seq
from sessionstore.storage.session_rows import find_tip

_PAGE = 500


@dataclass(frozen=True, slots=True)
class CopyReport:
    """What a copy did: conversations and rows that were written, and conversations that were there already."""

    copied: int
    rows: int
    unchanged: int


def copy_store(source: Database, target: Database, *, tell: Callable[[int, int], None] | None = None) -> CopyReport:
    """Bring every conversation of one database into another one, whose schema is there.

    A conversation is written in one transaction, which reads it back and compares number and digest of its rows, so that a
    copy which was broken off goes on where it was: what is there and equal is left alone, what is there in an earlier state is
    replaced. ``tell`` gets (conversations done, conversations in all). Raises ``SessionExistsError`` for a conversation that
    went another way at the target.
    """
    total = source.read(count_lineages)
    copied = rows = unchanged = 0
    for lineage_id in _lineage_ids(source):
        written = _bring_over(source, target, lineage_id)
        if written is None:
            unchanged += 1
        else:
            copied += 1
            rows += written.rows
        if tell is not None:
            tell(copied + unchanged, total)
    return CopyReport(copied, rows, unchanged)


def _lineage_ids(source: Database) -> Iterator[str]:
    last = ""
    while page := source.read(lambda c, after=last: lineage_ids_after(c, after, limit=_PAGE)):  # type: ignore[misc]  # mypy knows no lambda defaults
        yield from page
        last = page[-1]


def _bring_over(source: Database, target: Database, lineage_id: str) -> Fingerprint | None:
    """Copy one conversation from one consistent state of it; None when the target has that state already."""

    def work(reading: Connection) -> Fingerprint | None:
        wanted = fingerprint(reading, lineage_id)
        found = target.read(lambda c: fingerprint(c, lineage_id))
        if found == wanted:
            return None
        if found.rows and not target.read(lambda c: _is_earlier(c, reading, lineage_id)):
            raise SessionExistsError(lineage_id)
        return target.write(lambda writing: _write(reading, writing, lineage_id, wanted, target.url), repeatable=True)

    return source.read(work)


def _is_earlier(there: Connection, here: Connection, lineage_id: str) -> bool:
    """Whether what the target has could have become what the source has: the same generations and log, as far as it goes."""
    end, tip = last_seq(there, lineage_id), find_tip(there, lineage_id)
    if tip is None or shape_up_to(there, lineage_id, tip.generation) != shape_up_to(here, lineage_id, tip.generation):
        return False
    return log_fingerprint(there, lineage_id, last_seq=end) == log_fingerprint(here, lineage_id, last_seq=end)


def _write(reading: Connection, writing: Connection, lineage_id: str, wanted: Fingerprint, url: str) -> Fingerprint:
    try:
        written = copy_lineage(reading, writing, lineage_id)
    except IntegrityError as error:
        reason = f"the conversation {lineage_id!r} does not fit beside those that it has; is its title taken there?"
        raise StoreUnavailableError(url, reason) from error
    if written != wanted:
        reason = f"{written.rows:,} rows of {lineage_id!r} read back differ from the {wanted.rows:,} that were written"
        raise StoreUnavailableError(url, f"{reason}; nothing of it was kept")
    return written
