"""What a provider ran itself is known as any other call is: the files, the commands and the errors."""
from __future__ import annotations

import json
from typing import Any

from sessionstore.domain.ledger import extract_ledger
from sessionstore.domain.transcript import Entry, pair_calls


def item(name: str, arguments: dict[str, str], **more: Any) -> dict[str, Any]:
    return {"type": "mcp_call", "id": "m", "server_label": "s", "name": name, "arguments": json.dumps(arguments), **more}


def test_a_call_with_its_answer_is_answered() -> None:
    """PAIR-1: also when the same id comes again, beside a call that the caller has to answer."""
    rows = [
        item("read_file", {"path": "a.py"}, output="x = 1"),
        item("read_file", {"path": "b.py"}, output=None, error="denied"),
        item("read_file", {"path": "c.py"}),
        {"type": "function_call", "call_id": "f", "name": "ls", "arguments": "{}"},
    ]
    paired = pair_calls([Entry(seq, "message", row) for seq, row in enumerate(rows)])
    assert not paired.orphans
    assert [call.call.call_id for call in paired.unanswered()] == ["f"]
    assert [call.result.text for call in paired.calls if call.result is not None] == ["x = 1", "denied", ""]
    assert [call.result.is_error for call in paired.calls if call.result is not None] == [None, True, None]


def test_its_files_and_commands_are_facts() -> None:
    """NEST-2"""
    rows = [
        item("read_file", {"path": "src/tide.py"}, output="x = 1"),
        item("bash", {"command": "make harbour"}, output=None, error="Error: no rule to make target"),
    ]
    facts = extract_ledger([Entry(seq, "message", row) for seq, row in enumerate(rows)]).entries
    texts = {fact.kind: fact.text for fact in facts}
    assert any("src/tide.py" in fact.text for fact in facts)
    assert any("make harbour" in fact.text for fact in facts)
    assert "no rule to make target" in texts["error"]
