"""Fences round what comes from outside: two marks that nothing between them can imitate.

Every prompt puts history, notes, focus and answers of models inside such marks, under one of the labels below.
"""
from __future__ import annotations

import re
from hashlib import blake2b
from typing import Final, Literal

from sessionstore.domain.messages import clean_text

FenceLabel = Literal["history", "previous-summary", "focus", "unfinished-answer", "known-facts"]
"""What a fence can hold."""

HISTORY_LABEL: Final = "history"
PREVIOUS_LABEL: Final = "previous-summary"
FOCUS_LABEL: Final = "focus"
UNFINISHED_LABEL: Final = "unfinished-answer"
KNOWN_LABEL: Final = "known-facts"

_LABELS: Final = "|".join((HISTORY_LABEL, PREVIOUS_LABEL, FOCUS_LABEL, UNFINISHED_LABEL, KNOWN_LABEL))
_MARK_LIKE: Final = re.compile(rf"<(?=[\s/]{{0,8}}(?:{_LABELS}))", re.IGNORECASE)


def fence(label: FenceLabel, content: str) -> str:
    """The content between two lines that nothing inside can imitate.

    The marks carry a digest of what they enclose, and a ``<`` before one of our labels in it becomes ``‹``. The same content
    gets the same fence.
    """
    inside = _MARK_LIKE.sub("‹", clean_text(content))
    name = f"{label}-{blake2b(inside.encode('utf-8'), digest_size=6).hexdigest()}"
    return f"<{name}>\n{inside}\n</{name}>"
