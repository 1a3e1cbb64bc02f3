"""A short piece of work on a made-up project, long enough to be compacted, and notes on it as a good model writes them."""
from __future__ import annotations

import json
from typing import Any, Final

from sessionstore import CompactionPolicy, Session, SessionStore
from sessionstore.domain.answer_forms import key_of
from sessionstore.domain.sections import SECTIONS

Message = dict[str, Any]

POLICY: Final = CompactionPolicy(head_messages=1, tail_messages=3, keep_tool_results=0)
"""Leaves nearly everything to the summary."""

OLD_REQUEST: Final = (
    "Please make the parser in src/orders/parser.py accept dates such as 3 May 2024, and keep the old format too."
)
LAST_REQUEST: Final = "Now add a command line option --strict that refuses the new dates."


def work(*, padding: int = 30) -> list[Message]:
    """The conversation; ``padding`` sentences make each of its outputs long."""
    said: list[Message] = [{"role": "user", "content": OLD_REQUEST}]
    steps = [
        ("read_file", {"path": "src/orders/parser.py"}, "def parse_date(text):\n    return text.split('-')\n"),
        ("edit_file", {"path": "src/orders/parser.py", "old": "text.split('-')", "new": "date_of(text)"}, "edited"),
        ("terminal", {"command": "pytest tests/test_parser.py"}, "2 failed, 7 passed\nValueError: no month in '3 Mai'"),
        ("edit_file", {"path": "tests/test_parser.py", "old": "Mai", "new": "May"}, "edited"),
        ("terminal", {"command": "pytest tests/test_parser.py"}, "9 passed"),
    ]
    for number, (name, arguments, output) in enumerate(steps):
        call = {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        said.append({"role": "assistant", "content": f"Step {number}: I use {name} on the parser.", "tool_calls": [call]})
        filler = " ".join(f"Line {line} of the output of step {number} says all is well." for line in range(padding))
        said.append({"role": "tool", "tool_call_id": f"c{number}", "content": f"{output}\n{filler}"})
    said.append({"role": "assistant", "content": "The parser accepts dates such as 3 May 2024, and all nine tests pass."})
    said.append({"role": "user", "content": LAST_REQUEST})
    said.append({"role": "assistant", "content": "I will look at the options first."})
    return said


def begin(store: SessionStore, *, window: int = 100_000, padding: int = 30) -> Session:
    """A session with the conversation in it."""
    session = store.create_session("orders", model="big", context_window=window)
    session.append(work(padding=padding))
    return session


GOOD_SECTIONS: Final = {
    "Active Task": f"{LAST_REQUEST} (#12)",
    "Goal": "The order parser understands dates with month names.",
    "Constraints & Preferences": "Keep the old date format too.",
    "Completed Actions": (
        "1. Edited src/orders/parser.py so that dates such as 3 May 2024 parse.\n"
        "2. Ran `pytest tests/test_parser.py`: 9 passed."
    ),
    "Active State": "All nine tests pass.",
    "In Progress": "The option --strict.",
    "Blocked": "None",
    "Key Decisions": "date_of replaced split because month names have no dashes.",
    "Resolved Questions": "None",
    "Pending User Asks": "The option --strict.",
    "Relevant Files": "src/orders/parser.py, tests/test_parser.py",
    "Remaining Work": "Write the option and its test.",
    "Critical Context": "Month names are English only.",
}
"""What stands under each heading."""


def notes(**changed: str) -> str:
    """Good notes as Markdown; sections by their name with underscores are replaced."""
    return "\n\n".join(f"## {heading}\n{changed.get(key_of(heading), GOOD_SECTIONS[heading])}" for heading in SECTIONS)


def as_json(**changed: str) -> str:
    """The same as the JSON object that a schema asks for."""
    return json.dumps({key_of(heading): changed.get(key_of(heading), text) for heading, text in GOOD_SECTIONS.items()})
