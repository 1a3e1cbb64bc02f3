"""What an editor or a harness puts into messages of role user, told from what a person said."""
from __future__ import annotations

import re
from typing import Final

_INJECTED: Final = (
    "<command-name>", "<command-message>", "<local-command-stdout>", "<local-command-stderr>", "<local-command-caveat>",
    "Caveat: The messages below", "<bash-input>", "<bash-stdout>", "<bash-stderr>", "<task-notification>", "<system-reminder>",
    "[Request interrupted by user", "<environment_context>", "<user_instructions>", "# AGENTS.md instructions",
    "<turn_aborted>", "<skill>", "Base directory for this skill:",
)  # fmt: skip
"""How messages of role user begin that a tool wrote and no person: Claude Code's and Codex's own notices."""

_OPENING: Final = re.compile(r"<(ide_\w+|system[-_]reminder|task-notification)>")
"""Tags of what stands beside a person's words."""


def is_injected(text: str) -> bool:
    """Whether a whole text was written by a tool and no person."""
    return text.lstrip().startswith(_INJECTED)


def without_notices(text: str) -> str:
    """A text without what an editor or a harness put beside the words in tags. Takes time in proportion to the text."""
    if "</" not in text:
        return text
    kept: list[str] = []
    begin = 0
    unclosed: set[str] = set()
    for match in _OPENING.finditer(text):
        tag = match.group(1)
        if match.start() < begin or tag in unclosed:
            continue
        end = text.find(f"</{tag}>", match.end())
        if end < 0:
            unclosed.add(tag)
            continue
        kept.append(text[begin : match.start()])
        begin = end + len(tag) + 3
    kept.append(text[begin:])
    return "".join(kept)
