"""Which lineage a conversation of a file becomes."""
from __future__ import annotations

from hashlib import blake2b
from pathlib import PurePath
from typing import Final

from sessionstore.domain.session_ids import MAX_ID_LENGTH, lineage_id_problem
from sessionstore.formats.parsed import ParsedLineage

_DIGEST_LENGTH: Final = 8


def lineage_id_of(parsed: ParsedLineage, *, main_id: str | None, wanted: str | None, name: str) -> str:
    """The id of the lineage that a parsed conversation is stored as.

    ``wanted`` (what the caller asked for) names the main one; a side one is ``<main id>.<branch>``. Without it a conversation
    has the id its file gives it, else the file's name with a digest of the first message, which stays when the file grows.
    """
    if parsed.branch is not None and (main_id is not None or parsed.parent is not None):
        # A side chain follows its main conversation, also where the caller renamed that.
        parent = main_id if main_id is not None else parsed.parent
        return usable_id(f"{parent}.{parsed.branch}")
    if wanted is not None:
        return wanted
    if parsed.session_id is not None:
        return usable_id(parsed.session_id)
    first = parsed.messages[0].key if parsed.messages else name
    return usable_id(f"{PurePath(name).stem}-{_digest(first)}")


def usable_id(text: str) -> str:
    """The text, changed as little as needed to be a lineage id; what was changed is told apart by a digest."""
    if lineage_id_problem(text) is None:
        return text
    cleaned = "".join(character if character.isprintable() and character != "~" else "-" for character in text)
    return f"{cleaned[: MAX_ID_LENGTH - _DIGEST_LENGTH - 1]}-{_digest(text)}"


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_LENGTH // 2).hexdigest()
