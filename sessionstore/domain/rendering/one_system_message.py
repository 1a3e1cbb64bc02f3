"""One system message, and that first (ROLE-1, PROMPT-1)."""
from __future__ import annotations

from collections.abc import Sequence

from sessionstore.domain.messages import Message
from sessionstore.domain.rules.instructions import is_instruction
from sessionstore.domain.transcript import Entry


def system_message(entries: Sequence[Entry], *, system_prompt: str | None, task_text: str | None) -> Message | None:
    """The system message of a rendering, None when there is nothing to say in it.

    First the system prompt, then the instructions that stand in the context, in order, then the task state, which changes most
    often; blank lines in between. Every profile gets it in this form; an adapter moves it to where its provider wants it.
    """
    instructions = [entry.view.text for entry in entries if is_instruction(entry)]
    parts = [text for text in (system_prompt, *instructions, task_text) if text is not None and text.strip()]
    return {"role": "system", "content": "\n\n".join(parts)} if parts else None
