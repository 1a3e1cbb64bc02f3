"""Exact counts with the vocabulary o200k_base, the one of the GPT-4o, GPT-4.1, o-series and GPT-5 models."""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from sessionstore.counting.slices import slices, whole_characters
from sessionstore.counting.vocabulary import VOCABULARY_NAME, read_vocabulary

if TYPE_CHECKING:
    import tiktoken

_UPPER: Final = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER: Final = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_LEAD: Final = r"[^\r\n\p{L}\p{N}]?"
_CONTRACTION: Final = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K_PATTERN: Final = "|".join(
    (
        rf"{_LEAD}{_UPPER}*{_LOWER}+{_CONTRACTION}",
        rf"{_LEAD}{_UPPER}+{_LOWER}*{_CONTRACTION}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)
"""How o200k_base parts a text before it looks for tokens: part of the definition of the encoding."""


class VocabularyCounter:
    """Counts exactly the tokens of o200k_base, offline; a text costs 50 to 200 ms per megabyte.

    The vocabulary is loaded at the first count (about 0.4 s) and stays (80 MB), once, whatever the number of
    threads: keep one counter for a process, as `default_counter` does. `read` gives the vocabulary, its digest
    checked. The first count raises `VocabularyError` where there is none.

    It counts with tiktoken and not with the package that brings the vocabulary, although both agree: tiktoken
    counts with the very bytes whose digest was checked, downloaded ones included, while `bpe-openai` has
    a second copy compiled in and unpacks three vocabularies when imported. `<|endoftext|>` is text.
    """

    method: Final = VOCABULARY_NAME

    def __init__(self, read: Callable[[], bytes] = read_vocabulary) -> None:
        self._read = read
        self._loading = threading.Lock()
        self._encoding: tiktoken.Encoding | None = None

    def count(self, text: str) -> int:
        """Number of tokens of `text`; see `slices` for how exact it is beyond 64,000 characters."""
        encoding = self._encoding or self._load()
        return sum(len(encoding.encode_ordinary(part)) for part in slices(whole_characters(text)))

    def _load(self) -> tiktoken.Encoding:
        with self._loading:
            if self._encoding is None:
                self._encoding = _encoding_of(self._read())
                del self._read  # it may hold the vocabulary's bytes, which nobody needs any more
            return self._encoding


def _encoding_of(vocabulary: bytes) -> tiktoken.Encoding:
    """The encoding built from a vocabulary's lines, each a token in base64 and its rank."""
    import tiktoken

    ranks = {
        base64.b64decode(token): int(rank) for token, rank in (line.split() for line in vocabulary.splitlines())
    }
    return tiktoken.Encoding(
        VOCABULARY_NAME, pat_str=O200K_PATTERN, mergeable_ranks=ranks, special_tokens={}
    )
