"""``sessionstore compact``: its contract with scripts, its plan, and its policy file."""
from __future__ import annotations

import json
from pathlib import Path

import pytest

from sessionstore import CompactionPolicy, SessionStore
from sessionstore.cli.policy_file import policy_from
from sessionstore.cli.settings import database_url

from .running import CommandLine

KEYS = [
    "status", "reason", "session_id", "continuation_id", "job_id", "tokens_before", "tokens_after", "messages_before",
    "messages_after", "summarizer", "degraded", "flush_cursor", "history_offset", "warnings",
]  # fmt: skip


def test_a_commit_is_exit_status_0_with_the_keys_of_the_contract(conversation: CommandLine) -> None:
    result = conversation.run("compact", "fix-auth", "--context-window", "48000", "--json")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert list(document) == KEYS
    assert (document["status"], document["session_id"], document["continuation_id"]) == ("committed", "fix-auth", "fix-auth~2")
    assert document["tokens_after"] < document["tokens_before"] * 0.9
    assert document["flush_cursor"] == document["messages_after"]
    assert document["history_offset"] == 0


def test_nothing_to_do_is_exit_status_0(compacted: CommandLine) -> None:
    """SHRINK-1: repeating a compaction without new work is a no-op."""
    document = compacted.json("compact", "fix-auth", "--json")
    assert (document["status"], document["continuation_id"]) == ("noop", None)


def test_a_stuck_session_is_exit_status_3_and_says_what_cannot_go(empty: CommandLine) -> None:
    """STUCK-1: what can't shrink is reported at once, with the irreducible parts named."""
    with SessionStore.open(database_url(str(empty.database))) as store:
        store.create_session("s").append({"role": "user", "content": "please read this: " + "many words " * 5_000})
    result = empty.run("compact", "s", "--context-window", "4000", "--json")
    assert result.exit_code == 3
    document = json.loads(result.stdout)
    assert list(document) == KEYS
    assert document["status"] == "stuck"
    assert "#0" in document["reason"]
    assert empty.run("compact", "s", "--context-window", "4000").stdout.startswith("stuck: ")
    assert empty.child("compact", "s", "--context-window", "4000").returncode == 3


def test_a_dry_run_shows_the_plan_and_changes_nothing(conversation: CommandLine) -> None:
    before = conversation.json("lineage", "fix-auth", "--json")
    text = conversation.succeed("compact", "fix-auth", "--dry-run", "--context-window", "48000")
    assert text.startswith("dry run, nothing was changed: compact, ")
    assert "the threshold is 24,000 of a window of 48,000" in text
    assert conversation.json("lineage", "fix-auth", "--json") == before
    document = conversation.json("compact", "fix-auth", "--dry-run", "--json")
    assert list(document) == [*KEYS, "plan"]
    assert document["job_id"] is None
    assert conversation.json("lineage", "fix-auth", "--json") == before


def test_a_dry_run_plans_what_the_real_run_does(conversation: CommandLine) -> None:
    arguments = ("compact", "fix-auth", "--context-window", "48000", "--json")
    plan = conversation.json(*arguments, "--dry-run")["plan"]
    conversation.json(*arguments)
    (record,) = conversation.json("lineage", "fix-auth", "--json")["compactions"]
    for part in ("head", "middle", "tail"):
        assert plan[part] == record[part]
    assert (plan["tokens_before"], plan["threshold"]) == (record["tokens_before"], 24_000)


def test_a_window_that_is_given_is_for_this_time_only(conversation: CommandLine) -> None:
    conversation.succeed("compact", "fix-auth", "--context-window", "48000")
    with SessionStore.open(database_url(str(conversation.database))) as store:
        assert store.resume("fix-auth").record().context_window is None


def test_an_unknown_window_is_assumed_with_a_warning(conversation: CommandLine) -> None:
    result = conversation.run("compact", "fix-auth", "--json")
    assert result.exit_code == 0
    assert any("128,000" in warning for warning in json.loads(result.stdout)["warnings"])


def test_a_focus_is_recorded(conversation: CommandLine) -> None:
    conversation.succeed("compact", "fix-auth", "--context-window", "48000", "--focus", "the invoice numbers")
    assert "focus: the invoice numbers" in conversation.succeed("lineage", "fix-auth")


@pytest.mark.parametrize(
    ("name", "text"),
    [("p.toml", "tail_messages = 5\nhead_messages = 1\n"), ("p.json", '{"tail_messages": 5, "head_messages": 1}')],
)
def test_a_policy_file_is_toml_or_json(conversation: CommandLine, tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    conversation.succeed("compact", "fix-auth", "--policy", str(path))
    policy = conversation.json("lineage", "fix-auth", "--json")["compactions"][0]["policy"]
    assert (policy["tail_messages"], policy["head_messages"]) == (5, 1)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("tail_mesages = 5", "'tail_mesages'; did you mean 'tail_messages'?"),
        ("colour = 'red'", "'colour'; there are trigger_ratio"),
        ("tail_messages = 'five'", "'tail_messages' is a whole number from 0 up, not 'five'"),
        ("tail_messages = 1.5", "'tail_messages' is a whole number"),
        ("min_saving = -0.1", "'min_saving' is a number from 0 up"),
        ("min_saving = nan", "'min_saving' is a number"),
        ("summarize = 1", "'summarize' is true or false"),
        ("on_failure = 'retry'", "'on_failure' is one of fallback, abort"),
        ("protected_tools = 'bash'", "'protected_tools' is a list of names"),
        ("tail_messages", "is not valid TOML"),
    ],
)
def test_a_policy_file_with_a_fault_names_it(conversation: CommandLine, tmp_path: Path, text: str, names: str) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(text)
    result = conversation.run("compact", "fix-auth", "--policy", str(path))
    assert result.exit_code == 2
    assert names in " ".join(result.stderr.split())
    assert conversation.json("lineage", "fix-auth", "--json")["compactions"] == []


def test_a_policy_file_that_is_missing_is_wrong_usage(conversation: CommandLine) -> None:
    assert conversation.run("compact", "fix-auth", "--policy", "missing.toml").exit_code == 2


def test_every_field_of_a_policy_can_be_written_in_json() -> None:
    default = CompactionPolicy()
    names = CompactionPolicy.__dataclass_fields__
    written = {name: getattr(default, name) for name in names}
    written = {name: sorted(value) if isinstance(value, frozenset) else value for name, value in written.items()}
    assert policy_from(json.loads(json.dumps(written))) == default
