"""A file that doesn't continue the conversation of that id is refused, and nothing of it is stored."""
from __future__ import annotations

import json

import pytest

from sessionstore import ImportFormatError, SessionStore

SAID = [{"role": "user", "content": word} for word in ("one", "two", "three")]


def lines(*messages: dict[str, str]) -> list[str]:
    return [json.dumps(message) for message in messages]


def test_an_unrelated_file_is_not_put_behind_a_conversation(store: SessionStore) -> None:
    """IMP-2: what is new of a grown file comes in, not another conversation."""
    store.import_lines(lines(*SAID), id="a", name="first.jsonl")
    with pytest.raises(ImportFormatError, match="--id"):
        store.import_lines(lines({"role": "user", "content": "something else"}), id="a", name="other.jsonl")
    assert store.resume("a").context() == SAID


def test_a_file_that_went_on_in_another_way_is_refused_with_its_line(store: SessionStore) -> None:
    """IMP-2"""
    store.import_lines(lines(*SAID), id="a", name="first.jsonl")
    with pytest.raises(ImportFormatError, match="line 2"):
        store.import_lines(lines(SAID[0], {"role": "user", "content": "TWO"}, SAID[2]), id="a", name="other.jsonl")
    assert store.resume("a").context() == SAID


def test_a_grown_file_and_one_that_lost_its_beginning_come_in(store: SessionStore) -> None:
    """IMP-2"""
    more = {"role": "user", "content": "four"}
    store.import_lines(lines(*SAID), id="a", name="first.jsonl")
    assert store.import_lines(lines(*SAID, more), id="a", name="grown.jsonl").imported == 1
    assert store.import_lines(lines(SAID[2], more), id="a", name="cut.jsonl").imported == 0
    assert store.resume("a").context() == [*SAID, more]
