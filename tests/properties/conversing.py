"""Random conversations that are worth compacting, and the store that they are kept in."""
from __future__ import annotations

import os
from itertools import count
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from sessionstore import CompactionPolicy, Session, SessionStore
from tests.transcripts import DATA_URL, chat_messages, transcripts

Message = dict[str, Any]

SYSTEM = "You are a careful engineer."
WINDOW = 6_000

FEW = settings(
    max_examples=20,
    deadline=None,
    derandomize="CI" in os.environ,  # where nobody sits by, every run tries the same
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
"""Few examples, because each is several compactions in a database."""

_NUMBERS = count()


def new_session(store: SessionStore, **given: Any) -> Session:
    """A session of its own for one example, in a store that all examples share."""
    asked = {"context_window": WINDOW, "system_prompt": SYSTEM, **given}
    return store.create_session(f"example-{next(_NUMBERS)}", **asked)


@st.composite
def policies(draw: st.DrawFn) -> CompactionPolicy:
    """Policies with small heads and tails, so that most conversations have a middle."""
    tail_messages, tail_tokens = draw(st.sampled_from([(1, None), (4, None), (None, 200), (None, 600)]))
    return CompactionPolicy(
        tail_messages=tail_messages,
        tail_tokens=tail_tokens,
        head_messages=draw(st.integers(0, 3)),
        min_tail_messages=draw(st.integers(0, 3)),
        keep_tool_results=draw(st.integers(0, 3)),
        keep_user_turns=draw(st.integers(1, 2)),
        drop_reasoning=draw(st.booleans()),
        headings=draw(st.sampled_from(["thirteen", "five"])),
        old_outputs=draw(st.sampled_from(["line", "placeholder"])),
        image_tokens=50,
    )


@st.composite
def stretches(draw: st.DrawFn) -> list[Message]:
    """Part of a conversation: random turns in one dialect or mixed ones, with requests and work of some size among them."""
    found: list[Message] = []
    for _ in range(draw(st.integers(1, 2))):
        number = draw(st.integers(0, 99))
        found += draw(transcripts(max_turns=5))
        found.append({"role": "user", "content": f"Please look at src/module_{number}.py. " + "It is slow. " * 20})
        found.append({"role": "assistant", "content": f"I changed src/module_{number}.py. " + "It is faster now. " * 40})
    return found


@st.composite
def last_requests(draw: st.DrawFn) -> Message:
    """What the user asks last, unlike anything else in the conversation; some with an image."""
    words = f"And now for case {draw(st.integers(1_000, 9_999))}: why, and since when?"
    if draw(st.booleans()):
        return {"role": "user", "content": words}
    image = {"type": "image_url", "image_url": {"url": DATA_URL}}
    return {"role": "user", "content": [{"type": "text", "text": words}, image]}


@st.composite
def work(draw: st.DrawFn) -> list[Message]:
    """What an agent does after a request: calls, results, words, but nothing that a user wrote."""
    turns = draw(st.lists(chat_messages(), max_size=4))
    return [message for turn in turns for message in turn if message["role"] in ("assistant", "tool")]
