"""Which counter a store gets, what it loads and when, and how it says which one it is."""

from __future__ import annotations

import gzip
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sessionstore.counting import EstimatingCounter, OfflineCounter, VocabularyCounter, default_counter
from sessionstore.counting.vocabulary import read_vocabulary
from sessionstore.errors import VocabularyError

TEXT = "Count me, in any case: 12345."


def run(program: str) -> str:
    """What a fresh interpreter prints for a program."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout.strip()


@pytest.fixture
def damaged_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of the right name, found before the installed one; returns its vocabulary file, not yet there."""
    data = tmp_path / "bpe_openai" / "data"
    data.mkdir(parents=True)
    (data.parent / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "bpe_openai", raising=False)
    return data / "o200k_base.tiktoken.gz"


def test_the_default_counter_is_exact_and_says_so() -> None:
    """METER-1"""
    assert default_counter().method == "o200k_base"
    assert default_counter().count(TEXT) == VocabularyCounter().count(TEXT)


def test_the_default_counter_is_one_for_the_process() -> None:
    assert default_counter() is default_counter()


def test_importing_the_room_and_asking_the_method_load_no_tokenizer() -> None:
    program = (
        "import sys\n"
        "from sessionstore.counting import default_counter\n"
        "def loaded(): return [name for name in ('tiktoken', 'bpe_openai', 'platformdirs') if name in sys.modules]\n"
        "counter = default_counter()\n"
        "print(loaded(), counter.method, loaded(), counter.count('x'), loaded())"
    )
    assert run(program) == "[] o200k_base [] 1 ['tiktoken']"


def test_counting_opens_no_connection() -> None:
    """METER-1"""
    program = (
        "import socket\n"
        "def refuse(*_: object) -> None: raise AssertionError('network')\n"
        "socket.socket.connect = refuse; socket.getaddrinfo = refuse\n"
        "from sessionstore.counting import default_counter; print(default_counter().count('a b c'))"
    )
    assert run(program) == "3"


def test_without_the_package_the_estimate_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bpe_openai", None)
    counter = OfflineCounter(lambda: read_vocabulary(tmp_path))
    assert counter.count(TEXT) == EstimatingCounter().count(TEXT)
    assert counter.method == "estimate-1"


@pytest.mark.parametrize(
    "content",
    [b"", b"not gzip", gzip.compress(b"IQ== 0\nIg== 1\n"), gzip.compress(b"cut off" * 99)[:-20], b"\x1f\x8b\x08" + bytes(30)],
    ids=["empty", "not compressed", "wrong digest", "cut off", "damaged"],
)
def test_a_damaged_vocabulary_means_the_estimate_and_is_left_alone(
    content: bytes, damaged_package: Path, tmp_path: Path
) -> None:
    damaged_package.write_bytes(content)
    counter = OfflineCounter(lambda: read_vocabulary(tmp_path / "cache"))
    assert (counter.method, counter.count(TEXT)) == ("estimate-1", EstimatingCounter().count(TEXT))
    assert damaged_package.read_bytes() == content


def test_the_counter_that_must_be_exact_says_what_is_wrong_and_what_to_do(damaged_package: Path, tmp_path: Path) -> None:
    damaged_package.write_bytes(gzip.compress(b"IQ== 0\n"))
    counter = VocabularyCounter(lambda: read_vocabulary(tmp_path))
    with pytest.raises(VocabularyError, match=r"gz has a wrong SHA-256; .*tiktoken cannot be read .*; reinstall bpe-openai"):
        counter.count(TEXT)


def test_a_downloaded_vocabulary_counts_where_the_package_is_damaged(damaged_package: Path, tmp_path: Path) -> None:
    official = default_counter().count(TEXT)
    damaged_package.write_bytes(b"")
    with gzip.open(_installed_vocabulary()) as installed:
        (tmp_path / "o200k_base.tiktoken").write_bytes(installed.read())
    counter = OfflineCounter(lambda: read_vocabulary(tmp_path))
    assert (counter.method, counter.count(TEXT)) == ("o200k_base", official)


def test_the_method_once_told_holds_when_the_file_goes_away() -> None:
    answers = [read_vocabulary()]
    counter = OfflineCounter(answers.pop)
    assert counter.method == "o200k_base"
    assert counter.count(TEXT) == VocabularyCounter().count(TEXT)


def test_threads_asking_at_once_read_the_vocabulary_once() -> None:
    reads: list[int] = []
    told: list[tuple[str, int]] = []
    all_here = threading.Barrier(6)

    def read() -> bytes:
        reads.append(1)
        return read_vocabulary()

    counter = OfflineCounter(read)

    def ask() -> None:
        all_here.wait()
        told.append((counter.method, counter.count(TEXT)))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert reads == [1]
    assert set(told) == {("o200k_base", VocabularyCounter().count(TEXT))}
    assert len(told) == 6


def _installed_vocabulary() -> Path:
    """The vocabulary of the installed package, also while another package hides it."""
    places = (Path(entry) / "bpe_openai" / "data" / "o200k_base.tiktoken.gz" for entry in reversed(sys.path))
    return next(place for place in places if place.is_file())
