"""Real transcripts from a folder beside the repository; collected only where there is one (see conftest)."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sessionstore.formats.json_lines import JsonRecord, read_json_lines
from sessionstore.formats.message_pieces import unstored_part
from sessionstore.formats.parsed import ParsedMessage
from sessionstore.formats.transcript_source import read_transcript
from tests.formats.conftest import CORPUS


@pytest.mark.parametrize("file", sorted(CORPUS.glob("claude-code/*.jsonl")), ids=lambda file: file.name)
def test_no_message_of_a_real_session_file_is_lost_or_doubled(file: Path) -> None:
    """IMP-1"""
    transcript = read_transcript(file)
    assert transcript.format == "claude-code"
    values = [
        item.value
        for item in read_json_lines(file.read_text(encoding="utf-8").split("\n"))
        if isinstance(item, JsonRecord)
    ]
    written = [
        value["uuid"]
        for value in values
        if value.get("type") in ("user", "assistant") or value.get("attachment", {}).get("type") == "queued_command"
    ]
    keys = [
        key
        for lineage in transcript.lineages
        for message in lineage.messages
        for key in ([piece.key for piece in message.pieces] or [message.key])
    ]
    summaries = sum(len(lineage.compactions) for lineage in transcript.lineages)
    refused = sum("cannot be stored" in damaged.reason for damaged in transcript.damaged)
    again = transcript.skipped.get("the same record again", 0)
    assert len(keys) == len(set(keys))
    assert len(keys) + summaries + refused + again == len(written)
    assert {key.removesuffix(":2") for key in keys} <= set(written)


@pytest.mark.parametrize("file", sorted(CORPUS.glob("openai-chat/*")), ids=lambda file: file.name)
def test_no_message_of_a_real_request_log_is_lost(file: Path) -> None:
    transcript = read_transcript(file)
    system = sum(message["role"] == "system" for message in json.loads(file.read_text(encoding="utf-8"))["messages"])
    total = len(json.loads(file.read_text(encoding="utf-8"))["messages"])
    assert sum(len(lineage.messages) for lineage in transcript.lineages) == total - system + 1
    assert transcript.damaged == ()


def test_real_snapshots_of_a_growing_file_add_up_to_the_last_one() -> None:
    """IMP-2"""
    stored: dict[str, ParsedMessage] = {}
    lineages = [read_transcript(file).lineages[0] for file in sorted(CORPUS.glob("claude-code/08?-*.jsonl"))]
    for lineage in lineages:
        for message in lineage.messages:
            part = unstored_part(message, stored.__contains__)
            if part is not None:
                stored[part.key] = part
    blocks = [block for message in stored.values() for block in _blocks(message)]
    assert blocks == [block for lineage in lineages[-1:] for message in lineage.messages for block in _blocks(message)]


def _blocks(message: ParsedMessage) -> list[Any]:
    content = json.loads(message.body)["content"]
    return content if isinstance(content, list) else [content]
