"""The summary that an attempt left behind when it broke off: a model was paid for it, so it is not asked again."""
from __future__ import annotations

from collections.abc import Sequence

from sessionstore.compaction.claiming import BROKE_OFF
from sessionstore.compaction.summarising import EXTRACTIVE, Summarised
from sessionstore.domain.ledger import Ledger
from sessionstore.domain.plan import CompactionPlan
from sessionstore.domain.records import CompactionRecord


def inherited_summary(
    jobs: Sequence[CompactionRecord], job: CompactionRecord, plan: CompactionPlan, ledger: Ledger
) -> Summarised | None:
    """The newest summary of an attempt on the same session that broke off, if it is of the very same middle; else None.

    It must be a model's, for the same focus and under the same policy: one without a model costs nothing to make anew.
    ``ledger`` has the facts of that middle.
    """
    for earlier in reversed(jobs):
        if earlier.generation != job.generation or earlier.job_id == job.job_id:
            continue
        if earlier.summary is None or earlier.summarizer in (None, EXTRACTIVE):
            continue
        broke_off = earlier.status == "interrupted" or (earlier.status == "aborted" and earlier.reason == BROKE_OFF)
        fits = earlier.middle == plan.middle and earlier.focus == job.focus and earlier.policy == job.policy
        if broke_off and fits:
            return Summarised(
                text=earlier.summary,
                ledger=ledger,
                summarizer=earlier.summarizer or EXTRACTIVE,
                prompt_version=earlier.prompt_version,
                usage=earlier.usage,
                degraded=earlier.degraded,
                warnings=(f"the summary is the one that job {earlier.job_id} left when it broke off",),
            )
    return None
