"""Whole transcripts: the one that the demo ships, and real ones from a folder beside the repository where there is one.

``SESSIONSTORE_CORPUS`` names such a folder; it defaults to ``../shared/corpus``. None of its files belongs to the project.
"""
from __future__ import annotations

import os
from pathlib import Path

import pytest

from sessionstore import SessionStore

ROOT = Path(__file__).parent.parent.parent
RECORDED = ROOT / "sessionstore" / "cli" / "demo_transcript.jsonl"
CORPUS = Path(os.environ.get("SESSIONSTORE_CORPUS", ROOT.parent / "shared" / "corpus"))
REAL = sorted([*CORPUS.glob("claude-code/*.jsonl"), *CORPUS.glob("openai-chat/*.json*")])
TRANSCRIPTS = [RECORDED, *REAL]
by_name = pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.name)


def everything(store: SessionStore) -> dict[str, list[str]]:
    """Every row of every conversation, by its id."""
    lineages = [line.lineage_id for line in store.list_sessions(limit=10_000)]
    return {lineage: list(store.export(lineage, lineage=True)) for lineage in lineages}


@by_name
def test_a_transcript_comes_in_once_however_often_it_is_imported(store: SessionStore, path: Path) -> None:
    """IMP-2"""
    first = store.import_file(path)
    before = everything(store)
    again = store.import_file(path)
    assert first.imported > 0
    assert again.imported == 0
    assert again.skipped == first.imported
    assert [line.line for line in again.damaged] == [line.line for line in first.damaged]
    assert everything(store) == before


@by_name
def test_every_session_of_a_transcript_compacts_or_says_why_not(store: SessionStore, path: Path) -> None:
    """None of them for want of a known window, and none by an outcome that only a model could cause."""
    for imported in store.import_file(path).lineages:
        session = store.resume(imported.session_id)
        context = session.context()
        result = session.compact(trigger="offline")
        assert result.status in ("committed", "noop", "stuck")
        assert result.reason
        assert result.messages == result.session.context()
        trace = store.lineage(imported.lineage_id)
        assert trace.compactions[-1].status == result.status
        if result.status == "committed":
            assert result.tokens_after <= 0.9 * result.tokens_before
            assert session.context() == context, "the ended session shows the same context for ever"


@by_name
def test_an_export_with_its_state_imports_to_an_equal_lineage(
    store: SessionStore, path: Path, tmp_path: Path
) -> None:
    """LIN-8: before a compaction and after one, compacted lineages of other tools included."""
    report = store.import_file(path)
    for number in range(2):
        exported = everything(store)
        with SessionStore.open(f"sqlite:///{tmp_path}/copy{number}.db") as copy:
            for lines in exported.values():
                copy.import_lines(lines)
            assert everything(copy) == exported
            for lineage in exported:
                assert copy.resume(lineage).context() == store.resume(lineage).context()
        for imported in report.lineages:
            store.resume(imported.lineage_id).compact()


def test_a_compaction_of_another_tool_is_one_of_the_lineage(store: SessionStore) -> None:
    """A Claude Code session with a compact boundary, written here."""
    store.import_lines(CLAUDE_SESSION.splitlines(), name="session.jsonl")
    trace = store.lineage("11111111-aaaa")
    (job,) = trace.compactions
    assert (job.status, job.trigger, job.tokens_before, job.summarizer) == ("committed", "auto", 155_000, "claude-code")
    tip = store.resume("11111111-aaaa")
    assert [row.kind for row in tip.context_rows()] == ["summary", "message", "message"]
    assert "earlier work" in tip.context()[0]["content"]
    originals = tip.expand(tip.context_rows()[0].seq)
    assert originals[0].message["content"] == "fix the login"
    assert [row.kind for row in tip.undo_compaction().context_rows()] == ["message"] * 4


CLAUDE_SESSION = r"""
{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"11111111-aaaa","cwd":"/p","version":"2.1.5","timestamp":"2026-01-05T10:00:00.000Z","isSidechain":false,"userType":"external","message":{"role":"user","content":"fix the login"}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"11111111-aaaa","cwd":"/p","version":"2.1.5","timestamp":"2026-01-05T10:00:05.000Z","isSidechain":false,"userType":"external","requestId":"r1","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Done: the token lived 30 s."}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}}
{"type":"system","subtype":"compact_boundary","uuid":"b1","parentUuid":null,"logicalParentUuid":"a1","sessionId":"11111111-aaaa","cwd":"/p","version":"2.1.5","timestamp":"2026-01-05T11:00:00.000Z","isSidechain":false,"content":"Conversation compacted","compactMetadata":{"trigger":"auto","preTokens":155000}}
{"type":"user","uuid":"s1","parentUuid":"b1","sessionId":"11111111-aaaa","cwd":"/p","version":"2.1.5","timestamp":"2026-01-05T11:00:00.100Z","isSidechain":false,"userType":"external","isCompactSummary":true,"isVisibleInTranscriptOnly":true,"message":{"role":"user","content":"This session is being continued from a previous conversation. Summary of the earlier work: the login was fixed."}}
{"type":"user","uuid":"u2","parentUuid":"s1","sessionId":"11111111-aaaa","cwd":"/p","version":"2.1.5","timestamp":"2026-01-05T11:01:00.000Z","isSidechain":false,"userType":"external","message":{"role":"user","content":"now the logout"}}
{"type":"assistant","uuid":"a2","parentUuid":"u2","sessionId":"11111111-aaaa","cwd":"/p","version":"2.1.5","timestamp":"2026-01-05T11:01:05.000Z","isSidechain":false,"userType":"external","requestId":"r2","message":{"id":"msg_2","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Logout is fine too."}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}}
""".strip()  # noqa: E501 - the records of that format are long lines


def test_a_restored_lineage_whose_title_is_taken_here_gets_a_number(store: SessionStore, tmp_path: Path) -> None:
    """LIN-6"""
    store.create_session("a", title="Fix auth").append({"role": "user", "content": "hello"})
    exported = list(store.export("a", lineage=True))
    with SessionStore.open(f"sqlite:///{tmp_path}/other.db") as other:
        other.create_session("b", title="Fix auth")
        other.import_lines(exported)
        assert other.lineage("a").lineage.title == "Fix auth (2)"
        assert other.resume("Fix auth").id == "b"
        assert other.doctor().is_healthy
