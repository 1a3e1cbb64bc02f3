"""Instructions that open a context stay there: they are the system prompt of a caller who appends it as a message.

Where may I cut: anywhere behind them. How do I repair: ``rendering.one_system_message`` puts them into the one system message.
"""
from __future__ import annotations

from collections.abc import Sequence

from sessionstore.domain.transcript import Entry


def is_instruction(entry: Entry) -> bool:
    """Whether a row speaks with the system's or developer's voice; a summary never does, whatever role it was imported with."""
    return entry.view.role == "system" and entry.kind != "summary"


def leading_instructions(entries: Sequence[Entry], *, most: int) -> int:
    """How many rows at the beginning of a context are instructions, of at most so many tokens together."""
    tokens = 0
    for index, entry in enumerate(entries):
        tokens += entry.tokens
        if not is_instruction(entry) or tokens > most:
            return index
    return len(entries)
