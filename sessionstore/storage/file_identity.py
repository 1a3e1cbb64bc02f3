"""Which file an open store is on, so that one that was replaced, deleted or cut short under it is noticed (OPS-2)."""
from __future__ import annotations

import os
import re
import sqlite3
from pathlib import Path
from typing import Final

from sessionstore.errors import StoreUnavailableError

_MOUNTS: Final = Path("/proc/self/mountinfo")

NETWORK_FILE_SYSTEMS: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "glusterfs", "lustre", "ocfs2", "gfs2", "beegfs", "sshfs", "davfs"}
)
"""File systems of several machines: SQLite's write-ahead log needs memory that all its processes share, and locks that hold."""


class FileIdentity:
    """The file that a path led to when a store opened its first connection, and how large it has been seen."""

    def __init__(self, url: str, path: str) -> None:
        self._url = url
        self.path: Final = path
        self._opened: os.stat_result | None = None
        self._size = 0
        self._is_cut_short = False

    def learn(self) -> None:
        """Remember the file, which has just been opened for the first time."""
        if self._opened is None:
            self._opened = _found(self.path)

    def forget(self) -> None:
        """The store was closed: whatever is at the path when it is opened again is the file then."""
        self._opened, self._size, self._is_cut_short = None, 0, False

    def check(self, connection: sqlite3.Connection | None = None) -> None:
        """Raise ``StoreUnavailableError`` when the path leads to another file now, to none, or to less than the database.

        A file may become smaller by a VACUUM; ``connection`` tells how large the database is. One that was cut short stays so
        until the store is opened again: what SQLite writes into it from its log may make it as large as it was, with a hole.
        """
        # Read first: another thread may close the store meanwhile, or look at a larger file.
        opened, known = self._opened, self._size
        if opened is None:
            return
        found = _found(self.path)
        if found is None:
            raise self._changed("was deleted")
        if found.st_ino != opened.st_ino or found.st_dev != opened.st_dev:
            raise self._changed("was replaced by another one")
        if self._is_cut_short or (found.st_size < known and _is_less(found.st_size, connection)):
            self._is_cut_short = True
            raise self._changed("was cut short")
        self._size = found.st_size

    def _changed(self, what: str) -> StoreUnavailableError:
        return StoreUnavailableError(self._url, f"its file {what} while it was open; open the store again")


def refuse_network_file_system(url: str, path: str, *, mounts: Path = _MOUNTS) -> None:
    """Raise ``StoreUnavailableError`` for a path on a file system that several machines share, where a mount table tells.

    ``mounts`` is a table in the form of Linux's ``/proc/self/mountinfo``; without one nothing is known and nothing refused.
    """
    try:
        table = mounts.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return
    kind = _file_system(os.path.realpath(path), table)
    if kind is not None and kind.removeprefix("fuse.") in NETWORK_FILE_SYSTEMS:
        advice = f"it is on a network file system ({kind}), where SQLite's locks and shared memory don't work"
        raise StoreUnavailableError(url, f"{advice}; put the file on a local disk, or use PostgreSQL")


def _found(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116 - a tenth of Path's time, and every transaction asks twice
    except OSError:
        return None


def _is_less(size: int, connection: sqlite3.Connection | None) -> bool:
    """Whether a file of that size is less than its database. The file is not read: closing it would let go of its locks."""
    if connection is None:
        return size == 0
    try:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        (page_size,) = connection.execute("PRAGMA page_size").fetchone()
    except sqlite3.DatabaseError:
        return True  # it can't even be told
    # Where somebody's VACUUM came before and the rest is in the log still, this is too strict. That all of it can be read
    # proves nothing: the log may hold pages that SQLite takes to be in the file already.
    return bool(size < pages * page_size)


def _file_system(path: str, table: str) -> str | None:
    """The type of the file system that a path is on: of the longest mount point that leads to it, the latest of equals."""
    best, kind = -1, None
    for line in table.splitlines():
        mounted, dash, source = line.partition(" - ")
        fields = mounted.split(" ")
        if not dash or len(fields) < 5:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match.group(1), 8)), fields[4])  # blanks are written \040
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= best:
            best, kind = len(point), source.split(" ")[0]
    return kind
