"""Fetching the vocabulary on command: from a server or a file on this machine, never from the internet."""

from __future__ import annotations

import http.server
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sessionstore.counting import OfflineCounter, download_vocabulary
from sessionstore.counting.vocabulary import cache_folder, read_vocabulary
from sessionstore.errors import SessionStoreError, VocabularyError


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves the vocabulary, a wrong one, and nothing."""

    def do_GET(self) -> None:
        content = {"/right": read_vocabulary(), "/wrong": b"IQ== 0\n"}.get(self.path)
        self.send_response(404 if content is None else 200)
        self.end_headers()
        self.wfile.write(content or b"")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that the base class has
        """Says nothing on the terminal."""


@pytest.fixture
def server() -> Iterator[str]:
    """Address of a server on this machine."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy of the machine must not come between the test and its own server."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def test_what_is_downloaded_is_found_and_counts(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = download_vocabulary(tmp_path / "new" / "folder", url=f"{server}/right")
    assert stored.read_bytes() == read_vocabulary()
    assert [file.name for file in stored.parent.iterdir()] == ["o200k_base.tiktoken"]
    monkeypatch.setitem(sys.modules, "bpe_openai", None)
    counter = OfflineCounter(lambda: read_vocabulary(stored.parent))
    assert (counter.method, counter.count("one two three")) == ("o200k_base", 3)


def test_a_file_takes_the_place_of_an_address(tmp_path: Path) -> None:
    mirror = tmp_path / "mirror.tiktoken"
    mirror.write_bytes(read_vocabulary())
    assert download_vocabulary(tmp_path / "cache", url=str(mirror)).read_bytes() == mirror.read_bytes()


def test_the_users_cache_folder_is_the_default(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    stored = download_vocabulary(url=f"{server}/right")
    assert stored.parent == cache_folder()
    assert stored.is_relative_to(tmp_path)
    monkeypatch.setitem(sys.modules, "bpe_openai", None)
    assert read_vocabulary() == stored.read_bytes()


def test_a_wrong_digest_is_refused_and_the_good_file_stays(server: str, tmp_path: Path) -> None:
    stored = download_vocabulary(tmp_path, url=f"{server}/right")
    with pytest.raises(VocabularyError, match=r"/wrong sent 7 bytes with a wrong SHA-256, not stored; try another url"):
        download_vocabulary(tmp_path, url=f"{server}/wrong")
    assert stored.read_bytes() == read_vocabulary()
    assert list(tmp_path.iterdir()) == [stored]


def test_an_answer_that_is_an_error_is_a_typed_error(server: str, tmp_path: Path) -> None:
    with pytest.raises(VocabularyError, match=r"could not be fetched \(.*404.*\); check it, or give a mirror") as caught:
        download_vocabulary(tmp_path, url=f"{server}/missing")
    assert isinstance(caught.value, SessionStoreError)
    assert caught.value.name == "o200k_base"
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_says_nothing_is_given_up(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/right"
        with pytest.raises(VocabularyError, match=r"sent no whole file in 0\.5 s; try again"):
            download_vocabulary(tmp_path, url=address, timeout=0.5)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_a_typed_error(server: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(VocabularyError, match=r"could not be written .*; give a folder that can be"):
        download_vocabulary(tmp_path / "file", url=f"{server}/right")
