"""Cuts text to a number of tokens by whole lines, and says how much went."""
from __future__ import annotations

from typing import Final

from sessionstore.domain.token_counter import TokenCounter

NOTE_TOKENS: Final = 16
"""Room for the line that says what was left out, whatever the counter."""


def fit_lines(text: str, max_tokens: int, counter: TokenCounter) -> str:
    """The first lines of a text that fit, and a line that says how many were left out; the whole text when it fits.

    A first line that is too long by itself is cut between words. Without room for anything but the note, the note alone.
    """
    if counter.count(text) <= max_tokens:
        return text
    lines = text.splitlines()
    used, kept = NOTE_TOKENS, 0
    for line in lines:
        used += counter.count(line) + 1
        if used > max_tokens:
            break
        kept += 1
    if kept == 0:
        return _cut_words(text, max_tokens - NOTE_TOKENS, counter)
    left = len(lines) - kept
    return "\n".join([*lines[:kept], f"… {left:,} {'line' if left == 1 else 'lines'} left out"])


def _cut_words(text: str, max_tokens: int, counter: TokenCounter) -> str:
    size = min(len(text), 4 * max(0, max_tokens))
    while size > 0 and (tokens := counter.count(text[:size])) > max_tokens:
        size = min(size - 1, int(size * max_tokens / tokens * 0.95))
    size = max(text.rfind(" ", 0, size), text.rfind("\n", 0, size), size * 4 // 5)
    head = text[:size].rstrip() + " " if size > 0 else ""
    return f"{head}… {len(text) - max(0, size):,} characters left out"
