"""The built-in memory flush: a model is asked once for facts that outlast the conversation."""
from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from inspect import isawaitable
from typing import Final

from sessionstore.counting import default_counter
from sessionstore.domain.answer_forms import FACTS
from sessionstore.domain.history_text import HistoryLimits, chunk_history, history_text
from sessionstore.domain.memory_prompt import facts_of, memory_prompt, without_known
from sessionstore.domain.messages import Message, clean_text
from sessionstore.domain.policy import UNKNOWN_WINDOW
from sessionstore.domain.summarizing import Answer, Summarizer, SummaryRequest, input_limit_of, window_of
from sessionstore.domain.summary_check import check_answer
from sessionstore.domain.token_counter import TokenCounter
from sessionstore.domain.transcript import Entry
from sessionstore.errors import SummarizerError
from sessionstore.summarizers import answer_of, put_question, typed_failures

_ANSWER_TOKENS: Final = 1_500
"""Longest answer: twenty facts of fifty tokens, and room for the form."""
_MARGIN: Final = 64
_BRIEF: Final = HistoryLimits(output=300, argument=200, assistant=1_500)
"""Characters of what is not the user's own, where the conversation doesn't fit whole."""
_NO_ANSWERS: Final = frozenset({"tool_call", "refused", "truncated", "reasoning_only", "empty", "error_text"})
"""What an answer can be when it holds no facts; shortness and lists are fine here."""


class ModelMemoryFlush:
    """Asks a model, once a compaction, for durable facts of the conversation: give it to a store as a hook.

    ``SessionStore.open(url, hooks=CompactionHooks(flush_memories=ModelMemoryFlush(summarizer)))``. Any summariser will do; one
    whose endpoint keeps to schemas is asked for JSON. At most ``most`` facts are kept, each once, without secrets; the store
    leaves out what it has. Of a conversation longer than the model's window outputs are cut first, then only what the user
    wrote last is shown. When the model fails the compaction goes on without new facts, and says so in its warnings.
    """

    def __init__(self, summarizer: Summarizer, *, most: int = 20, counter: TokenCounter | None = None) -> None:
        self._summarizer = summarizer
        self._most = most
        self._counter = counter

    def __call__(
        self, messages: Sequence[Message], known: Sequence[str] = ()
    ) -> tuple[str, ...] | Awaitable[tuple[str, ...]]:
        """The facts of these messages that ``known`` doesn't have; from an async summariser they are to be awaited.

        Raises ``SummarizerError`` when the model gave none.
        """
        history, answer_tokens = self._history(messages, known)
        if not history.strip():
            return ()
        request = SummaryRequest(
            prompt=memory_prompt(history, known=known, most=self._most),
            history=history,
            previous=None,
            focus=None,
            budget_tokens=answer_tokens,
            facts={},
            part=1,
            parts=1,
            form=FACTS,
        )
        with typed_failures():
            given = put_question(self._summarizer, request)
        return self._later(given, known) if isawaitable(given) else self._facts(given, known)

    async def _later(self, given: Awaitable[Answer], known: Sequence[str]) -> tuple[str, ...]:
        with typed_failures():
            answer = await given
        return self._facts(answer, known)

    def _facts(self, given: object, known: Sequence[str]) -> tuple[str, ...]:
        answer = answer_of(given)
        failure = check_answer(answer)
        if failure in _NO_ANSWERS:
            raise SummarizerError("it was asked for facts", kind=failure)
        return tuple(without_known(facts_of(answer.text, most=self._most), known))

    def _history(self, messages: Sequence[Message], known: Sequence[str]) -> tuple[str, int]:
        """The conversation as text that fits, and the tokens that are left for the answer."""
        counter = self._counter or default_counter()
        entries = [Entry(seq=seq, kind="message", message=message) for seq, message in enumerate(messages)]
        window = window_of(self._summarizer) or UNKNOWN_WINDOW
        answer = min(_ANSWER_TOKENS, window // 4)
        room = window - answer - counter.count(memory_prompt("", known=known, most=self._most)) - _MARGIN
        return _fitted(entries, min(room, input_limit_of(self._summarizer) or room), counter), answer


def checked_facts(given: object) -> tuple[str, ...]:
    """The facts that a hook answered, as they can be stored; none for None. Raises ``TypeError`` for anything but texts."""
    if given is None:
        return ()
    # A text is a sequence of texts too, of one character each.
    facts = None if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable) else tuple(given)
    if facts is None or not all(isinstance(fact, str) for fact in facts):
        found = type(given).__name__ if facts is None else "list with something else in it"
        raise TypeError(f"flush_memories answered a {found}; it answers a list of facts, each of them a text, or None")
    return tuple(clean_text(fact) for fact in facts)


def _fitted(entries: Sequence[Entry], room: int, counter: TokenCounter) -> str:
    """The conversation within the room: whole, or with less of what no person wrote, or the user's newest words."""
    text = history_text(entries)
    if counter.count(text) <= room:
        return text
    text = history_text(entries, _BRIEF)
    if counter.count(text) <= room:
        return text
    requests = [entry for entry in entries if entry.is_request]
    chunks = chunk_history(requests, max_tokens=room, counter=counter)
    return chunks[-1].text if chunks else ""
