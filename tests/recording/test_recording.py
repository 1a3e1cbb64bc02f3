"""The shipped transcript is a recording: it can be made again, its results are real, and it is fit for the demo."""
import json
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from .record import main, record_transcript, to_json_lines

SHIPPED = Path(__file__).parents[2] / "sessionstore" / "cli" / "demo_transcript.jsonl"
Record = dict[str, Any]


@dataclass(frozen=True)
class Recordings:
    """The same script played twice, in folders whose paths have different lengths."""

    folder: Path
    first: str
    second: str


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Recordings:
    folder = tmp_path_factory.mktemp("recordings")
    scratch = folder / "a-folder-with-a-rather-long-name" / "and-another-below-it"
    scratch.mkdir(parents=True)
    output = folder / "second.jsonl"
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(lambda: to_json_lines(record_transcript(scratch)))
        status = pool.submit(main, [str(output)])
        assert status.result() == 0
        return Recordings(folder, first.result(), output.read_text(encoding="utf-8"))


@pytest.fixture(scope="module", params=["shipped", "recorded"])
def records(request: pytest.FixtureRequest) -> list[Record]:
    """Both the shipped file and a new recording have to have the properties that the tests below ask for."""
    if request.param == "shipped":
        return parse(SHIPPED.read_text(encoding="utf-8"))
    recordings: Recordings = request.getfixturevalue("recordings")
    return parse(recordings.first)


def parse(text: str) -> list[Record]:
    return [json.loads(line) for line in text.splitlines()]


def exit_status(record: Record) -> int | None:
    """The exit status that a terminal result ends with; None for any other message."""
    found = re.search(r"^exit status (\d+)\Z", record["content"] or "", re.MULTILINE)
    return int(found[1]) if found and record.get("name") == "terminal" else None


def commands_with_results(records: list[Record]) -> list[tuple[str, Record]]:
    """Every terminal command with its result, in the order in which they ran."""
    results = {one["tool_call_id"]: one for one in records if one["role"] == "tool"}
    return [
        (json.loads(call["function"]["arguments"])["command"], results[call["id"]])
        for one in records for call in one.get("tool_calls", []) if call["function"]["name"] == "terminal"
    ]


def test_recording_twice_gives_the_same_bytes(recordings: Recordings) -> None:
    assert recordings.first == recordings.second


def test_recording_again_gives_the_shipped_conversation(recordings: Recordings) -> None:
    """Words, calls, ids, times and exit statuses are equal; so is the commit's hash, which the agent's last words name.

    The text of tool results is left out: tracebacks and pytest's explanations differ between versions of both.
    """
    def without_output(record: Record) -> Record:
        return {**record, "content": exit_status(record)} if record["role"] == "tool" else record

    shipped = parse(SHIPPED.read_text(encoding="utf-8"))
    assert [without_output(one) for one in parse(recordings.first)] == [without_output(one) for one in shipped]


def test_messages_form_one_chain_in_time(records: list[Record]) -> None:
    system, *messages = records
    assert system.keys() == {"role", "content"}
    assert system["role"] == "system"
    assert [one["id"] for one in messages] == [f"m{number:03d}" for number in range(1, len(messages) + 1)]
    assert [one["parent"] for one in messages] == [None, *(one["id"] for one in messages[:-1])]
    times = [datetime.fromisoformat(one["created_at"]) for one in messages]
    assert all(earlier < later for earlier, later in pairwise(times))


def test_every_call_is_followed_by_its_result(records: list[Record]) -> None:
    position = 0
    while position < len(records):
        calls = records[position].get("tool_calls", [])
        results = records[position + 1 : position + 1 + len(calls)]
        assert [one.get("tool_call_id") for one in results] == [call["id"] for call in calls]
        assert [one["name"] for one in results] == [call["function"]["name"] for call in calls]
        position += 1 + len(calls)
        assert position == len(records) or records[position]["role"] != "tool"


def test_it_is_long_enough_to_be_worth_compacting(records: list[Record]) -> None:
    """35,000 to 60,000 tokens, at the 4.2 characters of the file that a token of o200k_base has here."""
    assert 147_000 < len(to_json_lines(records)) < 252_000
    assert len(records) > 120
    assert sum(one["role"] == "user" for one in records) >= 8
    assert sum(len(one.get("tool_calls", [])) > 1 for one in records) > 20


def test_large_outputs_come_twice(records: list[Record]) -> None:
    contents = Counter(one["content"] for one in records if one["role"] == "tool" and len(one["content"]) > 3_000)
    assert [count for count in contents.values() if count > 1] == [2, 2]


def test_commands_really_fail(records: list[Record]) -> None:
    statuses = [exit_status(result) for _, result in commands_with_results(records)]
    assert {1, 2, 127, 128} <= set(statuses)
    assert any("Traceback (most recent call last)" in (one["content"] or "") for one in records if one["role"] == "tool")


def test_an_edit_misses_and_is_mended(records: list[Record]) -> None:
    edits = [one["content"] for one in records if one.get("name") == "patch"]
    missed = [index for index, content in enumerate(edits) if content.startswith("error: search text not found")]
    assert len(missed) == 1
    assert edits[missed[0] + 1].startswith("patched tallybook/money.py")


def test_the_fixes_turn_the_tests_green(records: list[Record]) -> None:
    suite = [result for command, result in commands_with_results(records) if command.startswith("python -m pytest")]
    assert exit_status(suite[0]) == 1
    assert sum(exit_status(one) == 1 for one in suite) >= 5
    assert [exit_status(one) for one in suite[-3:]] == [0, 0, 0]
    assert "83 passed" in suite[-1]["content"]


def test_the_work_ends_in_commits(records: list[Record]) -> None:
    log = [one["content"] for command, one in commands_with_results(records) if "log --oneline main..HEAD" in command]
    subjects = [line.split(" ", 2)[1] for line in log[-1].splitlines()[:-1]]
    assert subjects == ["Release", "TB-153:", "TB-150:", "TB-147:", "TB-142:"]


def test_no_trace_of_the_recording_machine(records: list[Record], recordings: Recordings) -> None:
    text = to_json_lines(records)
    assert str(recordings.folder) not in text
    paths = re.findall(r"/(?:home|root|Users|tmp|private|var|opt|usr)/[\w./-]+", text)
    assert {path for path in paths if not path.startswith("/home/dev/tallybook")} == {"/usr/bin/python3"}
    hosts = re.findall(r"(?:https?://|(?<!\\)\w@)([\w.]+\w)", text)
    assert set(hosts) == {"example.com", "staging.example.com", "127.0.0.1"}


def test_usage_without_an_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "OUTPUT" in capsys.readouterr().err
