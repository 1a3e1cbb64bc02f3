"""The system prompt: stored by digest with the named parts that it was built from, and rebuilt once a compaction."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import takewhile
from typing import Any, Final

from sessionstore.domain.messages import clean_text
from sessionstore.domain.records import SystemPrompt
from sessionstore.domain.transcript import view_message

WHOLE_PART: Final = "prompt"
"""Name of the only part of a prompt that was given as one text."""

MEMORY_PART: Final = "memory snapshot"
"""Name of the part that a rebuild refreshes from what the lineage has stored."""

COMPACTION_PART: Final = "compaction note"
"""Name of the part that a compaction adds, once."""

DATE_PART: Final = "current date"
"""Name of the part that always stands last, so that what comes before it stays the same from day to day."""

COMPACTION_NOTE: Final = (
    "Earlier turns of this conversation were compacted into a summary. Rely on it for what happened, "
    "and do not redo work that it lists as completed."
)


def prompt_from_text(text: str) -> SystemPrompt:
    """A prompt given as one text."""
    return prompt_from_parts({WHOLE_PART: text})


def prompt_from_parts(parts: Mapping[str, str]) -> SystemPrompt:
    """A prompt built from named parts, in their order (the date last), a blank line between them; empty parts are left out."""
    cleaned = {name: clean_text(text) for name, text in parts.items() if text}
    if DATE_PART in cleaned:
        cleaned[DATE_PART] = cleaned.pop(DATE_PART)
    text = "\n\n".join(cleaned.values())
    return SystemPrompt(digest=blake2b(text.encode("utf-8"), digest_size=16).hexdigest(), text=text, parts=cleaned)


def rebuilt_prompt(current: SystemPrompt | None, memories: Sequence[str]) -> SystemPrompt:
    """The prompt of a continuation: the stored parts, a fresh snapshot of the memories, and the note on compaction once."""
    parts = dict(current.parts) if current is not None else {}
    parts.pop(MEMORY_PART, None)
    note = parts.pop(COMPACTION_PART, COMPACTION_NOTE)
    if memories:
        parts[MEMORY_PART] = "What is remembered of this conversation:\n" + "\n".join(f"- {fact}" for fact in memories)
    parts[COMPACTION_PART] = note
    return prompt_from_parts(parts)


def leading_prompts(messages: Iterable[Mapping[str, Any]]) -> int:
    """How many system or developer messages stand before the first other one."""
    return sum(1 for _ in takewhile(_is_prompt, messages))


def split_leading_prompt(messages: Sequence[Mapping[str, Any]], *, stored: int = 0) -> tuple[str | None, int]:
    """The system prompt at the head of a message list, and how many of its messages that is.

    Every system or developer message before the first other one belongs to it, but for the last ``stored`` of them, with which
    the stored context begins; None where there is none.
    """
    count = max(0, leading_prompts(messages) - stored)
    if not count:
        return None, 0
    return "\n\n".join(view_message(message).text for message in messages[:count]), count


def _is_prompt(message: Any) -> bool:
    return isinstance(message, Mapping) and message.get("role") in ("system", "developer")
