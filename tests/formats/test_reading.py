"""Reading a transcript of any format: detection by content, files and lines, and the real files where they are present."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sessionstore.errors import ImportFormatError
from sessionstore.formats.detection import detect_format
from sessionstore.formats.parsed import ParsedTranscript
from sessionstore.formats.transcript_source import ImportFormat, read_transcript

USER = '{"role": "user", "content": "hi"}'
CLAUDE = '{"type": "user", "uuid": "u1", "parentUuid": null, "sessionId": "s1", "message": {"role": "user", "content": "hi"}}'


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([USER], "openai"),
        (["torn {", "", USER], "openai"),
        (['{"messages": [' + USER + "]}"], "openai"),
        ([CLAUDE], "claude-code"),
        (['{"type": "mode", "mode": "x"}', '{"type": "summary", "summary": "t", "leafUuid": "u1"}'], "claude-code"),
        (['{"sessionstore": 1, "lineage_id": "x"}', USER], "sessionstore"),
    ],
)
def test_the_format_is_found_by_content(lines: list[str], expected: str) -> None:
    assert detect_format(lines) == expected


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("", "empty"),
        ('{"type": "session_meta", "payload": {}}', "type, payload"),
        ("[1, 2]", "not messages"),
        ('{\n"info": 1\n}', "info"),
        ("# a heading", "does not begin"),
    ],
)
def test_an_unknown_format_says_what_was_seen_and_what_there_is(text: str, seen: str) -> None:
    with pytest.raises(ImportFormatError, match=seen) as caught:
        read_transcript(text.split("\n"), name="notes.txt")
    assert caught.value.name == "notes.txt"
    assert "claude-code" in str(caught.value) or not text


def _texts(transcript: ParsedTranscript) -> list[Any]:
    return [json.loads(message.body)["content"] for lineage in transcript.lineages for message in lineage.messages]


@pytest.mark.parametrize(
    "text", ["[" + USER + "]", "[\n" + USER + "\n]\n", '\ufeff{\r\n"messages": [' + USER + "\r\n]}", USER, CLAUDE]
)
def test_documents_and_lines_are_told_apart_in_files_and_in_lines(tmp_path: Path, text: str) -> None:
    file = tmp_path / "wrong-suffix.txt"
    file.write_bytes(text.encode())
    assert _texts(read_transcript(file)) == ["hi"]
    assert _texts(read_transcript(text.split("\n"))) == ["hi"]


def test_a_torn_first_line_does_not_make_lines_a_document() -> None:
    transcript = read_transcript(['{"role": "user", "content": "raw', 'break"}', USER, '{"role": "us'])
    assert _texts(transcript) == ["raw\nbreak", "hi"]
    assert [line.line for line in transcript.damaged] == [4]


def test_lines_of_nothing_known_can_be_taken_for_messages_on_request() -> None:
    transcript = read_transcript(["torn {"], format="jsonl")
    assert transcript.lineages == ()
    assert [line.line for line in transcript.damaged] == [1]


@pytest.mark.parametrize("wanted", ["auto", "sessionstore"])
def test_the_own_export_is_left_to_its_reader(wanted: ImportFormat) -> None:
    with pytest.raises(ImportFormatError, match="its own importer"):
        read_transcript(['{"sessionstore": 1}'], format=wanted)


def test_bytes_that_are_not_utf8_are_reported_and_the_message_comes_in(tmp_path: Path) -> None:
    """IMP-1"""
    file = tmp_path / "latin.jsonl"
    file.write_bytes(USER.encode() + b'\n{"role": "user", "content": "caf\xe9"}\n')
    transcript = read_transcript(file)
    assert _texts(transcript) == ["hi", "caf\ufffd"]
    assert [line.line for line in transcript.damaged] == [2]


def test_only_line_feeds_end_a_line(tmp_path: Path) -> None:
    file = tmp_path / "separators.jsonl"
    file.write_bytes('{"role": "user", "content": "a\u2028b\x85c"}\r\n'.encode())
    assert _texts(read_transcript(file)) == ["a\u2028b\x85c"]


def test_a_file_that_is_not_there_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(ImportFormatError, match="cannot be read"):
        read_transcript(tmp_path / "absent.jsonl")
