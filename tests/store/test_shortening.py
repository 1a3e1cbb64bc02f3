"""A context that one huge result fills: cutting it is enough, and nothing has to be summarised."""
from __future__ import annotations

from sessionstore import CompactionPolicy, Session, SessionStore, SummaryRequest


class NeverAsked:
    """A summariser that must not be needed."""

    name = "never asked"

    def summarize(self, request: SummaryRequest) -> str:
        """Fail."""
        raise AssertionError(f"it was asked about {len(request.history)} characters")


def _with_huge_result(store: SessionStore, words: int) -> Session:
    session = store.create_session(id="huge", context_window=20_000)
    call = {"id": "c", "type": "function", "function": {"name": "browser", "arguments": "{}"}}
    session.append(
        [
            {"role": "user", "content": "open the page"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "lorem ipsum " * words},
            {"role": "user", "content": "what does it say?"},
        ]
    )
    return session


def test_cutting_one_huge_result_is_a_compaction_without_summary(store: SessionStore) -> None:
    """SHRINK-1, STUCK-1: where the cut result leaves nothing to summarise, its rendition is committed and no model is asked."""
    session = _with_huge_result(store, 20_000)
    result = session.compact(summarizer=NeverAsked())
    assert result.status == "committed"
    assert result.summary is None
    assert result.tokens_after < 10_000 < result.tokens_before
    assert [row.kind for row in result.session.context_rows()] == ["message", "message", "rendition", "message"]
    assert result.session.expand(4)[0].message["content"] == "lorem ipsum " * 20_000


def test_doing_it_again_changes_nothing(store: SessionStore) -> None:
    """SHRINK-1: without new work a second compaction is a noop, and what was cut is not cut again."""
    continuation = _with_huge_result(store, 20_000).compact().session
    again = continuation.compact()
    assert (again.status, again.session.id) == ("noop", "huge~2")


def test_result_within_the_soft_ceiling_is_not_cut(store: SessionStore) -> None:
    """A session that is small has nothing to shorten."""
    result = _with_huge_result(store, 200).compact(policy=CompactionPolicy())
    assert (result.status, result.session.id) == ("noop", "huge")
