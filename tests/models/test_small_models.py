"""The whole path with a small model on this machine; collected only where ``SESSIONSTORE_LOCAL_ENDPOINT`` names its server.

How to start one is in ``docs/summarizers.md``. A model of a hundred million parameters writes no good notes: what is shown is
that the stored summary is whole, true and valid all the same, and says that it is degraded.
"""
from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from sessionstore import (
    CompactionHooks,
    CompactionPolicy,
    ModelMemoryFlush,
    OpenAICompatibleSummarizer,
    SessionStore,
)
from sessionstore.domain.section_parsing import parse_sections
from sessionstore.domain.sections import SECTIONS
from tests.models.conftest import LOCAL_ENDPOINT
from tests.models.transcript import LAST_REQUEST, work

SUMMARIZER = OpenAICompatibleSummarizer(
    "small", os.environ[LOCAL_ENDPOINT], timeout=240, window=8_192, reasoning_tokens=1, connect_timeout=5
)
PROMPT_WORDS = "You update the working notes"


@pytest.mark.timeout(1_800)
def test_a_small_model_leads_to_a_whole_true_summary_that_says_it_is_degraded(tmp_path: Path) -> None:
    """FAIL-1, NEST-2, SUMIN-1"""
    hooks = CompactionHooks(flush_memories=ModelMemoryFlush(SUMMARIZER, most=5))
    with SessionStore.open(f"sqlite:///{tmp_path}/small.db", hooks=hooks) as store:
        # The context is over 95 % of the window: putting it off is no way out.
        session = store.create_session("orders", model="big", context_window=1_500)
        session.append(work(padding=20))
        policy = CompactionPolicy(head_messages=1, tail_messages=2, keep_tool_results=0, stuck_ratio=1.0)
        result = session.compact(summarizer=SUMMARIZER, policy=policy)
        (job,) = store.lineage("orders").compactions
    assert result.status == "committed", result.reason
    assert result.summary is not None
    how = f"{job.summarizer} {job.prompt_version} {job.usage}\n{job.warnings}"
    print(f"\n{result.summary}\n\n{how}")  # noqa: T201 - it is what the one who runs this test wants to see (-s)
    assert re.findall(r"^## (.*)$", result.summary, re.MULTILINE) == list(SECTIONS)
    assert LAST_REQUEST in parse_sections(result.summary)["Active Task"]
    assert "src/orders/parser.py" in result.summary
    assert "pytest tests/test_parser.py" in result.summary
    assert PROMPT_WORDS not in result.summary
    assert job.degraded
    assert job.warnings
