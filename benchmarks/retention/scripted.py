"""Three models that are none: what a summary says when nobody is clever, and when somebody is perfect."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

SCRIPTS = ("fixed sentence", "beginning of the input", "every fact in the input")
FIXED = "The work went on as the user asked, and several things were read, changed and decided on the way."
BEGINNING_CHARACTERS = 8_000
"""The first 2,000 tokens, at four characters each, so that every compactor counts them alike."""


def answer(script: str, prompt: str, facts: Sequence[dict[str, Any]]) -> str:
    """What the model of a script answers to a prompt; a fact is in its input when all its marks are."""
    if script == SCRIPTS[0]:
        return FIXED
    if script == SCRIPTS[1]:
        return prompt[:BEGINNING_CHARACTERS]
    seen = [fact["statement"] for fact in facts if all(mark in prompt for mark in fact["marks"])]
    return "\n".join(["These facts were seen:", *(f"- {statement}" for statement in seen)])
