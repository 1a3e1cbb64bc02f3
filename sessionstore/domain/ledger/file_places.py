"""One entry a file, however its path is spelled: absolute, or relative to a directory that the transcript names.

Two spellings are one file only where the directory is known for certain: the call says it (``workdir``, ``cd /repo &&`` before
it in the same line), or the harness announced it. That one path ends as another does proves nothing: there may be two clones.
"""
from __future__ import annotations

import posixpath
import re
from typing import Final

from sessionstore.domain.ledger.collector import FactCollector
from sessionstore.domain.messages import clean_text
from sessionstore.domain.redaction import redact

_ANNOUNCED: Final = re.compile(r"<cwd>\s*([^<\n]{1,300}?)\s*</cwd>")


class FilePlaces:
    """Notes what is done to files; ``directory`` is where relative paths begin unless the call says otherwise."""

    def __init__(self, collector: FactCollector, directory: str) -> None:
        self._collector = collector
        self.directory = directory
        self._key_at: dict[str, str] = {}
        self._location_of: dict[str, str] = {}
        for entry in collector.of_kind("file"):
            for spelling in (entry.key, *entry.about.split("\n")):
                if location := located(spelling, ""):
                    self._remember(entry.key, location)

    def announce(self, text: str) -> None:
        """Take the working directory from what a harness puts into the conversation, where it says one."""
        if found := _ANNOUNCED.findall(text):
            self.directory = clean_text(redact(found[-1]))

    def note(self, given: str, operation: str, seq: int, *, base: str | None) -> str:
        """Note that something was done to a file, and give the key of its entry.

        ``base`` is the directory that a relative path begins in, empty or None when it is not known.
        """
        path = redact(given)
        plain = path.removeprefix("./")
        location = located(path, base)
        key, text = plain, path
        if location:
            known = self._key_at.get(location)
            if known is not None:
                key = known
            elif self._location_of.get(plain, location) != location:
                # The same relative path in another directory is another file.
                key = text = location
        entry = self._collector.add("file", key, text, seq, source="call", operation=operation)
        if location:
            self._remember(entry.key, location)
            for spelling in (plain, location):
                if spelling != entry.key:
                    self._collector.name(entry, spelling)
        return entry.key

    def within(self, given: str) -> str:
        """The directory that a call works in, which may name one; empty when it is not known."""
        return joined(self.directory, redact(given)) if given else self.directory

    def _remember(self, key: str, location: str) -> None:
        self._key_at.setdefault(location, key)
        self._location_of.setdefault(key, location)


def located(path: str, base: str | None) -> str:
    """The absolute path of a file; empty when it is not known. One with ``..`` is not: there may be links on the way."""
    if "\\" in path or "\n" in path or ".." in path.split("/"):
        return ""
    found = path if is_absolute(path) else joined(base, path) if base else ""
    return posixpath.normpath(found) if is_absolute(found) else ""


def joined(base: str, path: str) -> str:
    """A path below a directory, or the path itself when it is absolute."""
    return path if is_absolute(path) or not base else posixpath.normpath(posixpath.join(base, path))


def is_absolute(path: str) -> bool:
    """Whether a path begins at the root or at somebody's home."""
    return path.startswith(("/", "~"))
