"""A conversation that is to fit into so many characters, over and over: what somebody else's yardstick asks for."""
from __future__ import annotations

import shutil
from collections.abc import Sequence

from benchmarks.payloads import Message
from benchmarks.retention.work import text_of
from benchmarks.settings import new_folder
from sessionstore import CompactionPolicy, Session, SessionStore
from sessionstore.counting import default_counter

SHARES = tuple(percent / 100 for percent in range(130, 0, -2))
"""Parts of the budget that the summary is given, the largest first, until the whole context fits: in tokens as many as that
many characters of the talk have, and a summary may have more characters a token than talk."""
TAIL_SHARE = 0.05
"""Part of the budget that goes to the recent messages."""


class FittedConversation:
    """A session that is compacted, without a model, until its context's text fits; close it at the end."""

    def __init__(self) -> None:
        self._folder = new_folder()
        self._store = SessionStore.open(f"sqlite:///{self._folder}/yardstick.db")
        self._session: Session = self._store.create_session()

    @property
    def text(self) -> str:
        """The context as plain text, a message a paragraph."""
        return "\n".join(_lines(message) for message in self._session.context())

    def add(self, messages: Sequence[Message]) -> None:
        """Go on with the conversation."""
        self._session.append(messages)

    def fit(self, budget_characters: int) -> None:
        """Compact with smaller and smaller summaries until the text fits; a compaction that is still too long is undone.

        When none fits, the last and smallest one stays.
        """
        text = self.text
        budget = max(1, budget_characters * default_counter().count(text) // max(1, len(text)))
        for share in SHARES:
            if len(self.text) <= budget_characters:
                return
            policy = CompactionPolicy(
                head_messages=0,
                min_tail_messages=1,
                tail_tokens=int(budget * TAIL_SHARE),
                summary_min_tokens=int(budget * share),
                summary_max_tokens=int(budget * share),
            )
            result = self._session.compact(policy=policy, force=True, context_window=4 * budget)
            self._session = result.session
            if result.status == "committed" and len(self.text) > budget_characters and share != SHARES[-1]:
                self._session = self._session.undo_compaction()

    def close(self) -> None:
        """Close the store and delete it."""
        self._store.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _lines(message: Message) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else text_of(message)
