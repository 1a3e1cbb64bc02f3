"""What the analysis needs of a token counter."""
from __future__ import annotations

from typing import Protocol


class TokenCounter(Protocol):
    """Counts tokens of text, offline, and says how.

    ``method`` names the way a number was got (``o200k_base``, ``estimate-1``) and is stored beside every number.
    """

    @property
    def method(self) -> str:
        """Name of the way this counter counts."""
        ...

    def count(self, text: str) -> int:
        """Tokens of the text; any ``str`` is fine, also with lone surrogates or ``<|endoftext|>``, which count as text."""
        ...
