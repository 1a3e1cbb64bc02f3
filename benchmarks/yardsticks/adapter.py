"""A conversation that is to fit into so many characters, over and over: what somebody else's yardstick asks for."""
from __future__ import annotations

from collections.abc import Sequence

from benchmarks.payloads import Message
from benchmarks.retention.work import text_of
from benchmarks.settings import scratch
from sessionstore import CompactionPolicy, Session, SessionStore
from sessionstore.counting import default_counter

SHARES = (1.0, 0.85, 0.7, 0.55, 0.4, 0.3, 0.2, 0.1, 0.05)
"""Parts of the budget that the summary is given, the largest first, until the whole context fits."""
TAIL_SHARE = 0.15
"""Part of the budget that goes to the recent messages."""


def context_text(messages: Sequence[Message]) -> str:
    """A context as plain text, a message a paragraph."""
    return "\n".join(text_of(message) if message["role"] != "assistant" else _lines(message) for message in messages)


def fit(messages: Sequence[Message], budget_characters: int) -> list[Message]:
    """The messages compacted, without a model, so that their text fits; the smallest that was found when none does."""
    best = list(messages)
    if len(context_text(best)) <= budget_characters:
        return best
    for share in SHARES:
        found = _compacted(messages, budget_characters, share)
        if len(context_text(found)) < len(context_text(best)):
            best = found
        if len(context_text(best)) <= budget_characters:
            break
    return best


def _compacted(messages: Sequence[Message], budget_characters: int, share: float) -> list[Message]:
    counter = default_counter()
    text = context_text(messages)
    budget = max(1, budget_characters * counter.count(text) // len(text))
    policy = CompactionPolicy(
        head_messages=0,
        min_tail_messages=1,
        tail_tokens=int(budget * TAIL_SHARE),
        summary_min_tokens=int(budget * share),
        summary_max_tokens=int(budget * share),
    )
    with scratch() as folder, SessionStore.open(f"sqlite:///{folder}/yardstick.db") as store:
        session: Session = store.create_session(context_window=4 * budget)
        session.append(messages)
        return session.compact(policy=policy, force=True).messages


def _lines(message: Message) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else text_of(message)
