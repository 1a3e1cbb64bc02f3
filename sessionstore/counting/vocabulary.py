"""Where the vocabulary of o200k_base is found on this machine, and how one is fetched when somebody says so."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import subprocess
import sys
import uuid
import zlib
from pathlib import Path
from typing import Final

from sessionstore.errors import VocabularyError

VOCABULARY_NAME: Final = "o200k_base"
"""Name of the encoding, and the method of the numbers counted with it."""

VOCABULARY_DIGEST: Final = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""Official SHA-256 of the vocabulary, as tiktoken's own table of encodings states it."""

VOCABULARY_URL: Final = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
"""Official address of the vocabulary, the one that tiktoken uses."""

_FETCH: Final = "import sys; from tiktoken.load import read_file; sys.stdout.buffer.write(read_file(sys.argv[1]))"


def read_vocabulary(folder: Path | None = None) -> bytes:
    """The vocabulary that is on this machine, digest checked: the one in the `bpe-openai` package, else a downloaded one.

    `folder` is where `download_vocabulary` put it, by default the user's cache folder. Never uses the network,
    never imports `bpe_openai` (which would unpack three vocabularies), never deletes a file.
    Raises `VocabularyError`, which says what is wrong in each place.
    """
    failures: list[str] = []
    for find in (_packaged_file, lambda: _downloaded_file(folder)):
        place = find()
        if place is None:
            failures.append("the package bpe-openai is not installed")
            continue
        try:
            content = gzip.decompress(place.read_bytes()) if place.suffix == ".gz" else place.read_bytes()
        except (OSError, EOFError, zlib.error) as error:
            failures.append(f"{place} cannot be read ({error})")
            continue
        if _is_official(content):
            return content
        failures.append(f"{place} has a wrong SHA-256")
    raise VocabularyError(
        VOCABULARY_NAME, "; ".join(failures) + "; reinstall bpe-openai, or call download_vocabulary()"
    )


def download_vocabulary(
    folder: Path | None = None, *, url: str = VOCABULARY_URL, timeout: float = 60.0
) -> Path:
    """Fetches the vocabulary, checks its digest, stores it, and returns the file: the only thing here that uses the network.

    `folder` is by default the user's cache folder; `url` may be a mirror or the path of a local file; `timeout`
    is in seconds and covers the whole of it. What is stored replaces an older file in one step; a failure
    leaves the folder as it was. A `default_counter` that already answers with the estimate goes on with it
    until its process ends. Raises `VocabularyError`.
    """
    try:
        # tiktoken's loader has no time-out and waits for minutes where packets are dropped: a process can be ended.
        fetched = subprocess.run(
            [sys.executable, "-P", "-c", _FETCH, url], capture_output=True, check=True, timeout=timeout
        ).stdout
    except subprocess.TimeoutExpired as error:
        raise VocabularyError(
            VOCABULARY_NAME, f"{url} sent no whole file in {timeout:g} s; try again, or give a mirror or a file as url"
        ) from error
    except (OSError, subprocess.CalledProcessError) as error:
        said = error.stderr if isinstance(error, subprocess.CalledProcessError) else str(error).encode()
        cause = said.decode(errors="replace").strip().rpartition("\n")[2]
        raise VocabularyError(
            VOCABULARY_NAME, f"{url} could not be fetched ({cause}); check it, or give a mirror or a file as url"
        ) from error
    if not _is_official(fetched):
        raise VocabularyError(
            VOCABULARY_NAME, f"{url} sent {len(fetched)} bytes with a wrong SHA-256, not stored; try another url"
        )
    return _stored(_downloaded_file(folder), fetched)


def cache_folder() -> Path:
    """The user's cache folder for downloaded vocabularies, as the platform has it; not created by asking."""
    import platformdirs

    return platformdirs.user_cache_path("sessionstore")


def _packaged_file() -> Path | None:
    """The compressed vocabulary in the `bpe-openai` package, found without importing the package."""
    package = importlib.util.find_spec("bpe_openai")
    if package is None or not package.submodule_search_locations:
        return None
    return Path(package.submodule_search_locations[0]) / "data" / f"{VOCABULARY_NAME}.tiktoken.gz"


def _downloaded_file(folder: Path | None) -> Path:
    return (folder or cache_folder()) / f"{VOCABULARY_NAME}.tiktoken"


def _is_official(content: bytes) -> bool:
    return hashlib.sha256(content).hexdigest() == VOCABULARY_DIGEST


def _stored(target: Path, content: bytes) -> Path:
    """Writes under a name of its own first, so that a reader never sees half a file; returns `target`."""
    unfinished = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            unfinished.write_bytes(content)
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise VocabularyError(
            VOCABULARY_NAME, f"{target} could not be written ({error}); give a folder that can be"
        ) from error
    return target
