"""A token counter whose numbers can be worked out by hand."""
from __future__ import annotations


class PlainCounter:
    """Four characters are a token."""

    method = "test"

    def count(self, text: str) -> int:
        """A quarter of the characters, rounded up."""
        return (len(text) + 3) // 4
