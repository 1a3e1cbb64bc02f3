"""Pending User Asks and Active Task say what is to be done now: not what was answered, nor twice what stands right behind."""
from __future__ import annotations

from typing import Any

import pytest

from sessionstore import CompactionPolicy, SessionStore
from sessionstore.domain.section_parsing import parse_sections

TALK = "We walked along the harbour and spoke of the weather, which was as it often is there in spring. " * 6


def test_a_request_whose_answer_stays_in_the_context_is_not_pending(store: SessionStore) -> None:
    session = store.create_session(context_window=12_000)
    for number in range(12):
        session.append([{"role": "user", "content": f"{TALK} {number}"}, {"role": "assistant", "content": TALK}])
    session.append([{"role": "user", "content": "Paint the north door blue."}])
    session.append([{"role": "assistant", "content": "It is blue now. " + TALK}, {"role": "user", "content": "And the hall?"}])
    result = session.compact(policy=CompactionPolicy(tail_messages=2, min_tail_messages=2))
    assert result.status == "committed", result.reason
    said = parse_sections(result.summary or "")
    assert "north door" not in said.get("Pending User Asks", "")
    assert "Paint the north door blue." in said["Goal"]


def test_a_summary_with_no_room_quotes_the_beginning_of_the_request_right_behind_it(store: SessionStore) -> None:
    """LAST-1 keeps the request word for word, so a tiny summary has its room for what stands nowhere else."""
    task = "Draw up the list of the berths, with their depth and the names of those who hold them this year. " * 3
    for tokens, verbatim in ((180, False), (280, True), (2_000, True)):
        session = store.create_session(context_window=8_000)
        for number in range(12):
            session.append([{"role": "user", "content": f"{TALK} {number}"}, {"role": "assistant", "content": TALK}])
        (seq,) = session.append({"role": "user", "content": task})
        result = session.compact(policy=CompactionPolicy(summary_min_tokens=tokens, summary_max_tokens=tokens))
        assert result.status == "committed", result.reason
        said = parse_sections(result.summary or "")["Active Task"]
        assert (task.strip() in said) is verbatim
        assert said.startswith("Draw up the list")
        assert f"#{seq}" in said
        assert any(message.get("content") == task for message in result.messages)


def test_a_value_that_a_message_right_behind_gives_anew_is_not_told(store: SessionStore) -> None:
    session = store.create_session(context_window=12_000)
    session.append({"role": "user", "content": "Begin."})
    for number in range(12):
        session.append([{"role": "user", "content": f"{TALK} {number}"}, {"role": "assistant", "content": TALK}])
    session.append([{"role": "user", "content": "The crane lifts at most 40 tons."}, {"role": "assistant", "content": TALK}])
    session.append({"role": "user", "content": "The crane lifts at most 65 tons now."})
    result = session.compact(policy=CompactionPolicy(tail_messages=1, min_tail_messages=1))
    assert result.status == "committed", result.reason
    assert "40 tons" not in (result.summary or "")
    assert any(message.get("content") == "The crane lifts at most 65 tons now." for message in result.messages)


FILE = {"type": "file", "file": {"filename": "berths.pdf", "file_data": "QUJD" * 50}}
PLAN = {"type": "document", "title": "Plan", "source": {"type": "text", "media_type": "text/plain", "data": TALK}}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([{"type": "input_audio", "input_audio": {"data": "QUJD" * 50, "format": "wav"}}], "[audio]"),
        ([FILE], "[file berths.pdf]"),
        ([PLAN, {"type": "text", "text": "Read it."}], "[document Plan]\nRead it."),
        ("[Request interrupted by user] No, paint it green.", "No, paint it green."),
        ("<skill> tags are not parsed, mend that.", "<skill> tags are not parsed, mend that."),
    ],
)
def test_the_last_request_is_the_active_task_whatever_it_is_made_of(store: SessionStore, content: Any, said: str) -> None:
    """LAST-1: it stays as it is, and no older one takes its place."""
    session = store.create_session(context_window=8_000)
    session.append([{"role": "user", "content": "Paint the north door blue."}, {"role": "assistant", "content": "Painting."}])
    last = {"role": "user", "content": content}
    session.append([last, *({"role": "assistant", "content": f"{number} {TALK * 2}"} for number in range(20))])
    result = session.compact()
    assert result.status == "committed", result.reason
    assert last in result.messages
    task = parse_sections(result.summary or "")["Active Task"]
    assert said in task
    assert "north door" not in task
