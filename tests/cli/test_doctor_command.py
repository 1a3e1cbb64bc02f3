"""``sessionstore doctor``."""
from __future__ import annotations

import json
import sqlite3

from .running import CommandLine


def damage(program: CommandLine, statement: str) -> None:
    connection = sqlite3.connect(program.database)
    connection.execute(statement)
    connection.commit()
    connection.close()


def test_a_healthy_database_gives_exit_status_0(compacted: CommandLine) -> None:
    assert compacted.succeed("doctor").startswith("healthy: 1 conversation examined")
    assert compacted.json("doctor", "--json") == {"healthy": True, "lineages": 1, "findings": []}


def test_damage_gives_exit_status_1_until_it_is_repaired(compacted: CommandLine) -> None:
    """OPS-1"""
    damage(compacted, "UPDATE sessions SET flush_cursor = 1 WHERE generation = 2")
    found = compacted.run("doctor")
    assert found.exit_code == 1
    assert "cursor_outside_context" in found.stdout
    assert "fix-auth~2" in found.stdout
    assert "1 left as damage" in found.stdout
    document = json.loads(compacted.run("doctor", "--json").stdout)
    assert document["healthy"] is False
    assert document["findings"] == [
        {
            "code": "cursor_outside_context",
            "lineage_id": "fix-auth",
            "session_id": "fix-auth~2",
            "seq": None,
            "message": document["findings"][0]["message"],
            "repaired": False,
            "damage": True,
        }
    ]
    assert "1 repaired, 0 left" in compacted.succeed("doctor", "--repair")
    assert compacted.succeed("doctor").startswith("healthy")


def test_oddities_are_shown_and_leave_exit_status_0(empty: CommandLine) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [{"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "user", "content": "go on"}]
    file = empty.database.parent / "odd.jsonl"
    file.write_text("".join(json.dumps(message) + "\n" for message in messages), encoding="utf-8")
    empty.succeed("import", str(file), "--id", "odd")
    assert "call_without_result" in empty.succeed("doctor")
