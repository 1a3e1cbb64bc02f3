"""``sessionstore db`` and ``sessionstore vocabulary``."""
from __future__ import annotations

import gzip
import sqlite3
from importlib.util import find_spec
from pathlib import Path

from .running import CommandLine


def packaged_vocabulary(target: Path) -> Path:
    """The vocabulary of the package bpe-openai, unpacked, as somebody would carry it to a machine without a network."""
    package = find_spec("bpe_openai")
    assert package is not None
    assert package.origin is not None
    packed = Path(package.origin).parent / "data" / "o200k_base.tiktoken.gz"
    target.write_bytes(gzip.decompress(packed.read_bytes()))
    return target


def test_upgrade_creates_the_database_and_check_agrees(empty: CommandLine) -> None:
    assert "is at revision " in empty.succeed("db", "upgrade")
    document = empty.json("db", "current", "--json")
    assert document["revision"] == document["expected"]
    assert empty.succeed("db", "check").endswith("as it should be\n")


def test_looking_at_the_schema_creates_no_file(empty: CommandLine) -> None:
    for arguments in (["db", "current"], ["db", "check"]):
        result = empty.run(*arguments)
        assert result.exit_code == 1
        assert "sessionstore db upgrade" in result.stderr
    assert not empty.database.exists()


def test_a_database_of_a_newer_version_is_reported_and_refused(empty: CommandLine) -> None:
    """SCHEMA-1: a newer database is refused."""
    empty.succeed("db", "upgrade")
    connection = sqlite3.connect(empty.database)
    connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.commit()
    connection.close()
    assert empty.json("db", "current", "--json")["revision"] == "9999"
    for arguments in (["db", "check"], ["list"]):
        result = empty.run(*arguments)
        assert result.exit_code == 1
        assert "9999" in result.stderr
        assert result.stderr.count("\n") == 1


def test_a_database_without_our_tables_is_not_up_to_date(empty: CommandLine) -> None:
    sqlite3.connect(empty.database).close()
    empty.database.touch()
    assert empty.json("db", "current", "--json")["revision"] is None
    assert empty.run("db", "check").exit_code == 1


def test_the_vocabulary_can_come_from_a_local_file(empty: CommandLine, tmp_path: Path) -> None:
    file = packaged_vocabulary(tmp_path / "carried.tiktoken")
    folder = tmp_path / "cache"
    assert "the vocabulary is in" in empty.succeed("vocabulary", "download", "--url", str(file), "--folder", str(folder))
    assert (folder / "o200k_base.tiktoken").read_bytes() == file.read_bytes()


def test_a_vocabulary_that_is_another_file_is_an_error(empty: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "wrong.tiktoken"
    file.write_text("IQ== 0\n")
    result = empty.run("vocabulary", "download", "--url", str(file), "--folder", str(tmp_path / "cache"))
    assert result.exit_code == 1
    assert result.stderr.startswith("error: vocabulary o200k_base: ")
    assert result.stderr.count("\n") == 1
