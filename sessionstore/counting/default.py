"""The counter that a store uses when it is given none: exact where it can be, an estimate elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Callable

from sessionstore.counting.estimate import EstimatingCounter
from sessionstore.counting.exact import VocabularyCounter
from sessionstore.counting.vocabulary import read_vocabulary
from sessionstore.domain.token_counter import TokenCounter
from sessionstore.errors import VocabularyError


class OfflineCounter:
    """Counts exactly if this machine has the vocabulary, else by the calibrated estimate; `method` tells which.

    It makes up its mind once, when the method or a count is first asked for: it reads the vocabulary and checks
    its digest (25 ms), which is not yet loading it. A missing or damaged vocabulary, one with a wrong digest
    included, means the estimate for as long as the counter lives, so that no number ever bears the
    method of another; `VocabularyCounter().count("")` raises the reason. `read` as in `VocabularyCounter`.
    """

    def __init__(self, read: Callable[[], bytes] = read_vocabulary) -> None:
        self._read = read
        self._choosing = threading.Lock()
        self._chosen: TokenCounter | None = None

    @property
    def method(self) -> str:
        """Name of how the numbers of this counter are got: "o200k_base" or "estimate-1"."""
        return self._counter().method

    def count(self, text: str) -> int:
        """Number of tokens of `text` by `method`. Never raises because a vocabulary is missing."""
        return self._counter().count(text)

    def _counter(self) -> TokenCounter:
        with self._choosing:
            if self._chosen is None:
                self._chosen = self._choose()
            return self._chosen

    def _choose(self) -> TokenCounter:
        try:
            vocabulary = self._read()
        except VocabularyError:
            return EstimatingCounter()
        return VocabularyCounter(lambda: vocabulary)


_OF_THIS_PROCESS = OfflineCounter()


def default_counter() -> TokenCounter:
    """The counter of this process: exact where the vocabulary is installed, else an estimate, never by the network.

    Always the same object, so that what it loads is loaded once. See `OfflineCounter` for when it does what.
    """
    return _OF_THIS_PROCESS
