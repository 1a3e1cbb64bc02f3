"""Which file a SQLite connection is on, so that one that was replaced or deleted under an open store is noticed (OPS-2)."""
from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from sessionstore.errors import StoreUnavailableError

_MOUNTS: Final = Path("/proc/self/mountinfo")

NETWORK_FILE_SYSTEMS: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "glusterfs", "lustre", "ocfs2", "gfs2", "beegfs", "sshfs", "davfs"}
)
"""File systems of several machines: SQLite's write-ahead log needs memory that all its processes share, and locks that hold."""


class FileIdentity:
    """The file that a path led to when a connection was opened."""

    def __init__(self, url: str, path: str) -> None:
        self._url = url
        self._path = path
        self._opened = _number(path)

    def check(self) -> None:
        """Raise ``StoreUnavailableError`` when the path leads to another file now, or to none."""
        found = _number(self._path)
        if found == self._opened:
            return
        what = "was deleted" if found is None else "was replaced by another one"
        raise StoreUnavailableError(self._url, f"its file {what} while it was open; open the store again")


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


def _number(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - a tenth of Path's time, and every transaction asks twice
    except OSError:
        return None
    return found.st_dev, found.st_ino


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
