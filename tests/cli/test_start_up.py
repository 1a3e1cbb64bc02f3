"""What the program loads before it answers: modules are counted, not seconds."""
from __future__ import annotations

import json
import subprocess
import sys

import pytest
from click import Context

from sessionstore import SessionStore
from sessionstore.cli import main
from sessionstore.cli.program import COMMANDS

from .running import CommandLine

NAMES = [(name, sentence) for commands in COMMANDS.values() for name, sentence in commands.items()]
USER = {"role": "user", "content": "Why does the login time out after a day?"}


def loaded_by(*arguments: str) -> set[str]:
    """The modules that are loaded when the program has done what it was told."""
    program = f"""
import json, sys
from sessionstore.cli import main
main({list(arguments)!r}, standalone_mode=False)
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout
    return set(json.loads(done.stderr))


def ours(modules: set[str]) -> set[str]:
    """Those of this package."""
    return {name for name in modules if name.startswith("sessionstore.")}


def of(modules: set[str], *packages: str) -> set[str]:
    """Those of some packages, the packages themselves included."""
    return {name for name in modules if any(name == package or name.startswith(f"{package}.") for package in packages)}


@pytest.mark.parametrize(("name", "sentence"), NAMES)
def test_the_list_of_commands_says_what_each_says_itself(name: str, sentence: str) -> None:
    command = main.get_command(Context(main), name)
    assert command is not None
    assert command.get_short_help_str(limit=200) == sentence


def test_help_loads_no_command_and_nothing_that_a_command_needs() -> None:
    assert ours(loaded_by("--help")) == {
        "sessionstore.cli",
        "sessionstore.cli.failure",
        "sessionstore.cli.program",
        "sessionstore.cli.settings",
    }


def test_lineage_loads_nothing_that_compacts_renders_imports_or_counts(empty: CommandLine) -> None:
    with SessionStore.open(f"sqlite:///{empty.database}") as store:
        session = store.create_session(id="fix-auth")
        session.append(USER)
        session.pressure()
    loaded = loaded_by("--db", str(empty.database), "lineage", "fix-auth")
    assert len(ours(loaded)) < 110
    unneeded = of(
        loaded,
        "sessionstore.compaction",
        "sessionstore.formats",
        "sessionstore.summarizers",
        "sessionstore.domain.ledger",
        "sessionstore.domain.rendering",
        "sqlalchemy.dialects.postgresql",
        "alembic",
        "rich",
        "tiktoken",
        "bpe_openai",
        "aiosqlite",
    )
    assert unneeded == set()


@pytest.mark.parametrize("prompt", [None, "You mend logins."])
@pytest.mark.parametrize("told", ["nothing", "counted", "measured", "measured, then more"])
def test_lineage_shows_the_tokens_of_the_tip_however_they_are_known(
    empty: CommandLine, told: str, prompt: str | None
) -> None:
    with SessionStore.open(f"sqlite:///{empty.database}") as store:
        session = store.create_session(id="fix-auth", system_prompt=prompt, tool_schema_tokens=40)
        session.append(USER)
        if told == "counted":
            session.pressure()
        elif told != "nothing":
            session.record_usage(prompt=1_000, completion=20)
        if told == "measured, then more":
            session.append(USER)
    shown = empty.json("lineage", "fix-auth", "--json")["sessions"][0]["context_tokens"]
    with SessionStore.open(f"sqlite:///{empty.database}") as store:
        assert store.session("fix-auth").pressure().tokens == shown
