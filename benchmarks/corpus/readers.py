"""The files of the corpus, and their conversations, by the library's importers where it has one."""
from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.corpus.converters import CONVERTERS, aider
from benchmarks.payloads import Message
from benchmarks.settings import scratch
from sessionstore import ImportFormatError, SessionStore
from sessionstore.domain.closed_sets import Profile

ROOT = Path(__file__).parent.parent.parent
FOLDER = Path(os.environ.get("SESSIONSTORE_CORPUS", ROOT.parent / "shared" / "corpus"))
"""Where the corpus is: the environment says so, else a folder beside the repository."""
NOT_TRANSCRIPTS = ("LICENSES", "MANIFEST.tsv")


def corpus_files() -> list[Path]:
    """All transcripts there are; none when there is no corpus."""
    files = (file for file in FOLDER.glob("*/*") if file.parent.name not in NOT_TRANSCRIPTS)
    return sorted(file for file in files if not file.name.endswith(".meta.json"))


def conversations(file: Path, profile: Profile | None = None) -> Iterator[list[Message]]:
    """The message lists of a file, without system prompt: as they are, or as they go to a profile."""
    with scratch() as folder, SessionStore.open(f"sqlite:///{folder}/read.db") as store:
        for session_id in bring_in(store, file):
            session = store.resume(session_id)
            listed = session.context() if profile is None else session.render(profile)
            yield [message for message in listed if message.get("role") not in ("system", "developer")]


def bring_in(store: SessionStore, file: Path) -> list[str]:
    """Store a file's conversations; gives their ids. An importer is tried first, then the converter of its folder."""
    kind = file.parent.name
    if kind == "aider":
        return _store(store, aider(file.read_text(encoding="utf-8")))
    if kind not in CONVERTERS:
        try:
            return [one.session_id for one in store.import_file(file).lineages]
        except ImportFormatError:
            return []
    return _store(store, CONVERTERS[kind](_documents(file.read_text(encoding="utf-8", errors="replace"))))


def _store(store: SessionStore, lists: Iterator[list[Message]]) -> list[str]:
    found = []
    for messages in lists:
        if messages:
            session = store.create_session()
            session.append(messages)
            found.append(session.id)
    return found


def _documents(text: str) -> list[Any]:
    decoder, found, place = json.JSONDecoder(), [], 0
    while place < len(text):
        while place < len(text) and text[place].isspace():
            place += 1
        if place == len(text):
            break
        try:
            document, place = decoder.raw_decode(text, place)
            found.append(document)
        except json.JSONDecodeError:
            place = text.find("\n", place) + 1 or len(text)  # a torn record: the next line begins another
    return found
