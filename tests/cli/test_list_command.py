"""``sessionstore list``: the conversations, for people and for programs."""
from __future__ import annotations

import time
from pathlib import Path

from sessionstore import SessionStore
from sessionstore.cli.figures import ago, local_time
from sessionstore.cli.settings import database_url

from .running import CommandLine

KEYS = [
    "session_id", "lineage_id", "generation", "title", "namespace", "owner", "source", "model", "messages", "log_messages",
    "context_tokens", "started_at", "updated_at", "ended_at", "end_reason",
]  # fmt: skip


def fill(program: CommandLine, count: int) -> None:
    with SessionStore.open(database_url(str(program.database))) as store:
        for number in range(count):
            store.create_session(
                f"s{number}", title=f"Title {number}", namespace="even" if number % 2 == 0 else "odd", owner=f"o{number}"
            ).append({"role": "user", "content": "hello"})


def test_json_is_one_list_with_stable_keys(compacted: CommandLine) -> None:
    (session,) = compacted.json("list", "--json")
    assert list(session) == KEYS
    assert session["session_id"] == "fix-auth~2"
    assert session["title"] == "Fix auth #2"
    assert session["log_messages"] == 205
    assert session["started_at"].endswith("Z")


def test_the_table_is_plain_and_aligned_when_it_is_piped(empty: CommandLine) -> None:
    fill(empty, 3)
    done = empty.child("list")
    assert "\x1b" not in done.stdout
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["ID", "TITLE", "MESSAGES", "TOKENS", "LAST", "ACTIVE", "STATE"]
    assert {line.index("Title") for line in lines[1:]} == {lines[0].index("TITLE")}
    assert [line.split()[0] for line in lines[1:]] == ["s2", "s1", "s0"]


def test_a_terminal_gets_colour_and_relative_times(conversation: CommandLine) -> None:
    shown = conversation.on_terminal("list")
    assert "\x1b[" in shown
    assert " ago" in shown or "just now" in shown


def test_no_color_means_no_escape_sequence(conversation: CommandLine) -> None:
    for arguments in (["list"], ["lineage", "fix-auth"], ["show", "fix-auth", "--last", "5"]):
        assert "\x1b" not in conversation.on_terminal(*arguments, environment={"NO_COLOR": "1"})


def test_an_id_is_never_cut(empty: CommandLine) -> None:
    long_id = "a-very-long-id-" * 5
    with SessionStore.open(database_url(str(empty.database))) as store:
        store.create_session(long_id, title="a title of many words " * 4)
    assert long_id in empty.on_terminal("list", environment={"NO_COLOR": "1"})


def test_filters_and_limits(empty: CommandLine) -> None:
    fill(empty, 7)

    def ids(*arguments: str) -> list[str]:
        return [session["session_id"] for session in empty.json("list", "--json", *arguments)]

    assert ids("--namespace", "odd") == ["s5", "s3", "s1"]
    assert ids("--owner", "o4") == ["s4"]
    assert ids("--limit", "2") == ["s6", "s5"]
    assert ids("--limit", "2", "--all") == ids() == [f"s{number}" for number in reversed(range(7))]
    assert empty.run("list", "--limit", "7").stderr == ""
    assert "--all" in empty.run("list", "--limit", "6").stderr


def test_more_conversations_than_fit_a_page_are_listed_once_each(empty: CommandLine) -> None:
    with SessionStore.open(database_url(str(empty.database)), durability="normal") as store:
        for number in range(620):
            store.create_session(f"s{number}")
    listed = [session["session_id"] for session in empty.json("list", "--limit", "610", "--json")]
    assert listed == [f"s{number}" for number in reversed(range(10, 620))]


def test_sessions_that_ended_are_left_out_on_request(empty: CommandLine) -> None:
    fill(empty, 2)
    with SessionStore.open(database_url(str(empty.database))) as store:
        store.resume("s1").end("finished")
    assert [session["session_id"] for session in empty.json("list", "--open", "--json")] == ["s0"]
    assert "ended: finished" in empty.succeed("list")


def test_an_empty_store_says_what_to_do_next(empty: CommandLine, tmp_path: Path) -> None:
    result = empty.run("list")
    assert (result.exit_code, result.stdout) == (0, "")
    assert str(tmp_path) in result.stderr
    assert "sessionstore import" in result.stderr
    assert empty.json("list", "--json") == []


def test_tokens_that_nobody_counted_are_not_counted_for_a_list(empty: CommandLine) -> None:
    """READ-1: listing sessions reads no bodies."""
    fill(empty, 1)
    assert empty.json("list", "--json")[0]["context_tokens"] is None
    counted = empty.json("lineage", "s0", "--json")["sessions"][0]["context_tokens"]
    assert empty.json("list", "--json")[0]["context_tokens"] == counted > 0


def test_times_are_told_as_their_distance() -> None:
    now = time.time()
    told = [ago(now - seconds, now) for seconds in (0, 42, 60, 3_599, 7_200, 86_400, 29 * 86_400)]
    assert told == ["just now", "42 s ago", "1 min ago", "59 min ago", "2 h ago", "1 day ago", "29 days ago"]
    assert ago(now - 40 * 86_400, now) == local_time(now - 40 * 86_400)[:10]
    assert ago(now + 3_600, now) == local_time(now + 3_600)
