"""Permissions that take back an earlier prohibition: *you can edit rates.ini again* after *don't touch rates.ini*."""
from __future__ import annotations

import re
from typing import Final

from sessionstore.domain.ledger.sentences import FORBIDS
from sessionstore.domain.ledger.wording import content_words, is_form_of, values_of

_MOSTLY: Final = 0.6
"""Part of the words of a prohibition that a permission has, in one form or another, when neither names a thing."""
_PATH: Final = re.compile(r"[\w-]+(?:[./\\_-][\w-]+)+")


def takes_back(newer: str, older: str) -> bool:
    """Whether ``newer``, which allows something, allows what ``older`` forbids: of the same things, or in the same words."""
    if not FORBIDS.search(older):
        return False
    allowed, forbidden = _things(newer), _things(older)
    if allowed and forbidden:
        return forbidden <= allowed
    words = content_words(older) - content_words(" ".join(FORBIDS.findall(older)))
    said = content_words(newer)
    return bool(words) and sum(word in said or is_form_of(word, said) for word in words) >= _MOSTLY * len(words)


def _things(text: str) -> frozenset[str]:
    """Names, identifiers and paths in a text, numbers apart."""
    return frozenset(_PATH.findall(text)) | frozenset(value for value in values_of(text) if not value[:1].isdigit())
