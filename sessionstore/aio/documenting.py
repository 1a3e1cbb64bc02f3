"""One docstring for both fronts."""
from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def documented_like(original: object) -> Callable[[T], T]:
    """Give a function the docstring of another one, or of a property: what it does is the same."""

    def document(described: T) -> T:
        described.__doc__ = original.__doc__
        return described

    return document
