"""Records the transcript that ``sessionstore demo`` ships: ``python -m tests.recording.record OUTPUT``.

What is scripted and what is real: the user's and the agent's words and the calls are written down in the act modules
(ACTS, in their order); every tool result is what the tool really answered, in a temporary folder that holds a sample
project (project_files) under git. Failing test runs, an edit whose search text does not exist, a missing program and
the commits are therefore true ones. The agent's edits are applied, so an act depends on the acts before it.

The output is JSON Lines in OpenAI chat form. The first line is the system message; each line after it is one message
with ``id`` ("m001", "m002", …), ``parent`` (the id before, null for the first), ``created_at``, and ``role``,
``content``, ``tool_calls`` or ``tool_call_id`` and ``name``. Arguments of calls are JSON texts.

Recording twice on one machine gives the same bytes: commits have fixed dates and authors, and paths, durations and
versions are replaced (workspace). Another version of Python, pytest or git may word its output otherwise; the script's
own words, the ids, the times and the exit statuses stay the same. The file ships as
``sessionstore/cli/demo_transcript.jsonl``; to renew it, record onto it and read the difference.
"""
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from . import numbering_act, pages_act, question_act, release_act, rounding_act
from .conversation import Conversation
from .workspace import PROJECT_FOLDER, Workspace

SYSTEM_PROMPT = f"""You are a coding agent at work in {PROJECT_FOLDER}, a git repository on the branch main.

Tools: terminal (bash; its result ends with the exit status), read_file, write_file, patch (search and \
replace, the search text must stand in the file exactly once), search_files (regular expressions), todo.

- Look before you edit; run the tests after you edit.
- Say what you decided and why, in a sentence or two. Say what is left.
- Never push. Commit only when asked to."""
ACTS = (rounding_act.play, question_act.play, numbering_act.play, pages_act.play, release_act.play)


def record_transcript(scratch: Path) -> list[dict[str, Any]]:
    """Play the script in ``scratch``, an existing empty folder, and return the records, the system message first."""
    conversation = Conversation(Workspace(scratch), SYSTEM_PROMPT)
    for play in ACTS:
        play(conversation)
    return conversation.records


def to_json_lines(records: list[dict[str, Any]]) -> str:
    """The records as the text of the file, one on a line."""
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)


def main(arguments: list[str]) -> int:
    """Record into the file named by the only argument; returns the exit status."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m tests.recording.record OUTPUT\n")
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        text = to_json_lines(record_transcript(Path(scratch)))
    Path(arguments[0]).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
