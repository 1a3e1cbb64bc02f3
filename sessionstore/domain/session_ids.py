"""Ids of lineages and of their generations: ``fix-auth`` is the first, ``fix-auth~2`` the second, and so on."""
from __future__ import annotations

import unicodedata
from typing import Final

MAX_ID_LENGTH: Final = 200
"""Characters of the longest lineage id."""

SEPARATOR: Final = "~"

MOST_DIGITS: Final = 9
"""Digits of the highest generation that is looked for; the column holds ten."""


def session_id(lineage_id: str, generation: int) -> str:
    """The id of one generation: the lineage id itself for the first, ``<lineage id>~<generation>`` after that."""
    return lineage_id if generation == 1 else f"{lineage_id}{SEPARATOR}{generation}"


def split_session_id(reference: str) -> tuple[str, int | None]:
    """The lineage id and the generation that an id names.

    ``fix-auth`` gives ``("fix-auth", 1)``, ``fix-auth~2`` gives ``("fix-auth", 2)``; what cannot be an id of a generation gives
    the text itself and None.
    """
    lineage_id, separator, digits = reference.partition(SEPARATOR)
    if not separator:
        return reference, 1
    generation = generation_of(digits)
    return (reference, None) if generation is None else (lineage_id, generation)


def generation_of(digits: str) -> int | None:
    """The generation that the digits behind a ``~`` name, None when no id has them: 2 or more, written plainly."""
    plain = digits.isascii() and digits.isdigit() and not digits.startswith("0") and len(digits) <= MOST_DIGITS
    return int(digits) if plain and digits != "1" else None


def lineage_id_problem(lineage_id: str) -> str | None:
    """Why a text cannot be a lineage id, None when it can: 1 to 200 characters, no ``~``, no control characters."""
    if not lineage_id:
        return "an id has at least one character"
    if len(lineage_id) > MAX_ID_LENGTH:
        return f"an id has at most {MAX_ID_LENGTH} characters, this one has {len(lineage_id)}"
    if SEPARATOR in lineage_id:
        return "an id has no '~', which marks the generations of a lineage"
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in lineage_id):
        return "an id has no control characters"
    return None


def checked_lineage_id(lineage_id: str) -> str:
    """The id, if it can be one of a lineage; ``ValueError`` if not."""
    problem = lineage_id_problem(lineage_id)
    if problem is not None:
        raise ValueError(f"{lineage_id!r} cannot be a session id: {problem}")
    return lineage_id


def display_title(title: str | None, generation: int) -> str | None:
    """The title as people see it: numbered from the second generation on (``Fix auth #2``), never stored that way."""
    if title is None or generation == 1:
        return title
    return f"{title} #{generation}"
