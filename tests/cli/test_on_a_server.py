"""Every command that touches a database does and says on a server what it does and says on a file."""
from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from sqlalchemy.engine import make_url

from sessionstore.cli import main
from tests.cli.running import TRANSCRIPT

# In an order in which each finds what it needs. What differs by the database itself (its size, a backup) is tested elsewhere.
COMMANDS = (
    ("db", "upgrade"),
    ("db", "check"),
    ("import", str(TRANSCRIPT), "--id", "fix-auth", "--title", "Fix auth"),
    ("import", str(TRANSCRIPT), "--id", "fix-auth"),
    ("compact", "fix-auth", "--context-window", "48000", "--dry-run"),
    ("compact", "fix-auth", "--context-window", "48000"),
    ("show", "Fix auth"),
    ("show", "fix-auth", "--json"),
    ("lineage", "fix-"),
    ("pin", "fix-auth", "14", "15"),
    ("task", "fix-auth", "--goal", "Make the login safe", "--add", "Read the code"),
    ("task", "fix-auth", "--json"),
    ("search", "pytest", "--lineage", "fix-auth"),
    ("search", "--build-index", "pytest"),
    ("fork", "fix-auth", "--at", "57", "--id", "fix-auth-again"),
    ("undo", "fix-auth"),
    ("rewind", "fix-auth", "57"),
    ("worker", "--once"),
    ("list",),
    ("list", "--json"),
    ("lineage", "fix-auth", "--json"),
    ("export", "fix-auth", "--lineage"),
    ("doctor",),
    ("prune", "--older-than", "90d", "--dry-run"),
    ("delete", "fix-auth-again", "--yes"),
    ("show", "fix-auth-again"),
    ("list",),
)

CHANGING = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|\+00:00)?|[\d,.]+ m?s\b|"
    r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b\d{10}\.\d+\b"
)
"""Times, durations and random ids in what people read."""

_TIMES = {"at", "created_at", "started_at", "updated_at", "ended_at", "finished_at", "closed_at", "lease_expires_at"}


@dataclass(frozen=True)
class Told:
    """What a command said, without what is another thing each time."""

    command: tuple[str, ...]
    status: int
    said: str
    complained: str = field(default="")


def told_by(url: str) -> list[Told]:
    found = []
    for command in COMMANDS:
        result = CliRunner().invoke(main, ["--db", url, *command])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        said, complained = (CHANGING.sub("…", text.replace(_shown(url), "URL")) for text in (result.stdout, result.stderr))
        found.append(Told(command, result.exit_code, without_times(said), complained))
    return found


def _shown(url: str) -> str:
    return make_url(url).render_as_string(hide_password=True)


def without_times(said: str) -> str:
    """JSON with the values of its times left out."""
    lines = []
    for line in said.splitlines():
        try:
            lines.append(json.dumps(_bare(json.loads(line))))
        except ValueError:
            lines.append(line)
    return "\n".join(lines)


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: None if name in _TIMES and not isinstance(item, str) else _bare(item) for name, item in value.items()}
    return [_bare(item) for item in value] if isinstance(value, list) else value


def test_every_command_says_the_same_on_both_databases(tmp_path: Path, postgres_url: str) -> None:
    on_a_file, on_a_server = told_by(f"sqlite:///{tmp_path}/sessions.db"), told_by(postgres_url)
    for expected, found in zip(on_a_file, on_a_server, strict=True):
        assert found == expected
    assert [one.command[0] for one in on_a_file if one.status] == ["show"], "the one that was deleted"
