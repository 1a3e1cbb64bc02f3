"""Models on the command line: which one is asked, by option, environment and file, and what the check says of it."""
from __future__ import annotations

import json
from pathlib import Path

import pytest

from sessionstore import SessionStore
from sessionstore.domain.sections import SECTIONS
from tests.cli.running import CommandLine
from tests.models.conftest import KEY
from tests.models.model_server import ModelServer, fails, refuses_schemas, says
from tests.models.transcript import begin, notes

TRIED = "\n".join(
    f"## {heading}\n{'Rename total to grand_total in billing/invoice.py' if heading == 'Active Task' else 'None'}"
    for heading in SECTIONS
)


@pytest.fixture
def command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The program, with a session to compact and no configuration."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("SUMMARIZER", "SUMMARIZER_MODEL", "SUMMARIZER_BASE_URL", "SUMMARIZER_API_KEY_ENV", "CONFIG"):
        monkeypatch.delenv(f"SESSIONSTORE_{name}", raising=False)
    database = tmp_path / "cli.db"
    with SessionStore.open(f"sqlite:///{database}") as store:
        begin(store)
    return CommandLine(database)


def write_config(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "config" / "sessionstore" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def policy(tmp_path: Path) -> str:
    path = tmp_path / "policy.toml"
    path.write_text("head_messages = 1\ntail_messages = 3\nkeep_tool_results = 0\n", encoding="utf-8")
    return str(path)


def test_compact_asks_the_model_that_is_named(command_line: CommandLine, server: ModelServer, tmp_path: Path) -> None:
    server.will(refuses_schemas(says(notes())))
    options = ("--summarizer", "openai", "--model", "by-option", "--base-url", f"{server.url}/o/v1")
    told = command_line.json("compact", "orders", "--policy", policy(tmp_path), *options, "--json")
    assert (told["status"], told["summarizer"], told["degraded"]) == ("committed", "openai:by-option", False)
    assert {asked.payload["model"] for asked in server.asked} == {"by-option"}


def test_without_configuration_no_model_is_asked(command_line: CommandLine, server: ModelServer, tmp_path: Path) -> None:
    told = command_line.json("compact", "orders", "--policy", policy(tmp_path), "--json")
    assert (told["status"], told["summarizer"]) == ("committed", "extractive")
    assert server.asked == []
    assert "extractive" in command_line.succeed("summarizers", "check")


def test_options_come_before_the_environment_and_that_before_the_file(
    command_line: CommandLine, server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.will(says(TRIED))
    write_config(tmp_path, f'[summarizer]\nkind = "openai"\nmodel = "by-file"\nbase_url = "{server.url}/f/v1"\ntimeout = 5\n')
    command_line.succeed("summarizers", "check")
    monkeypatch.setenv("SESSIONSTORE_SUMMARIZER_MODEL", "by-environment")
    command_line.succeed("summarizers", "check")
    command_line.succeed("summarizers", "check", "--model", "by-option")
    monkeypatch.setenv("SESSIONSTORE_SUMMARIZER", "anthropic")
    monkeypatch.setenv("SESSIONSTORE_SUMMARIZER_BASE_URL", f"{server.url}/e")
    command_line.succeed("summarizers", "check")
    assert [asked.payload["model"] for asked in server.asked] == ["by-file", "by-environment", "by-option", "by-environment"]
    assert server.asked[-1].path == "/e/v1/messages"


def test_the_file_names_a_main_model_and_the_variable_of_the_key(
    command_line: CommandLine, server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "mine-and-only-mine")
    write_config(
        tmp_path,
        f'[summarizer]\nkind = "openai"\nmodel = "auxiliary"\nbase_url = "{server.url}/k/v1"\napi_key_env = "MY_KEY"\n'
        f'[summarizer.main]\nkind = "anthropic"\nmodel = "main"\nbase_url = "{server.url}/k"\nwindow = 200000\n',
    )
    server.will(lambda handler, asked: (says(notes()) if asked.payload["model"] == "main" else fails(401))(handler, asked))
    told = command_line.json("compact", "orders", "--policy", policy(tmp_path), "--json")
    assert told["summarizer"] == "anthropic:main"
    assert "mine-and-only-mine" in server.asked[0].headers["authorization"]
    assert KEY in str(server.asked[-1].headers)


@pytest.mark.parametrize(("text", "said"), [
    ('[summarizer]\nkind = "opanai"', "is one of extractive, openai, anthropic"),
    ('[summarizer]\nmodle = "m"', "did you mean 'model'"),
    ('[summarizer]\napi_key = "sk-123456789"', "did you mean 'api_key_env'"),
    ('[summarizer]\napi_key_env = "sk-proj-123456789abc"', "the key itself has no place in a file"),
    ('[summarizer]\nkind = "openai"\ntimeout = -1', "number above 0"),
    ('[summarizer]\nkind = "openai"\nwindow = 1.5', "whole number"),
    ('[summarizer]\nkind = "openai"', "needs a model"),
    ('[summarizer]\nkind = "openai"\nmodel = "m"\nbase_url = "https://a:b@c/v1"', "an address only"),
    ("summarizer = 5", "is a table"),
    ("[summarizer", "not valid TOML"),
])
def test_a_wrong_file_is_told_by_what_is_wrong_and_no_key_is_repeated(
    command_line: CommandLine, tmp_path: Path, text: str, said: str
) -> None:
    """SEC-1"""
    write_config(tmp_path, text)
    result = command_line.run("summarizers", "check")
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
    assert "123456789" not in result.stderr


def test_the_check_says_what_works(command_line: CommandLine, server: ModelServer) -> None:
    server.will(refuses_schemas(says(TRIED)))
    options = ("--summarizer", "openai", "--model", "m", "--base-url", f"{server.url}/c/v1")
    (trial,) = command_line.json("summarizers", "check", *options, "--json")["summarizers"]
    assert (trial["works"], trial["schema"], trial["headings"], trial["names_task"]) == (True, False, 13, True)
    assert trial["usage"]["completion_tokens"] == 20
    text = command_line.succeed("summarizers", "check", *options)
    assert "openai:m: works" in text
    assert "asked for Markdown" in text
    assert "13 of 13 sections, the request is quoted" in text


@pytest.mark.parametrize(("status", "kind"), [(401, "bad_key"), (404, "not_found"), (500, "server_error")])
def test_the_check_names_the_failure_and_ends_with_status_1(
    command_line: CommandLine, server: ModelServer, status: int, kind: str
) -> None:
    """SEC-1"""
    server.will(fails(status, f"you sent {KEY}"))
    options = ("--summarizer", "openai", "--model", "m", "--base-url", f"{server.url}/{status}/v1")
    result = command_line.run("summarizers", "check", *options)
    assert (result.exit_code, KEY in result.output) == (1, False)
    assert kind in result.stdout
    result = command_line.run("summarizers", "check", *options, "--json")
    (trial,) = json.loads(result.stdout)["summarizers"]
    assert (trial["works"], trial["failure"]) == (False, kind)


def test_a_failed_model_leaves_the_session_as_it_is_with_status_3(
    command_line: CommandLine, server: ModelServer, tmp_path: Path
) -> None:
    """FAIL-1"""
    server.will(fails(500))
    options = ("--summarizer", "anthropic", "--model", "m", "--base-url", f"{server.url}/x")
    result = command_line.run("compact", "orders", "--policy", policy(tmp_path), *options)
    assert result.exit_code == 3
    assert "deferred" in result.stdout
    assert "server_error" in result.stdout
