"""What a compaction leaves where it is, whatever else has to go, and what it always takes."""
from __future__ import annotations

from typing import Any

import pytest

from sessionstore import CompactionPolicy, SessionStore
from sessionstore.domain.closed_sets import Profile
from tests.counters import PieceCounter
from tests.store.conversations import Message, compacted

RULE = "You are Bob. Never push to main."


def work(steps: int, words: int = 300) -> list[Message]:
    text = " ".join(f"w{word}" for word in range(words))
    return [{"role": "assistant", "content": f"{step} {text}"} for step in range(steps)]


def test_the_summary_in_a_context_is_always_brought_up_to_date(database_url: str) -> None:
    """NEST-1: also when the tail had room for it, since what follows it is short."""
    with SessionStore.open(database_url, counter=PieceCounter()) as store:
        session = store.create_session(context_window=64_000)
        head: list[Message] = [{"role": "user", "content": "Build this: " + "part " * 5_000}, *work(2, 3)]
        session.append([*head, *work(20), *work(1, 6_000), {"role": "user", "content": "Thanks, go on."}, *work(2, 3)])
        for more in range(2):
            session = compacted(session, policy=CompactionPolicy()).session
            assert [row.kind for row in session.context_rows()].count("summary") == 1
            assert store.doctor().findings == []
            session.append([{"role": "user", "content": f"Next {more}."}, {"role": "assistant", "content": "Sure."}])


@pytest.mark.parametrize("role", ["system", "developer"])
def test_instructions_that_open_a_log_stay_at_the_beginning(database_url: str, role: str) -> None:
    """ROLE-1: somebody who appends the system prompt as a message has it in every rendering."""
    with SessionStore.open(database_url, counter=PieceCounter()) as store:
        session = store.create_session(context_window=8_000)
        session.append([{"role": role, "content": RULE}, {"role": "user", "content": "Begin."}])
        for more in range(3):
            session.append([*work(14), {"role": "user", "content": f"Go on, {more}."}, *work(1, 3)])
            session = compacted(session, policy=CompactionPolicy()).session
            assert session.context()[0] == {"role": role, "content": RULE}
            assert RULE in session.render()[0]["content"]


@pytest.mark.parametrize("prompt", [[], [{"role": "system", "content": "Another prompt."}]])
def test_a_context_that_begins_with_an_instruction_can_be_flushed(database_url: str, prompt: list[dict[str, Any]]) -> None:
    """FLUSH-3: it is told from the system prompt at the head of a caller's list."""
    with SessionStore.open(database_url, counter=PieceCounter()) as store:
        session = store.create_session(context_window=8_000)
        session.append([{"role": "user", "content": "Begin."}, *work(6)])
        (seq,) = session.append({"role": "developer", "content": RULE})
        session.pin(seq)
        session.append([*work(8), {"role": "user", "content": "Go on."}, {"role": "assistant", "content": "Yes."}])
        result = compacted(session, policy=CompactionPolicy(head_messages=0))
        assert result.messages[0]["role"] == "developer"
        held = [*prompt, *result.messages]
        assert result.session.flush(held) == []
        held += [{"role": "user", "content": "Next."}]
        assert len(result.session.flush(held)) == 1
        held += [{"role": "assistant", "content": "Done."}]
        assert len(store.resume(result.session.id).flush(held)) == 1
        assert result.session.system_prompt() != RULE
        assert result.session.context() == held[len(prompt):]


def test_a_list_in_memory_that_begins_with_the_appended_prompt_flushes(store: SessionStore) -> None:
    session = store.create_session()
    held: list[Message] = [{"role": "system", "content": RULE}]
    session.append(held)
    held += [{"role": "user", "content": "Begin."}]
    assert session.flush(held) == [1]
    assert session.context() == held
    tip, messages = session.rebase([*held, {"role": "assistant", "content": "Yes."}])
    assert (tip.id, messages[-1]["content"]) == (session.id, "Yes.")


@pytest.mark.parametrize("profile", ["openai", "anthropic", "responses", "strict"])
def test_the_result_in_the_message_of_the_last_request_keeps_its_call(database_url: str, profile: Profile) -> None:
    """PAIR-1, LAST-1: they stay together between summary and tail."""
    call = {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "make deploy"}}
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": "Error: quota QX-771 exceeded, exit code: 3"}
    request = {"type": "text", "text": "Now try the other cluster."}
    with SessionStore.open(database_url, counter=PieceCounter()) as store:
        session = store.create_session(context_window=8_000, profile=profile)
        session.append([{"role": "user", "content": "Begin."}, *work(4, 20)])
        session.append([{"role": "assistant", "content": [call]}, {"role": "user", "content": [answer, request]}, *work(14)])
        session = compacted(session, policy=CompactionPolicy()).session
        said = str(session.render())
        assert ("QX-771" in said, "make deploy" in said, "other cluster" in said) == (True, True, True)
        assert store.doctor().findings == []


def test_a_model_with_less_room_is_reason_enough_to_compact_again(database_url: str) -> None:
    """STUCK-1, SHRINK-1: without new work, and only once."""
    with SessionStore.open(database_url, counter=PieceCounter()) as store:
        session = store.create_session(context_window=128_000)
        session.append([{"role": "user", "content": "Begin."}, *work(120)])
        session = compacted(session, policy=CompactionPolicy()).session
        assert session.compact().status == "noop"
        session.set_model("small", 8_000)
        result = session.preflight()
        assert result.status == "committed", result.reason
        assert result.tokens_after < 8_000
        assert result.session.compact().status == "noop"


def test_an_instruction_in_the_middle_binds_on(database_url: str) -> None:
    """NEST-2: what the system or the developer said on the way is a rule in every later summary."""
    long = "Notes on the repository. " * 60 + "Never rename the payments table. " + "More notes follow here. " * 60
    with SessionStore.open(database_url, counter=PieceCounter()) as store:
        session = store.create_session(context_window=8_000)
        session.append([{"role": "user", "content": "Begin."}, *work(4, 20)])
        session.append({"role": "developer", "content": "Answer in French. Code goes to src/lib."})
        session.append({"role": "system", "content": long})
        for more in range(3):
            session.append([*work(14), {"role": "user", "content": f"Go on, {more}."}, *work(1, 3)])
            session = compacted(session, policy=CompactionPolicy()).session
            said = str(session.render())
            rules = ("Answer in French.", "src/lib", "Never rename the payments table.")
            assert [rule for rule in rules if rule not in said] == []


def test_instructions_that_fill_the_window_stay_only_as_rules(database_url: str) -> None:
    """STUCK-1: a log that opens with more than half of the threshold in instructions can be compacted all the same."""
    rules = "Notes on the repository. " * 300 + "Never rename the payments table. " + "More notes follow here. " * 300
    with SessionStore.open(database_url, counter=PieceCounter()) as store:
        session = store.create_session(context_window=8_000)
        session.append([{"role": "developer", "content": rules}, {"role": "user", "content": "Begin."}, *work(14)])
        result = session.compact(policy=CompactionPolicy(head_messages=0))
        assert (result.status, result.tokens_after < 4_000) == ("committed", True), result.reason
        assert "Never rename the payments table." in (result.summary or "")
