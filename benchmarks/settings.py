"""What a run was asked for, and where it may write."""
from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

MEMORY_FOLDER = Path("/dev/shm")


@dataclass(frozen=True, slots=True)
class Settings:
    """``quick`` makes everything small, ``peers`` installs and runs other people's packages too."""

    quick: bool = False
    peers: bool = False

    def pick(self, full: int, quick: int) -> int:
        """A size or a number of rounds for this run."""
        return quick if self.quick else full


def cache_folder() -> Path:
    """Where virtual environments of the peers are kept: the user's cache folder, outside the repository."""
    return user_cache_path("sessionstore-benchmarks", ensure_exists=True)


def new_folder(*, on_disk: bool = False) -> Path:
    """An empty folder for databases, in memory unless ``on_disk``; whoever asks for it deletes it."""
    parent = MEMORY_FOLDER if MEMORY_FOLDER.is_dir() and not on_disk else cache_folder()
    return Path(tempfile.mkdtemp(prefix="sessionstore-benchmark-", dir=parent))


@contextmanager
def scratch(*, on_disk: bool = False) -> Iterator[Path]:
    """The same for as long as a block lasts."""
    folder = new_folder(on_disk=on_disk)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
