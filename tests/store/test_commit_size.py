"""What the commit of a compaction writes: the summary, spans and the job's end, however long the history is."""
from __future__ import annotations

import pytest

from sessionstore import SessionStore
from tests.store.conversations import WINDOW, compacted, statements, talk

NOTES = "## Goal\nSay what is wrong with each module.\n\n## Progress\nThe modules were looked at and changed one by one."


@pytest.mark.parametrize("count", [60, 600])
def test_a_commit_is_a_few_statements_whatever_the_history(sqlite_store: SessionStore, count: int) -> None:
    """LIN-4: one transaction; the ledger, which grows with the history, was stored before it and is not written again."""
    session = sqlite_store.create_session("a", context_window=WINDOW)
    session.append(talk(count))
    session.pressure()
    with statements(sqlite_store) as sent:
        result = compacted(session, summarizer=lambda _request: NOTES)
    assert result.ledger is not None
    assert len(result.ledger.entries) > count / 4
    ended = next(index for index, statement in enumerate(sent) if statement.startswith("UPDATE sessions SET ended_at"))
    first = max(index for index in range(ended) if sent[index].startswith("BEGIN"))
    commit = sent[first : sent.index("COMMIT", ended)]
    assert len(commit) <= 16
    (summary,) = [statement for statement in commit if statement.startswith("INSERT INTO messages")]
    assert sum(map(len, commit)) - len(summary) < 8_000
